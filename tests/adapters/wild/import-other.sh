# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# wild: what is no trace is not imported, and leaves no recording
# source: docs/man/gchint-trace.5
# needs: sh
# when: gate
for content in 'no trace' '' '{"traceEvents":[]}'; do
	printf '%s' "$content" >other
	status 3 "$ctl" import other -o other.db
	has err 'other is no trace'
	[ ! -e other.db ] && [ ! -e other.db-wal ]
done
echo '1 2 2 open' >trace
status 3 "$ctl" import trace other -o other.db
[ ! -e other.db ]
status 0 "$ctl" import trace -o other.db
[ -s other.db ]

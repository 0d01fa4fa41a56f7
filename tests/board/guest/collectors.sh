# SPDX-License-Identifier: MIT
# In the guest of tests/board/collectors: runs the collectors' tests that were built for the board.
# shellcheck shell=sh
set -u
tap=/tmp/tap
count=100

report() {
	count=$((count + 1))
	echo "$1 $count board: $2" | tee -a $tap
}

# A guest's CPUs are slow: fewer steps of the random programs than on the host.
export GRAPH_STEPS=1500
for test in /board/collectors/test-*; do
	begin=$(cut -d. -f1 /proc/uptime)
	if "$test" >/tmp/said 2>&1; then
		report ok "${test##*/}: $(grep -c '^ok' /tmp/said) tests, $(($(cut -d. -f1 /proc/uptime) - begin)) s"
	else
		grep -v '^ok' /tmp/said | sed 's/^/# /' | tee -a $tap
		report "not ok" "${test##*/}"
	fi
done

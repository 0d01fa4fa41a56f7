# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# wild: a Node that runs under its permission model is told why it has no adapter, and runs
# source: https://nodejs.org/api/permissions.html
# needs: node node-permission
# when: all
echo 'console.log("done"); process.exitCode = 7' >app.js
refused() { # REASON COMMAND...
	why=$1
	shift
	status 7 "$ctl" run -- "$@"
	[ "$(grep -vc '^gchintctl: no hints' err)" -eq 1 ] || { cat err; exit 1; }
	has err "$why"
	[ "$(cat out)" = "done" ]
}
permission=--permission
node $permission -e 0 2>/dev/null || permission=--experimental-permission
refused 'permission model forbids adapters' node --no-warnings $permission --allow-fs-read="$PWD/" app.js
refused 'permission model forbids adapters' node --no-warnings --title x $permission --allow-fs-read="$PWD/" app.js

# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2016
# wild: Node's options that forbid an adapter are its own alone, not those of the script
# source: https://nodejs.org/api/cli.html#--no-addons
# needs: node
# when: all
echo 'if (global.gc) gc(); console.log("done"); process.exitCode = 7' >app.js
recorded() {
	status 7 "$ctl" run -- "$@"
	has err '[1-9][0-9]* phase'
	[ "$(cat out)" = "done" ]
}
refused() { # REASON COMMAND...
	why=$1
	shift
	status 7 "$ctl" run -- "$@"
	[ "$(grep -vc '^gchintctl: no hints' err)" -eq 1 ] || { cat err; exit 1; }
	has err "$why"
	[ "$(cat out)" = "done" ]
}
recorded node --expose-gc app.js --permission
recorded node --expose-gc ./app.js --allow --no-addons --experimental-permission=x
recorded node --expose-gc -- app.js --permission
refused 'no-addons forbids adapters' node --expose-gc --no-addons app.js
refused 'no-addons forbids adapters' node --expose-gc --no_addons app.js
refused 'no-addons forbids adapters' node -r ./app.js --no-addons -e 0 || exit 1
NODE_OPTIONS='--no-warnings --no-addons' refused 'no-addons forbids adapters' node --expose-gc app.js
NODE_OPTIONS='--title=--no-addons' recorded node --expose-gc app.js
# A child's output is its own.
status 0 "$ctl" run -- sh -c 'node --no-addons app.js; echo $?'
lacks err libgchint-

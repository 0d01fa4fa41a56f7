# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2016
# wild: a Node whose child is a Node of a user who may not read the adapter; children and workers are recorded
# source: https://github.com/dash0hq/agent-skills/pull/123
# needs: node build root
# when: all
install_copy closed
chmod 700 closed
run=$PWD/closed/bin/gchintctl
NODE_OPTIONS=--no-warnings status 7 "$run" run -- node -e 'require("child_process").spawn("node", ["-e",
	"console.log(process.env.NODE_OPTIONS); process.exitCode = 7"], { stdio: "inherit", uid: 65534, gid: 65534 }).on("exit", (code) => { process.exitCode = code; })'
[ "$(cat out)" = --no-warnings ]
[ "$(grep -vc '^gchintctl: ' err)" -eq 1 ]
has err 'cannot be preloaded'
# As above, where the child's map would be of the parent's request.
GCHINT_PROFILE=1 status 0 "$run" run -- node -e 'require("child_process").spawnSync("node", ["-p", "process.env.NODE_OPTIONS"],
	{ stdio: "inherit", uid: 65534, gid: 65534 })'
[ "$(cat out)" = undefined ]
cat >app.cjs <<'EOJ'
const { fork, spawnSync, execSync } = require('child_process');
const { Worker, SHARE_ENV } = require('worker_threads');
const cluster = require('cluster');
const child = `${__dirname}/child.cjs`;
const worker = (options) => new Worker('gc()', { eval: true, ...options });
({
	fork: () => fork(child),
	spawn: () => spawnSync('node', ['--expose-gc', child]),
	own: () => spawnSync('node', ['--expose-gc', child], { env: { ...process.env, A: '1' } }),
	exec: () => execSync(`node --expose-gc ${child}`),
	cluster: () => { cluster.setupPrimary({ exec: child }); cluster.fork().on('online', function () { this.disconnect(); }); },
	worker: () => worker(),
	options: () => worker({ execArgv: [] }),
	environment: () => worker({ env: { ...process.env, A: '1' } }),
	both: () => worker({ env: { ...process.env }, execArgv: [] }),
	shared: () => worker({ env: SHARE_ENV, execArgv: [] }),
})[process.argv[2]]();
EOJ
echo 'gc()' >child.cjs
for how in fork spawn own exec cluster worker options environment both shared; do
	rm -f t
	GCHINT_TRACE=$PWD/t status 0 "$run" run -q -- node --expose-gc --pending-deprecation app.cjs "$how"
	[ ! -s err ] || { cat err; exit 1; }
	[ "$(grep -c ' begin collect .*explicit' t)" -eq 1 ] || { echo "$how:"; cat t; exit 1; }
done
# The program's modules are its own.
status 0 "$run" run -q -- node -p 'Object.keys(require.cache).length + module.children.length'
[ "$(cat out)" = 0 ]
# Inherited, and not usable here: by one file or the other.
mkdir -p part/node_modules
touch part/node_modules/gchint-node.cjs
for file in gone/gchint-node.cjs part/gone/gchint-node.cjs; do
	NODE_OPTIONS="--no-warnings --require \"$PWD/$file\"" status 7 "$run" run -- node --expose-gc -e 'gc(); process.exitCode = 7'
	has err '[1-9][0-9]* phase'
done
mv closed/lib/node_modules closed/lib/away
status 7 "$run" run -- node --expose-gc -e 'gc(); console.log(process.env.NODE_OPTIONS); process.exitCode = 7'
[ "$(cat out)" = undefined ]

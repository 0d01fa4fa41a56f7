# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2016
# wild: a program's coverage lists the program alone
# source: https://github.com/nodejs/node/pull/54527
# needs: node
# when: all
echo 'exports.one = () => 1' >one.js
cat >one.test.js <<'EOJ'
require('node:test')('one', () => require('node:assert').equal(require('./one.js').one(), 1));
EOJ
listed() {
	grep '|' out | grep -o '[^ ]*\.c\{0,1\}js'
}
status 0 node --test --experimental-test-coverage one.test.js
listed >without
status 0 "$ctl" run -q -- node --test --experimental-test-coverage one.test.js
listed >with
grep -q 'one\.js' with
diff without with

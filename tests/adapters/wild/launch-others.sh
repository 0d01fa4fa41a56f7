# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2016
# wild: variables of a runtime do not reach other programs that read them
# source: https://github.com/denoland/deno/issues/31154
# needs: node ruby
# when: gate
cat >show <<'EOS'
#!/bin/sh
echo "$(basename "$0"): [$NODE_OPTIONS] [$RUBYOPT] [$JAVA_TOOL_OPTIONS] [$JDK_JAVA_OPTIONS]"
EOS
chmod +x show
for name in deno jruby; do cp show $name; done
status 0 "$ctl" run -- node -e 'require("child_process").spawnSync("./deno", { stdio: "inherit" })'
has out '^deno: \[\] \[\] \[\] \[\]$'
status 0 "$ctl" run -- ruby -e 'system "./jruby"'
has out '^jruby: \[\] \[\] \[\] \[\]$'
NODE_OPTIONS=--no-warnings RUBYOPT=-W0
export NODE_OPTIONS RUBYOPT
status 0 "$ctl" run -- node -e 'require("child_process").spawnSync("./deno", { stdio: "inherit" })'
has out '^deno: \[--no-warnings\] \[-W0\]'
status 0 "$ctl" run -- ruby -e 'system "./jruby"'
has out '^jruby: \[--no-warnings\] \[-W0\]'

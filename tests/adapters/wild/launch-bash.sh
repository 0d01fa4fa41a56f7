# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2016
# wild: a bash that Node or Ruby starts, and all below it, do not see our options
# source: found by trying; bash exports a setenv() of its own, which does not change what it starts with
# needs: bash node ruby
# when: gate
status 0 "$ctl" run -- node -e 'require("child_process").spawnSync("bash", ["-c", "echo [$NODE_OPTIONS]"], { stdio: "inherit" })'
has out '^\[\]$'
status 0 "$ctl" run -- ruby -e 'system "bash", "-c", "echo [$RUBYOPT]"'
has out '^\[\]$'

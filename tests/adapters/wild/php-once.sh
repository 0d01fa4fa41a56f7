# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2016
# wild: a PHP that a shell starts is executed once, and inherits nothing of an adapter
# source: docs/launch.md
# needs: php
# when: gate
code='gc_collect_cycles(); echo strtr(file_get_contents("/proc/self/environ"), "\0", "\n");'
status 0 "$ctl" run -- sh -c 'php -r "$0"; true' "$code"
has err '[1-9][0-9]* phase'
lacks out GCHINT_LAUNCH_AGAIN
lacks out libgchint-php

# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Runs on the timed board.
set -eu
# shellcheck disable=SC1091 # from the host: RUNS
. /board/settings
# shellcheck disable=SC1091
. /board/measure.sh
/board/seed
sh /board/page 400 >/tmp/page.html
export PAGE=/tmp/page.html WRAP=measured RUNS_IN=/tmp/runs
measure
govern schedutil

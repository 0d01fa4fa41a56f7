#!/bin/sh
# SPDX-License-Identifier: MIT
# On the host, while SABRE Lite runs: another reading of its power meter.
set -eu
board=$(dirname "$0")/../../board
"$board/qmp" set rail0 pin 10
"$board/qmp" await 'daemon: change the power' 240
"$board/qmp" set rail0 pin 30

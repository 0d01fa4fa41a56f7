#!/bin/sh
# SPDX-License-Identifier: MIT
# On the host, while SABRE Lite runs: changes the reading of its power meter.
set -eu
board=$(dirname "$0")/../../board
tries=0
until [ -S "$GCHINT_QMP" ] && [ -e "$GCHINT_CONSOLE" ]; do
	tries=$((tries + 1))
	[ $tries -lt 600 ]
	sleep 0.1
done
"$board/qmp" set rail0 pin 10
"$board/qmp" await 'daemon: change the power' 240
"$board/qmp" set rail0 pin 30

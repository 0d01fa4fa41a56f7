# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The queue from the sources to the writer.

ok "200,000 records pass between two threads complete and in order, without a race" \
	env TSAN_OPTIONS=halt_on_error=1:exitcode=66 "$BUILD/race"

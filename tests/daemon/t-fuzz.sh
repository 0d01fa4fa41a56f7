# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Each fuzzer for a while, from the same seed: no crash. Longer: make fuzz. Names of new functions
# are not printed: for these the sanitizer needs a symbolizer, and complains.

for f in calibration config go jitmap message text; do
	mkdir -p "$work/corpus"
	[ $f != message ] || "$BUILD/feed" --write "$work/corpus"
	ok "fuzz $f, 20000 inputs" "$BUILD/fuzz-$f" -runs=20000 -print_funcs=0 -max_len=2048 -seed=7 "$work/corpus"
	rm -rf "$work/corpus"
done

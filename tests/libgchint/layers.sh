# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Dependencies between the files of a component go one way: source it after tap.sh, with
# the tree's root in $top.

# layers_calls ARCHIVE OBJECT...: an object depends on those whose symbols it uses
layers_calls() {
	rm -f "$1"
	ar rcs "$@"
	# shellcheck disable=SC2154 # set by the test that sources this
	"$top/tests/lint/layers" "$1"
}

# layers_includes LEAST FILE...: X depends on Y if X.c or X.h includes "Y.h", so that an inline
# function or a macro counts as well; fewer than LEAST such pairs are an error of this script
layers_includes() {
	layers_least=$1
	shift
	layers_arrows=$(grep -Ho '^#include "[^"]*"' "$@" |
		sed -n 's|^.*/\([^/]*\)\.[ch]:#include "\(.*/\)*\([^/]*\)\.h"$|\1 \3|p' |
		awk '$1 != $2' | sort -u)
	[ "$(echo "$layers_arrows" | wc -l)" -ge "$layers_least" ] || {
		echo "$layers_arrows"
		return 1
	}
	echo "$layers_arrows" | tsort >/dev/null
}

# SPDX-License-Identifier: MIT
# From hint to request, by the governor's own histogram; run in the guest.
# shellcheck shell=sh disable=SC1091,SC2154
. /board/guest.sh
table_mode
# Edges farther apart than a switch takes, so that none waits for the previous one: a
# driver that sleeps takes several ms.
case $(uname -m) in
x86_64) apart=2000 ;;
*) apart=8000 ;;
esac
for round in $(seq "$rounds"); do
	# A governor that is set anew has counted nothing yet.
	governor_set performance
	governor_set gchint
	"$meter" edges 400 "$apart"
	echo "round $round" >>/tmp/result
	cat /sys/kernel/debug/gchint/latency >>/tmp/result
done

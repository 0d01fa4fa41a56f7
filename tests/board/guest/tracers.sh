# SPDX-License-Identifier: MIT
# Records a known number of phase edges with each tracing tool in the guest, and
# counts how many the tool shows.
# shellcheck shell=sh
set -eu
tap=/tmp/tap
count=100
edges=20

report() {
	count=$((count + 1))
	echo "$1 $count board: $2" | tee -a $tap
}

# shows TOOL FILE: a line of FILE for each edge, half of them begin the phase; a
# lease that begins and ends; and decisions
shows() {
	phases=$(grep -c 'gchint_phase:' "$2" || true)
	marks=$(grep 'gchint_phase:' "$2" | grep -c 'phase=mark\|phase: 4' || true)
	leases=$(grep -c 'gchint_lease:' "$2" || true)
	decisions=$(grep -c 'gchint_decision:' "$2" || true)
	said="$phases edges, $marks of them mark, $leases of a lease, $decisions decisions"
	if [ "$phases" -eq $edges ] && [ "$marks" -eq $((edges / 2)) ] &&
		[ "$leases" -eq 2 ] && [ "$decisions" -gt 0 ]; then
		report ok "$1 shows $said"
	else
		head -n 30 "$2" | sed 's/^/# /'
		report "not ok" "$1 shows $said"
	fi
}

# with TOOL: is it here?
with() {
	[ -x "/usr/bin/$1" ] || { report ok "$1 # SKIP not installed on this machine"; return 1; }
}

cd /tmp
for p in /sys/devices/system/cpu/cpufreq/policy*; do
	echo gchint >"$p/scaling_governor"
done
echo table >/sys/devices/system/cpu/cpufreq/gchint/mode
echo 0 >/sys/devices/system/cpu/cpufreq/gchint/min_latencies

if with perf; then
	perf record -q -a -e 'gchint:*' -o perf.data /board/meter edges $edges 5000
	perf script -i perf.data >perf.out 2>/dev/null
	shows "perf record" perf.out
	perf trace -a -e 'gchint:*' -o perf.out /board/meter edges $edges 5000
	# Its columns are special.
	sed -i 's/gchint:gchint_/gchint_/; s/\(gchint_[a-z]*\)(/\1: /' perf.out
	shows "perf trace" perf.out
fi
if with trace-cmd; then
	trace-cmd record -q -e gchint -o trace.dat /board/meter edges $edges 5000 >trace.log 2>&1
	trace-cmd report -q -i trace.dat >trace.out 2>/dev/null
	shows trace-cmd trace.out
fi
if with bpftrace; then
	cat >edges.bt <<'BT'
tracepoint:gchint:gchint_phase { printf("gchint_phase: phase: %d\n", args->phase); }
tracepoint:gchint:gchint_lease { printf("gchint_lease: what: %d\n", args->what); }
tracepoint:gchint:gchint_decision { printf("gchint_decision: khz: %d\n", args->khz); }
BT
	if BPFTRACE_MAX_PROBES=8 timeout 120 bpftrace -c "/board/meter edges $edges 5000" edges.bt >bpf.out 2>bpf.log; then
		shows bpftrace bpf.out
	else
		sed 's/^/# /' bpf.log | head -n 20
		report "not ok" "bpftrace runs"
	fi
fi
if /board/raw /board/meter edges $edges 5000 >raw.out 2>raw.log; then
	shows "a raw tracepoint" raw.out
else
	sed 's/^/# /' raw.log
	report "not ok" "a raw tracepoint is listened to"
fi

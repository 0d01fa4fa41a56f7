# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# A profile says how much of the programs' CPU time it has no sample of: threads that live for a few
# milliseconds are found too late.

fresh unsampled
sqlite3 "$d/p.db" <"$here/recordings/0.1.0.sql"
sqlite3 "$d/p.db" "insert or replace into meta values('hotspots.event', 'cpu-clock'), ('hotspots.kernel', 'yes'), ('hotspots.hz', '1000');
	delete from hotspots; insert into hotspots(t, tgid, tid, cpu, ip) select 1000000000 + value * 1000000, 70, 70, 0, 4096 from generate_series(1, 1000)"
unsampled() { # CPU_NS: the line about it
	sqlite3 "$d/p.db" "insert or replace into meta values('hotspots.cpu_ns', '$1'), ('hotspots.samples', '1000')"
	"$ctl" profile report "$d/p.db" | grep 'CPU time were sampled'
}
ok "a recording of an older version does not know" is "" "$("$ctl" profile report "$d/p.db" | grep 'CPU time were sampled')"
ok "CPU time without samples is reported" is \
	"only 1.000 s of the programs' 2.000 s of CPU time were sampled (50 %): threads that live for less than about 20 ms, or could not be sampled, are missing" \
	"$(unsampled 2000000000)"
ok "where all was sampled nothing is" is "" "$(unsampled 1040000000)"

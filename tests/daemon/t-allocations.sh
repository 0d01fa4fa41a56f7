# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Which functions allocate: tables and folded stacks of a made recording, and of none.

fresh allocations
sqlite3 "$d/p.db" <"$here/recordings/0.1.0.sql"
ok "a recording without allocations says how to record them" is "3 gchintctl: $d/p.db has no allocations: record them with gchintctl profile record --allocations" \
	"$("$ctl" profile report -A "$d/p.db" 2>"$d/err" >"$d/out"; echo "$? $(cat "$d/err")")"
sqlite3 "$d/p.db" "create table allocations(tgid integer, bytes integer, samples integer, stack text) strict;
	insert into allocations values(70, 3145728, 3, 'main;work;large'), (70, 1048576, 1, 'main;work;small'), (71, 4194304, 4, 'main;large;large'),
	(71, 1, 1, 'a' || char(10) || 'b')"
"$ctl" profile report -A "$d/p.db" >"$d/out"
ok "a function has what it allocates itself, and with those that it calls" is \
	"7.00 MiB 87.50 87.50 large|1.00 MiB 12.50 12.50 small|0 bytes 0.00 100.00 main|0 bytes 0.00 50.00 work" \
	"$(awk '$NF ~ /^(main|work|large|small)$/ { print $1, $2, $3, $4, $5 }' "$d/out" | paste -sd'|')"
ok "all samples and bytes are summed" grep -q '^9 samples, about 8.00 MiB allocated' "$d/out"
ok "-n limits the functions" is "large|  ... and 4 more: --lines" "$("$ctl" profile report -A -n 1 "$d/p.db" | tail -n 2 | sed 's/.* large$/large/' | paste -sd'|')"
ok "a folded stack is one line, with its bytes" is "main;large;large 4194304|main;work;large 3145728|main;work;small 1048576|a?b 1" \
	"$("$ctl" profile flame -A "$d/p.db" | paste -sd'|')"
ok "flame writes them into a file" is 4 "$("$ctl" profile flame -A -o "$d/folded" "$d/p.db" && wc -l <"$d/folded")"
ok "other subcommands take no --allocations" is 2 "$("$ctl" profile annotate -A "$d/p.db" 2>/dev/null; echo $?)"
# A program that writes what an adapter would, and one that writes nonsense.
printf '#!/bin/sh\necho "1000 2 one;two" >"$GCHINT_ALLOCATIONS/allocations-7-1"\nprintf "x\\n-5 1 no\\n5 0 no\\n5 1\\n" >"$GCHINT_ALLOCATIONS/allocations-8"\n' >"$d/writes"
chmod +x "$d/writes"
"$ctl" profile record -q -A -o "$d/own.db" -- "$d/writes" 2>"$d/err"
ok "what programs wrote is kept, as far as it makes sense" is "7|1000|2|one;two" "$(sqlite3 "$d/own.db" 'select * from allocations')"
"$ctl" profile record -q -A -o "$d/none.db" -- /bin/true 2>"$d/err"
ok "that none was sampled is reported" grep -q 'none.db has no allocations: OpenJDK and Node.js from version 20 on report them' "$d/err"

# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Access: energy that the kernel shows to root alone, and the recording.

fresh access
port=$(free_port)
printf 'a-token-of-some-length\n' >"$d/token"
chmod 600 "$d/token"
cat >"$d/conf" <<X
[metrics]
listen = 127.0.0.1:$port
textfile = $d/gchint.prom
period_s = 1
token_file = $d/token
[powercap]
period_ms = 20
X
# 900.123456 J, for root; the board's other rails are readable by all.
rapl=$d/sys/class/powercap/intel-rapl:0/energy_uj
echo 900123456 >"$rapl"
echo 999999999999 >"$d/sys/class/powercap/intel-rapl:0/max_energy_range_uj"
chmod 400 "$rapl"
# A power that is root's, too; its integral starts at 0.
chmod 600 "$d/sys/class/hwmon/hwmon0/power1_input"
old=$(umask)
umask 0
start -c "$d/conf" -p 20
umask "$old"
wait_for 30 got 1 "select count(*) > 0 from sample_list where value = 900123456"
# The reader has it open; the owner writes only with the permission to.
chmod 600 "$rapl"
echo 905654321 >"$rapl"
chmod 400 "$rapl"
wait_for 30 got 1 "select count(*) > 0 from sample_list where value = 905654321"
sleep 1.4 # for other users a counter is rounded to one update per second
page() { # [HEADER [METHOD-AND-PATH]]: of /metrics
	exec 3<>"/dev/tcp/127.0.0.1/$port" || return 1
	printf '%s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n%s\r\n' "${2-GET /metrics}" "${1-}" >&3
	timeout 250 cat <&3
	exec 3>&-
}
page >"$d/everyone"
page $'Authorization: Bearer a-token-of-some-length\r\n' >"$d/known"
page $'Authorization: Bearer a-token-of-some-lengtX\r\n' >"$d/wrong"
page $'Authorization: Bearer a-token\r\n' >"$d/short"
page "" "GET /" >"$d/root"
page "" "GET /else" >"$d/else"
page "" "DELETE /metrics" >"$d/delete"
stop
energy='^gchint_rail_joules_total{rail="intel-rapl:0",label="package-0"}'
ok "metrics with the token show exact energy" is 905.654321 "$(sed -n "s/$energy //p" "$d/known" | tr -d '\r')"
ok "metrics without a token show whole joules, at most a minute old" is 905 "$(sed -n "s/$energy //p" "$d/everyone" | tr -d '\r')"
ok "the text file shows whole joules too" is 905 "$(sed -n "s/$energy //p" "$d/gchint.prom")"
ok "a power that the kernel hides from other users is not in the metrics" is "1 0 0" \
	"$(for f in known everyone gchint.prom; do grep -c '^gchint_rail_watts{rail="adm1272' "$d/$f"; done | paste -sd' ')"
ok "a power that every user may read is in the metrics" is "1 1" \
	"$(for f in everyone gchint.prom; do grep -c '^gchint_rail_watts{rail="shunt:curr1' "$d/$f"; done | paste -sd' ')"
ok "a wrong token is answered with 401 and no metrics" is "1 1 0" \
	"$(grep -c ' 401 ' "$d/wrong") $(grep -c ' 401 ' "$d/short") $(cat "$d/wrong" "$d/short" | grep -c gchint_)"
answer() { # FILE: status, whether it asks for a token, the last line
	tr -d '\r' <"$d/$1" | awk 'NR == 1 { code = $2 } /^W[Ww][Ww]-Auth.*: Bearer$/ { asks = " asks" } END { print code asks ": " $0 }'
}
ok "each answer has its status; 401 asks for a token" is \
	"401 asks: gchintd: wrong token: it is not that of [metrics] token_file" "$(answer wrong)"
ok "the page, an unknown path and a malformed request have their answers" is \
	"200: gchintd: the metrics are at /metrics|404: gchintd: the metrics are at /metrics|405: gchintd: the metrics are at /metrics" \
	"$(answer root)|$(answer else)|$(answer delete)"
ok "a recording is not readable by others, whatever the umask" is "640" "$(stat -c %a "$d/r.db")"

chmod 644 "$d/token"
mv "$d/r.db" "$d/first.db"
start -c "$d/conf"
wait_for 30 bash -c "exec 3<>/dev/tcp/127.0.0.1/$port"
page $'Authorization: Bearer a-token-of-some-length\r\n' >"$d/known"
stop
ok "a token file that others can read is refused and reported" is "1 1" \
	"$(grep -c 'metrics: .*token: readable by all users; chmod' "$d/log") $(grep -c ' 401 ' "$d/known")"
echo short >"$d/token"
chmod 600 "$d/token"
mv "$d/r.db" "$d/second.db"
start -c "$d/conf"
stop
ok "a token that is too short is refused" is 1 "$(grep -c 'metrics: .*token: .*16 characters' "$d/log")"

# As other users, in the two groups of the package.
if user_can_change; then
	chmod 755 "$work"
	# As systemd sets up the unit: StateDirectoryMode, UMask, User and Group.
	unit=$here/../../packaging/systemd/gchintd.service
	mode=$(sed -n 's/^StateDirectoryMode=//p' "$unit")
	mask=$(sed -n 's/^UMask=//p' "$unit")
	ok "the unit's group differs from the device's group" is "gchint-record gchint" \
		"$(sed -n 's/^Group=//p' "$unit") $(sed -n 's/.*GROUP="\([^"]*\)".*/\1/p' "$here/../../packaging/udev/60-gchint.rules")"
	hint=61001 record=61002 daemon=61003
	mkdir -m "$mode" "$work/state"
	chown $daemon:$record "$work/state"
	install -m 755 "$gchintd" "$ctl" "$work/"
	(
		umask "$mask"
		exec setpriv --reuid $daemon --regid $record --clear-groups "$work/gchintd" -q -c - \
			--record "$work/state/r.db" --sysfs "$d/none" --tracefs "$d/none" --annotations "$work/state/annotations"
	) 2>>"$d/log" &
	pid=$!
	daemons+=("$pid")
	wait_for 20 test -S "$work/state/annotations"
	wait_for 30 "$ctl" summary "$work/state/r.db"
	member() { # GROUP COMMAND...: as a user who is in that group only
		setpriv --reuid 61004 --regid 61004 --groups "$1" "${@:2}" 2>&1
	}
	ok "the recording group can read a recording while it grows" member $record "$work/gchintctl" summary "$work/state/r.db"
	ok "the recording group can add annotations" member $record "$work/gchintctl" annotations --add x --socket "$work/state/annotations"
	for f in r.db r.db-wal r.db-shm; do
		ok "the hinting group cannot read $f" bash -c "$(declare -f member); ! member $hint cat '$work/state/$f'"
	done
	ok "the hinting group cannot add annotations" bash -c "$(declare -f member); ! member $hint '$work/gchintctl' annotations --add x --socket '$work/state/annotations'"
	stop
	# As the unit starts it: the user of the service, with two capabilities.
	unit_started=(setpriv --reuid "$daemon" --regid "$record" --clear-groups --inh-caps=-all,+net_admin,+dac_read_search
		--ambient-caps=-all,+net_admin,+dac_read_search --bounding-set=-all,+net_admin,+dac_read_search)
	if "${unit_started[@]}" true 2>/dev/null; then
		fresh access-unit
		chmod 755 "$d"
		mkdir -m 750 "$d/state"
		chown $daemon:$record "$d/state"
		printf '[powercap]\nperiod_ms = 20\n[metrics]\nlisten = 127.0.0.1:%s\n' "$(free_port)" >"$d/conf"
		rapl=$d/sys/class/powercap/intel-rapl:0/energy_uj
		chmod 400 "$rapl"
		"${unit_started[@]}" "$work/gchintd" -c "$d/conf" --record "$d/state/r.db" --sysfs "$d/sys" --tracefs "$d/none" \
			--debugfs "$d/none" --feed "$d/state/feed" --annotations "$d/state/annotations" 2>>"$d/log" &
		pid=$!
		daemons+=("$pid")
		db=$d/state/r.db
		counted() { [ "$(sql "select count(*) from sample_list where name = 'intel-rapl:0' and value not null" 2>/dev/null)" -gt "$1" ]; }
		wait_for 20 counted 0
		of() { awk -v f="$1:" '$1 == f { print $2 }' "/proc/$2/status"; }
		server=$(cat "/proc/$pid/task/$pid/children") server=${server% }
		ok "no capability is in effect once the sources are open" is "0000000000000000 0000000000001004" \
			"$(of CapEff "$pid") $(of CapPrm "$pid")"
		# The server drops them when it first runs, which may be after the first reading.
		others() { { for t in "/proc/$pid/task/"*; do [ "${t##*/}" = "$pid" ] || of CapPrm "${t##*/}"; done; of CapPrm "${server:?}"; } | sort -u; }
		none() { [ "$(others)" = 0000000000000000 ]; }
		ok "neither the writer nor the HTTP server keeps one" wait_for 20 none
		echo x >"$rapl"
		gone() { [ "$(sql "select count(*) from sample_list where name = 'intel-rapl:0' and value is null" 2>/dev/null)" -gt 0 ]; }
		wait_for 2 gone
		rm "$rapl"
		(umask 377 && echo 900000 >"$rapl")
		ok "a rail of root's that comes back is opened again" wait_for 20 grep -q "powercap: intel-rapl:0.*: back" "$d/log"
		stop
		unset db
	else
		skip "the service's capabilities" "they cannot be given to a process here"
	fi
	d=$work/access
	ok "the hinting group cannot read a finished recording" bash -c "$(declare -f member); ! member $hint '$work/gchintctl' summary '$work/state/r.db'"
else
	skip "recordings of other users" "needs root to be somebody else"
fi

# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The service without the module: a program of another user finds it at the socket of the shipped
# configuration, with nothing in its environment.

d=$work/service
mkdir "$d"
top=$here/../..
cat >"$d/in" <<'X'
# Below a /run of its own: the directory that tmpfiles makes, and the service.
set -u
mount -t tmpfs -o mode=755 tmpfs /run || exit 9
install -d -m 2755 -o 61003 -g 61001 /run/gchint
setpriv --reuid 61003 --regid 61002 --clear-groups "$1/gchintd" -c "$1/conf" --record "$1/state/r.db" \
	--sysfs "$1/none" --tracefs "$1/none" --annotations "$1/state/annotations" 2>"$1/log" &
service=$!
until [ -S "$1/state/annotations" ]; do kill -0 $service || exit 8; sleep 0.05; done
stat -c '%a %g' /run/gchint/stream
cd /
as() { env -i setpriv --reuid "$1" --regid "$1" --groups "$2" "${@:3}"; }
# The first one runs until its phases are recorded, so that its user can be read.
mkfifo "$1/go"
as 61005 61001 "$1/hinted" <"$1/go" &
hinted=$!
exec 3>"$1/go"
for _ in $(seq 2000); do
	[ "$(sqlite3 -readonly "$1/state/r.db" 'select count(t1) from phases')" != 100 ] || break
	sleep 0.05
done
exec 3>&-
wait $hinted
as 61006 61006 "$1/hinted" </dev/null
as 61007 61001 env GCHINT_STREAM= "$1/hinted" </dev/null
kill -TERM $service
wait $service
X
if user_can_change && unshare -m true 2>/dev/null; then
	chmod 755 "$work" "$d"
	install -m 755 "$gchintd" "$BUILD/hinted" "$d"
	install -d -m 750 -o 61003 -g 61002 "$d/state"
	# As shipped, but for the recording and the kernel's own.
	sed 's|^file = .*||' "$top/packaging/gchintd.conf" >"$d/conf"
	ok "the service starts with the shipped configuration" bash -c "unshare -m bash '$d/in' '$d' >'$d/said'"
	db=$d/state/r.db
	ok "its socket is for the group of those who may hint" is "660 61001" "$(head -n 1 "$d/said")"
	ok "a program of a member is recorded, with its user" is "100 61005" \
		"$(sql 'select count(t1), (select group_concat(distinct uid) from processes) from phases' | tr '|' ' ')"
	ok "the library says where the hints go" is "1 2" \
		"$(grep -c '^stream; ' "$d/said") $(grep -c '^/dev/gchint' "$d/said")"
	unset db
else
	skip "the service without the module" "needs root, for a /run of its own"
fi

# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# gchintctl run --metrics: a program that a monitor watches while it runs, its token, and the label
# that tells services apart.

fresh monitor
mkdir "$d/bin" "$d/home"
cp "$ctl" "$gchintd" "$d/bin"
cat >"$d/waits.c" <<'X'
#include <gchint.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char byte;
	gchint_init(0);
	for (int i = 0; argc > 1 && i < atoi(argv[1]); i++) {
		gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_STW);
		usleep(200);
		gchint_phase_end();
	}
	return read(0, &byte, 1) < 0;
}
X
make -s -C "$here/../../libgchint" BUILD="$d/build" "$d/build/libgchint.a"
gcc -I"$here/../../include" -I"$here/../../include/uapi" -o "$d/bin/waits" "$d/waits.c" "$d/build/libgchint.a" -pthread
metrics=$(free_port)
until other=$(free_port) && [ "$other" != "$metrics" ]; do :; done
mkfifo "$d/shop.in" "$d/bank.in"
watched() { # NAME PORT ARGUMENT...: runs until its standard input ends
	(
		unset GCHINT_STREAM GCHINT_TRACE XDG_CONFIG_HOME
		export HOME=$d/home GCHINT_DEVICE=$d/none GCHINT_MIN_US=0
		exec "$d/bin/gchintctl" run --metrics ":$2" "${@:3}" <"$d/$1.in" >"$d/$1.out" 2>&1 7>&- 8>&-
	) &
}
exec 7<>"$d/shop.in" 8<>"$d/bank.in"
watched shop "$metrics" -l shop -- "$d/bin/waits" 3
shop=$!
watched bank "$other" -- "$d/bin/waits" 5
bank=$!
token=$d/home/.config/gchint/metrics-token
asked() { # PORT [TOKEN]: as curl asks; fails if nothing answers
	python3 -c 'import sys, urllib.request
asked = urllib.request.Request(f"http://127.0.0.1:{sys.argv[1]}/metrics", headers={"Accept": "*/*"})
for token in sys.argv[2:]:
    asked.add_header("Authorization", "Bearer " + token)
sys.stdout.write(urllib.request.urlopen(asked, timeout=250).read().decode())' "$@" 2>/dev/null
}
scraped() { # PORT: as a client with the token
	asked "$1" "$(cat "$token")"
}
has_phases() { # PORT SERVICE NUMBER
	scraped "$1" | grep -q "^gchint_phases_total{service=\"$2\",phase=\"mark\"} $3$"
}
ok "a monitor sees the phases of a program with its label" wait_for 30 has_phases "$metrics" shop 3
ok "and those of another one, by its name" wait_for 30 has_phases "$other" waits 5
ok "the token is for its user alone, and long" is "600 33" "$(stat -c '%a %s' "$token")"
ok "without it there are none, and a comment says why" is "0 1" "$(asked "$metrics" |
	awk '/^gchint_phase/ { n++ } /^# No phases, pauses and decisions: .*Bearer/ { why++ } END { print n + 0, why + 0 }')"
if command -v promtool >/dev/null; then
	scraped "$metrics" >"$d/text"
	ok "Prometheus' own tool accepts the text" promtool check metrics <"$d/text"
else
	skip "Prometheus' own tool accepts the text" "needs prometheus"
fi
ok "the output says where, and where the token is" grep -q \
	"^gchintctl: metrics of service \"shop\" are at http://127.0.0.1:$metrics/metrics, .* token in $token$" "$d/shop.out"
ok "a port that is in use is said before the program runs" shows env HOME="$d/home" "$d/bin/gchintctl" run --metrics ":$metrics" -- sh -c 'echo ran' <<'X'
! ran
gchintctl: --metrics:
exit 4
X
exec 7>&- 8>&-
wait "$shop"
ok "the status is the program's" is 0 "$?"
wait "$bank"
ok "nothing is recorded" is "" "$(find "$d" -name '*.db*')"
ok "and nothing answers any more" is 1 "$(asked "$metrics" >/dev/null; echo $?)"

runs() { # ARGUMENT...: in $d, without a token yet
	(
		unset GCHINT_STREAM GCHINT_TRACE XDG_CONFIG_HOME
		HOME=$d/$home GCHINT_DEVICE=$d/none "$d/bin/gchintctl" run "$@" </dev/null
	)
}
home=none/at/all
ok "without a directory for the token it says so" shows runs --metrics ":$metrics" -- true <<'X'
metrics-token: No such file or directory
exit 3
X
# The recorder would show no phases, and only its log would say so.
home=other
mkdir -p "$d/other/.config/gchint/metrics-token"
refused() { # REASON
	shows runs --metrics ":$metrics" -- sh -c 'echo ran' <<<"gchintctl: --metrics: $d/other/.config/gchint/metrics-token: $1; without it another one is made"$'\nexit 3'
}
ok "a token that is no file is refused before the program runs" refused "no regular file"
rmdir "$d/other/.config/gchint/metrics-token"
echo short >"$d/other/.config/gchint/metrics-token"
chmod 600 "$d/other/.config/gchint/metrics-token"
ok "so is one that could be guessed" refused "a secret of at least 16 characters is needed"
echo 0123456789abcdef >"$d/other/.config/gchint/metrics-token"
chmod 604 "$d/other/.config/gchint/metrics-token"
ok "so is one that others can read" refused "readable by all users; chmod o= it"
home=home
for address in 9477 : :0 :70000 :x localhost:9477 '[::1:9477' ""; do
	ok "$address is no address" shows runs --metrics "$address" -- true <<<"gchintctl: --metrics takes ADDRESS:PORT"$'\nexit 2'
done
ok "metrics count no hints" shows runs --metrics ":$metrics" --require-hints -- true <<<"add -o FILE"$'\nexit 2'
ok "a recording may go with them" shows runs --metrics ":$metrics" -o both.db -- "$d/bin/waits" 2 <<'X'
gchintctl: metrics of service "waits" are at
into both.db
X

# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Alerts and dashboard: by Prometheus' own test, and of series that gchintd has.

mkdir "$work/fleet"
d=$work/fleet
rules=$here/../../packaging/prometheus dashboard=$here/../../packaging/grafana/gchint.json
if command -v promtool >/dev/null; then
	ok "the alert rules are rules" promtool check rules "$rules/gchint.rules.yml"
	ok "each alert comes when it should, of whom it should, and not before" promtool test rules "$rules/gchint.test.yml"
	ok "and each has a test" is "" "$(sed -n 's/.*- alert: //p' "$rules/gchint.rules.yml" | sort -u |
		comm -23 - <(sed -n 's/.*alertname: //p' "$rules/gchint.test.yml" | sort -u))"
	printf 'scrape_configs:\n' | cat - "$rules/scrape.yml" >"$d/prometheus.yml"
	ok "the scrape configuration is one" promtool check config --syntax-only "$d/prometheus.yml"
else
	skip "alert rules" "no promtool: packaging/need unit"
fi

# What a running gchintd says, for which some records are needed.
fresh fleet-host
printf '[metrics]\ntextfile = %s/gchint.prom\nperiod_s = 1\n' "$work/fleet" >"$d/conf"
start -c "$d/conf" -p 5
feed --mix 0.5 --gchint --sysfs "$d/sys" --freq "$d/trace/instances/gchintd/trace_pipe" >/dev/null
d=$work/fleet
wait_for 30 grep -q '^gchint_phase_length_seconds_count' "$d/gchint.prom"
stop
cat >"$d/names.py" <<'X'
# SPDX-License-Identifier: MIT
"""Names of series in rules and dashboard that the daemon's text does not have."""
import json
import re
import sys

text, rules, dashboard = (open(p, encoding="utf-8").read() for p in sys.argv[1:4])
have = set(re.findall(r"^(?:# TYPE )?(gchint_\w+)", text, re.M))
board = json.loads(dashboard)
queries = [t["expr"] for p in board["panels"] for t in p["targets"]]
queries += re.findall(r"expr: *(?:>-\n)?((?:.*\n)+?)(?= *(?:- |for:|labels:|\Z|\n))", rules)
named = set(re.findall(r"(?<![:\w])gchint_\w+", " ".join(queries)))
print(len(named) > 8, *sorted(named - have))
ids = [p["id"] for p in board["panels"]]
assert len(set(ids)) == len(ids) and board["uid"] and board["schemaVersion"] >= 36
boxes = [tuple(p["gridPos"][k] for k in "xywh") for p in board["panels"]]
for i, (x, y, w, h) in enumerate(boxes):
    assert x + w <= 24, "wider than the grid"
    assert not any(x < a + c and a < x + w and y < b + e and b < y + h for a, b, c, e in boxes[i + 1:]), "overlap"
for p in board["panels"]:
    assert p["title"] and p["targets"] and p["fieldConfig"]["defaults"]["unit"], p["id"]
    assert all(t["datasource"]["uid"] == "${source}" for t in p["targets"]), p["id"]
X
ok "rules and dashboard ask for series that there are" is True \
	"$(python3 "$d/names.py" "$d/gchint.prom" "$rules/gchint.rules.yml" "$dashboard" 2>&1)"
ok "a host's series are some hundred, whatever runs on it" test "$(grep -vc '^#' "$d/gchint.prom")" -le 600

# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Alerts and dashboard: by Prometheus' own test, and with series that gchintd has.

mkdir "$work/fleet"
d=$work/fleet
rules=$here/../../packaging/prometheus dashboard=$here/../../packaging/grafana/gchint.json
if command -v promtool >/dev/null; then
	ok "promtool accepts the alert rules" promtool check rules "$rules/gchint.rules.yml"
	ok "each alert fires on time, for the right host, and not earlier" promtool test rules "$rules/gchint.test.yml"
	ok "each alert has a test" is "" "$(sed -n 's/.*- alert: //p' "$rules/gchint.rules.yml" | sort -u |
		comm -23 - <(sed -n 's/.*alertname: //p' "$rules/gchint.test.yml" | sort -u))"
	printf 'scrape_configs:\n' | cat - "$rules/scrape.yml" >"$d/prometheus.yml"
	ok "promtool accepts the scrape configuration" promtool check config --syntax-only "$d/prometheus.yml"
else
	skip "alert rules" "no promtool: packaging/need unit"
fi

# Metrics of a running gchintd, for which some records are needed.
fresh fleet-host
port=$(free_port) asked=$(free_port)
(umask 077 && echo 0123456789abcdef >"$d/token")
cat >"$d/conf" <<X
[metrics]
listen = 127.0.0.1:$port
token_file = $d/token
textfile = $work/fleet/gchint.prom
period_s = 1
X
start -c "$d/conf" -p 5
feed --mix 0.5 --gchint --sysfs "$d/sys" --freq "$d/trace/instances/gchintd/trace_pipe" >/dev/null
wait_for 30 grep -q '^gchint_phase_length_seconds_count' "$work/fleet/gchint.prom"
cat >"$d/panels.py" <<'X'
# SPDX-License-Identifier: MIT
"""What each panel of the dashboard shows of a Prometheus, as Grafana would ask it."""
import json
import sys
import urllib.parse
import urllib.request

board, where = json.load(open(sys.argv[1], encoding="utf-8")), sys.argv[2]
for panel in board["panels"]:
    shown = 0
    for target in panel["targets"]:
        query = target["expr"].replace("$__rate_interval", "60s").replace("$instance", "127.*").replace("$service", ".*")
        # Nothing was lost and no phase was open: the series exists all the same.
        query = query.removesuffix(" > 0")
        with urllib.request.urlopen(f"{where}/api/v1/query?query={urllib.parse.quote(query)}") as answer:
            said = json.load(answer)
        assert said["status"] == "success", said
        shown += len(said["data"]["result"])
    print("shown" if shown else f"nothing: {panel['title']}")
X
if command -v prometheus >/dev/null; then
	sed "s/'host-a[^]]*/'127.0.0.1:$port'/; s|credentials_file: .*|credentials_file: $d/token|" "$rules/scrape.yml" |
		cat <(printf 'global:\n  scrape_interval: 1s\nrule_files: [%s]\nscrape_configs:\n' \
			"$(realpath "$rules")/gchint.rules.yml") - >"$d/prometheus.yml"
	prometheus --config.file="$d/prometheus.yml" --storage.tsdb.path="$d/tsdb" \
		--web.listen-address="127.0.0.1:$asked" >"$d/prometheus.log" 2>&1 &
	prometheus=$!
	daemons+=("$prometheus")
	answers() { # QUERY: its value, if any
		/usr/bin/python3 - "http://127.0.0.1:$asked/api/v1/query" "$1" <<-'X'
			import json, sys, urllib.parse, urllib.request
			with urllib.request.urlopen(f"{sys.argv[1]}?query={urllib.parse.quote(sys.argv[2])}") as answer:
			    print(json.load(answer)["data"]["result"][0]["value"][1])
		X
	}
	# A rate needs two scrapes.
	ok "a Prometheus scrapes it" wait_for 30 bash -c \
		"$(declare -f answers); asked=$asked; [ \"\$(answers 'count_over_time(up{job=\"gchint\"}[60s]) > 2')\" -gt 2 ]"
	ok "Prometheus reports it as up" is 1 "$(answers 'up{job="gchint"}')"
	ok "each panel of the dashboard has data" is shown \
		"$(/usr/bin/python3 "$d/panels.py" "$dashboard" "http://127.0.0.1:$asked" 2>&1 | sort -u)"
	ok "Prometheus loads the alert rules" bash -c \
		"/usr/bin/python3 -c 'import urllib.request as u; print(u.urlopen(\"http://127.0.0.1:$asked/api/v1/rules\").read().decode())' | grep -q gchint"
	kill "$prometheus"
	wait "$prometheus"
else
	skip "a Prometheus scrapes it" "no prometheus: packaging/need unit"
fi
d=$work/fleet
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
ok "rules and dashboard use series that exist" is True \
	"$(python3 "$d/names.py" "$d/gchint.prom" "$rules/gchint.rules.yml" "$dashboard" 2>&1)"
ok "a host has at most a few hundred series" test "$(grep -vc '^#' "$d/gchint.prom")" -le 600

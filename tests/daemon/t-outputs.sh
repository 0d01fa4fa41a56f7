# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What gchintctl prints of a recording with a little of everything, compared with its rows by
# outputs.py: JSON, tables, the page, exports. And of an almost empty one.

mkdir "$work/outputs"
d=$work/outputs
recording_make "$d/a.db" everything
for n in other similar sparse voltages wraps; do recording_make "$d/$n.db" everything $n; done
output() { # CHECK FILE...
	(cd "$d" && python3 "$here/outputs.py" "$ctl" "$@")
}
for n in a sparse; do
	ok "summary: JSON has its schema and the figures of the rows ($n)" output summary $n.db
	ok "summary: tables have the figures of JSON ($n)" output text $n.db
	ok "export: chrome-trace has all phases, readings and changes ($n)" output chrome $n.db
	ok "export: metrics have the figures of the rows ($n)" output metrics $n.db
	ok "report: the page shows the figures of JSON ($n)" output page $n.html $n.db
done
ok "annotations: JSON has the rows" output annotations a.db
ok "export: tables and views have all rows" output tables a.db
ok "summary: modelled energy is power times time" output modelled a.db
ok "top: JSON has its schema and the figures of the rows" output top a.db 2
ok "top: JSON of a shorter time" output top a.db 0.5
ok "top: JSON of an almost empty recording" output top sparse.db 1
ok "compare: JSON has its schema and the medians of the summaries" output compare a.db similar.db other.db ./other.db
ok "report: the page of several recordings shows the figures of each" output page some.html a.db other.db similar.db
for n in voltages wraps; do
	ok "report: the page of other rails ($n)" output page $n.html $n.db
	ok "summary: JSON of other rails ($n)" output summary $n.db
done
recording_make "$d/p.db" everything profile
recording_make "$d/r.db" everything profile unknown
for n in p r; do ok "profile: exports have all samples ($n)" output profile $n.db; done

# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The page in a real browser: pointing, zooming, switching lines, following a row.

mkdir "$work/page"
d=$work/page
"$here/../../bench/report/make" "$d/a.db" 6000 80 one
"$ctl" report -o "$d/plain.html" "$d/a.db" 2>/dev/null
ok "the page loads nothing from the network" is 0 "$(grep -cE '(src|href)="(https?:)?//|url\(|@import' "$d/plain.html")"
ok "the longest pauses are listed and link to their place" is "12 12" \
	"$(grep -c '<a href="#run0-time" data-from=' "$d/plain.html") $("$ctl" why -n 12 "$d/a.db" | grep -c ', stw')"
ok "the page shows when it was recorded, by the measured clock" is 1 \
	"$(grep -c '<td>recorded</td><td>2023-11-14 22:13:20 UTC' "$d/plain.html")"

cp "$d/a.db" "$d/evil.db"
sqlite3 "$d/evil.db" "update rails set label = '</script><b>'; update processes set comm = '<script>alert(1)</script>'"
"$ctl" report -o "$d/evil.html" "$d/evil.db"
ok "names cannot begin or end a script" is "0 0" \
	"$(grep -c '</script><b>' "$d/evil.html") $(grep -c '<script>alert' "$d/evil.html")"

# A recording without power and frequency, a long one that is thinned, six labels.
cp "$d/a.db" "$d/bare.db"
sqlite3 "$d/bare.db" "delete from samples; delete from rails; delete from transitions; delete from policies; delete from policy_states;
	delete from opps; delete from residency"
"$ctl" report -o "$d/bare.html" "$d/bare.db"
"$here/../../bench/report/make" "$d/long.db" 60000 5100 long
sqlite3 "$d/long.db" "insert into transitions select 1000000000 + value * 20000000, 0, 600000 + value * 7919 % 4 * 300000, 'trace'
	from generate_series(1, 29000)"
"$ctl" report -o "$d/long.html" "$d/long.db"
for n in 1 2 3 4 5 6; do
	cp "$d/a.db" "$d/six$n.db"
	sqlite3 "$d/six$n.db" "update meta set value = 'a program with a name / governor $n' where key = 'label'"
done
"$ctl" report -d 0 -o "$d/six.html" "$d"/six?.db 2>/dev/null

# User input, done by a script; results are put into the title.
cat >"$d/hand.js" <<'X2'
<script>
addEventListener("error", (e) => { document.title = "error: " + e.message; });
addEventListener("load", () => {
	const chart = (name) => document.querySelector(`#run0-time .${name}`);
	const labels = () => [...chart("axis").querySelectorAll(".dygraph-axis-label-x")].map((n) => n.textContent).join();
	const seen = [[...document.querySelectorAll(".chart")].map((n) => n.classList[1]).join()];
	const all = labels();

	document.querySelector("a[data-from]").click();
	seen.push(labels() !== all, /Under way: .*stw.* and a pause of .*policy0 .*asked for 2100 MHz/.test(
		document.querySelector("#run0-time .readout").textContent));
	document.querySelectorAll("#run0-time .tools button")[4].click();
	seen.push(labels() === all);
	const pixels = () => chart("pauses").querySelector("canvas").toDataURL() + chart("lane").querySelector("canvas").toDataURL();
	const before = pixels();

	document.querySelector("#run0-time .legend input").click();
	seen.push(pixels() !== before);
	document.title = "seen: " + seen.join(" ");
});
</script>
X2
# What is wrong with the page at this width: an error, what is wider than the page, a row of figures
# that is not full, a chart without a line, a pause whose data is no finer than that of the whole run.
cat >"$d/sound.js" <<'X2'
<script>
const wrong = [];
addEventListener("error", (e) => wrong.push("error: " + e.message));
console.error = (...text) => wrong.push("console: " + text.join(" "));
addEventListener("load", () => {
	const resolution = () => Number(document.querySelector(".resolution").dataset.us);
	const shown = () => document.querySelector(".resolution").textContent;
	const data = [...document.querySelectorAll(".timeline script")].map((s) => JSON.parse(s.textContent));
	const right = (n) => n.getBoundingClientRect().right;

	for (const d of document.querySelectorAll("details"))
		d.open = true;
	if (document.documentElement.scrollWidth > innerWidth)
		wrong.push(`the page is ${document.documentElement.scrollWidth} wide`);
	for (const n of document.querySelectorAll("section, .panel, .chart, .lane, .lane canvas, .figures div, .bar"))
		if (right(n) > innerWidth + 0.5)
			wrong.push(`${n.className || n.tagName} is wider than the page`);
	for (const n of document.querySelectorAll(".figures"))
		if (Math.abs(right(n) - right(n.lastElementChild)) > 1)
			wrong.push("a row of figures is not full");
	for (const n of document.querySelectorAll(".lane > span"))
		if (n.scrollWidth > n.clientWidth)
			wrong.push(`"${n.textContent}" is cut`);
	for (const n of document.querySelectorAll("table.pauses tbody tr"))
		if (!n.cells[3].offsetWidth)
			wrong.push("a pause without a cause");
	for (const a of document.querySelectorAll(".reasons a, .note a"))
		if (!document.querySelector(a.hash))
			wrong.push(`${a.hash} is not there`);
	for (const t of data)
		for (const line of [...t.heaps, ...t.collector, ...t.rails, ...t.cpus])
			if (!line.points.length)
				wrong.push(`${line.name} is empty`);
	const charts = (t) => 1 + t.lanes.some((lane) => lane.pauses.length) + (t.heaps.length > 0) +
		(t.collector.length > 0) + (t.rails.length > 0) + (t.cpus.length > 0);

	if (document.querySelectorAll(".chart").length !== data.reduce((n, t) => n + charts(t), 0))
		wrong.push("charts without lines");
	for (const n of document.querySelectorAll(".panel svg"))
		if (![...n.querySelectorAll("path")].some((p) => p.getAttribute("d")) && !n.closest(".lane"))
			wrong.push("an empty panel");
	const all = data.length ? resolution() : 0;
	const ranges = new Set();
	for (const a of document.querySelectorAll("a[data-from]")) {
		a.click();
		ranges.add(shown() + a.dataset.from);
		if (all && !(resolution() < all / 5))
			wrong.push(`around ${a.textContent} data is no finer: ${shown()}`);
		if (!document.querySelector(".readout").textContent.includes("Under way"))
			wrong.push(`nothing under way at ${a.textContent}`);
	}
	document.title = `sound: ${ranges.size} ${wrong.slice(0, 3).join("; ") || "nothing wrong"}`;
});
</script>
X2
# The pixels of each colour of a phase in the lanes, by its name, and the height of the highest stem of
# a pause; the order of the parts of the timeline, from the top.
cat >"$d/drawn.js" <<'X2'
<script>
addEventListener("error", (e) => { document.title = "error: " + e.message; });
addEventListener("load", () => {
	const data = JSON.parse(document.querySelector(".timeline script").textContent);
	const hex = (p, i) => "#" + [0, 1, 2].map((k) => p[i + k].toString(16).padStart(2, "0")).join("");
	const area = {};

	for (const canvas of document.querySelectorAll(".lane canvas")) {
		const p = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;

		/* An edge within a pixel makes it paler: its opacity is the part that is covered. */
		for (let i = 0; i < p.length; i += 4)
			for (const type of data.types)
				if (hex(p, i) === type.colour)
					area[type.name] = (area[type.name] || 0) + p[i + 3] / 255;
	}
	const heap = document.querySelector(".heap canvas");
	let line = 0;

	if (heap) {
		const p = heap.getContext("2d").getImageData(0, 0, heap.width, heap.height).data;

		for (let i = 3; i < p.length; i += 4)
			line += p[i] > 200 && p[i - 1] < 100;
		line /= heap.width * heap.height;
	}
	const parts = [...document.querySelectorAll(".charts > div")].filter((n) => n.clientHeight)
		.sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top).map((n) => n.className.replace("chart ", ""));

	document.title = "drawn: " + JSON.stringify({ area, parts, line, lanes: document.querySelectorAll(".lane:not(.concurrent)").length,
		names: [...document.querySelectorAll(".lane > span")].map((n) => n.textContent),
		labels: [...document.querySelectorAll(".pauses .dygraph-axis-label-y")].map((n) => Number(n.textContent)) });
});
</script>
X2
# Does the table fit the page?
cat >"$d/wide.js" <<'X2'
<script>
addEventListener("load", () => {
	const box = document.querySelector("table.compare").parentElement;
	document.title = "wide: " + (box.scrollWidth <= box.clientWidth);
});
</script>
X2
in_browser() { # PAGE [WIDTH]: its title once the script has run
	chromium --headless --no-sandbox --disable-dev-shm-usage --disable-gpu --virtual-time-budget=5000 --window-size="${2:-1180}",900 \
		--user-data-dir="$d/profile" --dump-dom "file://$1" 2>"$d/browser" | grep -o '<title>[^<]*' | cut -d'>' -f2
}
with_script() { # SCRIPT PAGE: the page with it, in $d/scripted.html
	sed "/<\/head>/{
		r $d/$1.js
	}" "$d/$2.html" >"$d/scripted.html"
}
sound() { # PAGE: what is wrong with it on a phone, a tablet and a screen
	local width
	with_script sound "$1"
	for width in 400 800 1400; do
		in_browser "$d/scripted.html" "$width"
	done | sort -u | paste -sd' '
}
if ! grep -q 'class="timeline"' "$d/plain.html" || ! grep -q 'application/json' "$d/plain.html"; then
	skip "the page's script" "built without dygraphs: packaging/need build"
elif ! command -v chromium >/dev/null; then
	skip "the page in a browser" "no chromium: packaging/need report"
else
	with_script hand plain
	ok "zoom, pointing, a row's link and the switches work in a browser" \
		is "seen: pauses,rails,cpus,axis true true true true" "$(in_browser "$d/scripted.html")"
	ok "a page with power is sound at three widths" is "sound: 12 nothing wrong" "$(sound plain)"
	ok "a page without power and frequency is sound at three widths" is "sound: 12 nothing wrong" "$(sound bare)"
	ok "each pause of ten minutes is shown at its own resolution" is "sound: 12 nothing wrong" "$(sound long)"
	ok "a comparison of six is sound at three widths" is "sound: 0 nothing wrong" "$(sound six)"
	for n in 1 2 3 4 5 6 7 8; do
		cp "$d/a.db" "$d/w$n.db"
		sqlite3 "$d/w$n.db" "update meta set value = 'program $((n % 2)) / governor $((n % 4))' where key = 'label';
			update rails set label = 'cores, cluster and memory' where label = 'core'; update samples set value = value * (1 + $n * 0.001)"
	done
	"$ctl" report -d 0 -o "$d/w.html" "$d"/w?.db
	with_script wide w
	ok "four groups are shown next to each other within the page" is "wide: true" "$(in_browser "$d/scripted.html")"
	"$ctl" report -d 0 -o "$d/w.html" "$d"/w[1-4].db -- "$d"/w[5-8].db
	with_script wide w
	ok "two groups fit a phone" is "wide: true" "$(in_browser "$d/scripted.html" 390)"
	sed 's/<script>/<script type="none">/' "$d/plain.html" >"$d/still.html"
	ok "without scripts the page says that it has no timeline" is 1 "$(grep -c "<noscript>.*Not drawn" "$d/still.html")"

	# Three minutes: 23.5 % of the time in short collections, and 1.2 % in a few long ones.
	cp "$d/a.db" "$d/dense.db"
	sqlite3 "$d/dense.db" "delete from phases; delete from samples; delete from transitions; delete from decisions;
		update meta set value = 1000000000 where key = 'start_ns'; update meta set value = 181000000000 where key = 'end_ns';
		insert into phases(id, t0, t1, cpu, tgid, tid, phase, flags, how, uncertain) select value, 1000000000 + value * 1000000,
			1000235000 + value * 1000000, 0, 100, 100, 1, 1, 1, 0 from generate_series(0, 179999) where value % 1000 < 980;
		insert into phases(id, t0, t1, cpu, tgid, tid, phase, flags, how, uncertain) select 200000 + value,
			1980000000 + value * 1000000000, 1992000000 + value * 1000000000, 0, 100, 100, 4, 1, 1, 0 from generate_series(0, 179)"
	"$ctl" report -o "$d/dense.html" "$d/dense.db" 2>/dev/null
	with_script drawn dense
	in_browser "$d/scripted.html" 1400 | sed 's/^drawn: //; s/&quot;/"/g' >"$d/dense.json"
	ok "three minutes of short phases have the density of their share of the time" python3 - "$d/dense.json" <<'X3'
import json, sys
area = json.load(open(sys.argv[1]))["area"]
ratio = area["collect, stw"] / area["mark, stw"]
sys.exit(0 if 0.8 < ratio / (23.5 * 0.98 / 1.2) < 1.25 else f"{area}: {ratio}")
X3
	ok "their page is below 400 KB" test "$(stat -c %s "$d/dense.html")" -lt 400000
	ok "pauses are on a logarithmic axis that has them all" python3 - "$d/dense.json" <<'X3'
import json, sys
labels = sorted(json.load(open(sys.argv[1]))["labels"])
ratios = {round(b / a, 3) for a, b in zip(labels, labels[1:])}
sys.exit(0 if len(labels) > 2 and labels[0] <= 0.235 and labels[-1] * 10 > 12 and max(ratios) <= 10 and 1 < min(ratios) else f"{labels}")
X3
	# Twenty processes, each a tenth of the time later than the one before.
	cp "$d/a.db" "$d/many.db"
	sqlite3 "$d/many.db" "delete from phases; insert into processes(tgid, tid, t, uid, comm) select value, value, 1, 0, 'worker' from
		generate_series(200, 219); insert into phases(id, t0, t1, cpu, tgid, tid, phase, flags, how, uncertain) select value,
			1000000000 + value * 10000000, 1003000000 + value * 10000000, 0, 200 + value % 20, 200 + value % 20, 1, 1, 1, 0
			from generate_series(0, 799)"
	"$ctl" report -o "$d/many.html" "$d/many.db" 2>/dev/null
	ok "a page of twenty processes is sound at three widths" is "sound: 12 nothing wrong" "$(sound many)"
	with_script drawn many
	ok "each process has a lane with its name" is "20 worker (200) worker (219)" "$(in_browser "$d/scripted.html" 1400 |
		sed 's/^drawn: //; s/&quot;/"/g' | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(d["lanes"], d["names"][0], d["names"][-1])')"
	ok "a table has each process" is 20 "$(sed -n '/class="processes"/,/<\/table>/p' "$d/many.html" | grep -c '<tr><td>worker (2')"
	# A heap of 100 MiB that is half in use, and a thread that collects for half of each second.
	cp "$d/a.db" "$d/heap.db"
	sqlite3 "$d/heap.db" "create table heaps(t, tgid, tid, moment, used, committed, most, allocated, freed, generation);
		insert into heaps(t, tgid, tid, moment, used, most) select 1000000000 + value * 100000000, 100, 100,
		substr('before after', value % 2 * 7 + 1, 6), (80 - value % 2 * 60) << 20, 100 << 20 from generate_series(0, 90);
		insert into leases(t, lease, tgid, tid, role) values(1000000000, 1, 100, 101, 2);
		insert into sched(t, tgid, tid, run_ns, wait_ns) select 1000000000 + value * 500000000, 100, 101, value * 250000000, 0
			from generate_series(0, 18)"
	"$ctl" report -o "$d/heap.html" "$d/heap.db" 2>/dev/null
	ok "a page with a heap is sound at three widths" is "sound: 12 nothing wrong" "$(sound heap)"
	with_script drawn heap
	ok "pauses are above phases, the heap, the collector's CPU, power and frequency" \
		is "pauses lanes heap collector rails cpus axis" "$(in_browser "$d/scripted.html" 1400 |
		sed 's/^drawn: //; s/&quot;/"/g' | python3 -c 'import json, sys
print(*json.load(sys.stdin)["parts"])')"
	ok "a curve has the heap in use, and half a CPU that collects" python3 - "$d/heap.html" <<'X3'
import json, re, sys
data = json.loads(re.search('<script type="application/json">(.*?)</script>', open(sys.argv[1]).read(), re.S)[1])
used, cpu = data["heaps"][0]["points"][1::2], data["collector"][0]["points"][1::2]
sys.exit(0 if len(used) == 91 and min(used) == 20 and max(used) == 80 and all(49.9 < v < 62 for v in cpu[:40]) else f"{used} {cpu}")
X3
	# Collected each millisecond, so that a line is drawn over all of the chart.
	cp "$d/heap.db" "$d/saw.db"
	sqlite3 "$d/saw.db" "delete from heaps; insert into heaps(t, tgid, tid, moment, used, most) select 1000000000 + value * 500000, 100, 100,
		substr('before after', value % 2 * 7 + 1, 6), (80 - value % 2 * 60) << 20, 100 << 20 from generate_series(0, 18000)"
	"$ctl" report -o "$d/saw.html" "$d/saw.db" 2>/dev/null
	with_script drawn saw
	ok "a heap that is collected each millisecond is a range, not a solid bar" python3 -c 'import json, sys
line = json.load(sys.stdin)["line"]
sys.exit(0 if 0 < line < 0.1 else f"{line}")' <<<"$(in_browser "$d/scripted.html" 1400 | sed 's/^drawn: //; s/&quot;/"/g')"
	ok "the page has the CPU time of collection that summary has" is "$("$ctl" summary "$d/heap.db" |
		sed -n 's/^collection used \(at most \)\?\(.*\) of CPU.*/\2/p')" "$(sed -n 's/.*<dt>GC CPU time<\/dt><dd>\(&le; \|<span class="range">\)\?\([^<]*\)<.*/\2/p' "$d/heap.html")"
	# A collector that takes twice the CPU time, and half of each second; nothing changes frequency.
	cp "$d/heap.db" "$d/twice.db"
	sqlite3 "$d/twice.db" "update sched set run_ns = run_ns * 2; delete from transitions; update meta set value = 'two' where key = 'label'"
	sqlite3 "$d/heap.db" "delete from transitions"
	"$ctl" report -d 0 -o "$d/cpu.html" "$d/heap.db" "$d/twice.db" 2>/dev/null
	ok "a comparison has the collector's CPU time among its first figures" is "2.0 times as much" "$(sed '/<details>/,$d' "$d/cpu.html" |
		sed -n 's/.*GC CPU time&nbsp;(ms).*<span class="verdict[^>]*>\(.*\) (a single run).*/\1/p')"
	ok "a figure that is 0 everywhere has no row" is 0 "$(grep -c 'frequency changes' "$d/cpu.html")"
	ok "a percentage does not begin a line" is 0 "$(grep -c '<span class="verdict[^<]* %' "$d/cpu.html")"
	ok "the title has the program's name" is "<title>java: garbage collection" "$(grep -o '<title>[^<]*' "$d/heap.html")"
	ok "each finding leads to its place" is "java was stopped" "$(grep -o '<p class="reasons"><a href="#run0-time">java was stopped' "$d/heap.html" | cut -d'>' -f3)"

	# Profiles: frames by layer, then by frequency; a search; a zoom to a frame and back.
	cat >"$d/flame.js" <<'X2'
<script>
addEventListener("error", (e) => { document.title = "error: " + e.message; });
addEventListener("load", () => {
	const flame = document.querySelector("svg.flamegraph").flame, seen = [];
	const named = (name) => flame.frames.filter((f) => f.name === name);
	const fill = (name) => named(name)[0].rect.getAttribute("fill");
	const shown = () => flame.frames.filter((f) => f.g.style.display !== "none").length;
	const all = shown(), width = (f) => Math.round(Number(f.rect.getAttribute("width")));

	document.querySelectorAll("details").forEach((d) => { d.open = true; });
	seen.push(new Set(["java", "mark", "Main.run <init>", "do_fault", "eval"].map(fill)).size, named("mark_loop").some((f) => f.fill === fill("mark")));
	const layer = fill("mark"), menu = flame.svg.querySelector("select"), search = flame.svg.querySelector("input");

	menu.value = "mhz";
	menu.dispatchEvent(new Event("change"));
	seen.push(fill("mark") !== layer);
	menu.value = "layer";
	menu.dispatchEvent(new Event("change"));
	seen.push(fill("mark") === layer);
	search.value = "MARK";
	search.dispatchEvent(new Event("input"));
	seen.push(flame.frames.filter((f) => f.rect.style.stroke).map((f) => f.name).includes("mark_loop"), flame.found.textContent);
	named("mark")[0].g.dispatchEvent(new MouseEvent("click", { bubbles: true }));
	seen.push(width(named("mark")[0]), width(flame.frames[0]), shown() < all);
	flame.svg.querySelector("button").click();
	seen.push(shown() === all, width(named("mark")[0]) < 1180);
	document.title = "flame: " + seen.join(" ");
});
</script>
X2
	recording_make "$d/profile.db" everything profile
	"$ctl" report -o "$d/profile.html" "$d/profile.db" 2>/dev/null
	with_script flame profile
	ok "a flame graph has layers, frequencies, a search and a zoom" \
		is "flame: 5 true true true true 83.2 % 1180 1180 true true true" "$(in_browser "$d/scripted.html" 1400 | head -n 1)"
	"$ctl" profile flame -o "$d/alone.svg" "$d/profile.db" 2>/dev/null
	ok "a picture of its own is drawn by its own script" is 1 "$(chromium --headless --no-sandbox --disable-dev-shm-usage --disable-gpu \
		--user-data-dir="$d/profile" --dump-dom "file://$d/alone.svg" 2>/dev/null | grep -c '<input [^>]*placeholder="search"')"
fi

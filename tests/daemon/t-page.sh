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
	const chart = (n) => document.querySelectorAll("#run0-time .chart")[n];
	const labels = () => [...chart(1).querySelectorAll(".dygraph-axis-label-x")].map((n) => n.textContent).join();
	const seen = [document.querySelectorAll(".chart").length, getComputedStyle(document.querySelector(".still")).display];
	const all = labels();

	document.querySelector("a[data-from]").click();
	seen.push(labels() !== all, /Under way: .*stw.*policy0 .*asked for 2100 MHz/.test(
		document.querySelector("#run0-time .readout").textContent));
	document.querySelectorAll("#run0-time .tools button")[4].click();
	seen.push(labels() === all);
	const pixels = () => chart(0).querySelector("canvas").toDataURL();
	const before = pixels();

	document.querySelector("#run0-time .legend input").click();
	seen.push(pixels() !== before);
	document.title = "seen: " + seen.join(" ");
});
</script>
X2
# What is wrong with the page at this width: an error, what is wider than the page, a chart without
# a line, a row of pauses whose data is no finer than that of the whole run.
cat >"$d/sound.js" <<'X2'
<script>
const wrong = [];
addEventListener("error", (e) => wrong.push("error: " + e.message));
console.error = (...text) => wrong.push("console: " + text.join(" "));
addEventListener("load", () => {
	const resolution = () => Number(document.querySelector(".resolution").dataset.us);
	const shown = () => document.querySelector(".resolution").textContent;
	const data = [...document.querySelectorAll(".timeline script")].map((s) => JSON.parse(s.textContent));

	for (const d of document.querySelectorAll("details"))
		d.open = true;
	if (document.documentElement.scrollWidth > innerWidth)
		wrong.push(`the page is ${document.documentElement.scrollWidth} wide`);
	for (const n of document.querySelectorAll("section, .panel, .chart, .lanes, .figures div, .bar"))
		if (n.getBoundingClientRect().right > innerWidth + 0.5)
			wrong.push(`${n.className || n.tagName} is wider than the page`);
	for (const t of data)
		for (const line of [...t.rails, ...t.cpus, ...t.kinds])
			if (!line.points.length)
				wrong.push(`${line.name} is empty`);
	if (data.length && document.querySelectorAll(".chart").length !==
	    data.reduce((n, t) => n + (t.rails.length > 0) + 1, 0))
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
		is "seen: 2 none true true true true" "$(in_browser "$d/scripted.html")"
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
	ok "without scripts the static plots are shown" is 0 "$(chromium --headless --no-sandbox --disable-dev-shm-usage \
		--disable-gpu --user-data-dir="$d/profile" --dump-dom "file://$d/still.html" 2>/dev/null | grep -c 'class="scripted"')"
fi

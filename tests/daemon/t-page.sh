# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The page in a real browser: pointing, zooming, switching lines, following a row.

mkdir "$work/page"
d=$work/page
"$here/../../bench/report/make" "$d/a.db" 6000 80 one
"$ctl" report -o "$d/plain.html" "$d/a.db"
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
# Does the table fit the page?
cat >"$d/wide.js" <<'X2'
<script>
addEventListener("load", () => {
	const box = document.querySelector("table.compare").parentElement;
	document.title = "wide: " + (box.scrollWidth <= box.clientWidth);
});
</script>
X2
# Are there plots for a phone, in use, and within the page?
cat >"$d/phone.js" <<'X2'
<script>
addEventListener("load", () => {
	const plots = [...document.querySelectorAll(".plot")].filter((p) => p.offsetParent && p.querySelector("source"));
	document.title = "phone: " + plots.length + " " + plots.every((p) => p.scrollWidth <= p.clientWidth &&
		p.querySelector("img").currentSrc !== p.querySelector("img").src);
});
</script>
X2
in_browser() { # PAGE [WIDTH]: its title once the script has run
	chromium --headless --no-sandbox --disable-dev-shm-usage --disable-gpu --virtual-time-budget=5000 --window-size="${2:-1180}",900 \
		--user-data-dir="$d/profile" --dump-dom "file://$1" 2>"$d/browser" | grep -o '<title>[^<]*' | cut -d'>' -f2
}
if ! grep -q 'class="timeline"' "$d/plain.html" || ! grep -q 'application/json' "$d/plain.html"; then
	skip "the page's script" "built without dygraphs: packaging/need build"
elif ! command -v chromium >/dev/null; then
	skip "the page in a browser" "no chromium: packaging/need report"
else
	sed "/<\/head>/{
		r $d/hand.js
	}" "$d/plain.html" >"$d/hand.html"
	ok "zoom, pointing, a row's link and the switches work in a browser" \
		is "seen: 4 none true true true true" "$(in_browser "$d/hand.html")"
	for n in 1 2 3 4 5 6 7 8; do
		cp "$d/a.db" "$d/w$n.db"
		sqlite3 "$d/w$n.db" "update meta set value = 'program $((n % 2)) / governor $((n % 4))' where key = 'label';
			update rails set label = 'cores, cluster and memory' where label = 'core'; update samples set value = value * (1 + $n * 0.001)"
	done
	"$ctl" report -d 0 -o "$d/w.html" "$d"/w?.db
	sed "/<\/head>/{
		r $d/wide.js
	}" "$d/w.html" >"$d/wide.html"
	ok "four groups are shown next to each other within the page" is "wide: true" "$(in_browser "$d/wide.html")"
	"$ctl" report -d 0 -o "$d/w.html" "$d"/w[1-4].db -- "$d"/w[5-8].db
	sed "/<\/head>/{
		r $d/wide.js
	}" "$d/w.html" >"$d/wide.html"
	ok "two groups fit a phone" is "wide: true" "$(in_browser "$d/wide.html" 390)"
	sed "/<\/head>/{
		r $d/phone.js
	}" "$d/plain.html" >"$d/phone.html"
	ok "MinMU and residency are drawn for a phone" is "phone: 2 true phone: 2 false" \
		"$(in_browser "$d/phone.html" 390) $(in_browser "$d/phone.html")"
	sed 's/<script>/<script type="none">/' "$d/plain.html" >"$d/still.html"
	ok "without scripts the static plots are shown" is 0 "$(chromium --headless --no-sandbox --disable-dev-shm-usage \
		--disable-gpu --user-data-dir="$d/profile" --dump-dom "file://$d/still.html" 2>/dev/null | grep -c 'class="scripted"')"
fi

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes the timelines of the page interactive: zoom, scroll, point, switch lines off. Their
 * data is in the page as JSON next to each; without this script, and on paper, the drawn
 * picture remains. dygraphs does the plotting; colours are those of the page's style.
 */
"use strict";

(() => {
	const node = (tag, className, parent, text) => {
		const n = document.createElement(tag);

		n.className = className;
		n.textContent = text || "";
		parent.append(n);
		return n;
	};
	const seconds = (us) => us / 1e6;
	const short = (v) => Number(v.toPrecision(4)).toString();
	const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
	const duration = (us) => us >= 1e6 ? `${short(us / 1e6)} s` : us >= 1e3 ? `${short(us / 1e3)} ms` : `${short(us)} us`;
	/* The styles of the i-th line, as the classes line0 and on in the page's style. */
	const ink = (i) => style(`line${i % 3}`);
	const DASHES = [null, [7, 4], [2, 4], [9, 3, 2, 3]];
	const dash = (i) => DASHES[Math.floor(i / 3) % DASHES.length];

	/* Index of the last of @list[i * step] at or before @at; -1 before the first. */
	const lastBefore = (list, step, at) => {
		let low = 0, high = list.length / step;

		while (low < high) {
			const middle = (low + high) >> 1;

			if (list[middle * step] !== null && list[middle * step] <= at)
				low = middle + 1;
			else
				high = middle;
		}
		return low - 1;
	};

	/* A gap has no instant of its own: it lies just behind the point before it. */
	const placeGaps = (points) => {
		for (let i = 0; i < points.length; i += 2)
			if (points[i] === null)
				points[i] = i ? points[i - 2] + 0.5 : 0;
	};

	/* Lines with instants of their own as rows of one table. */
	const rowsOf = (lines, from, to) => {
		const at = new Map();
		const row = (us) => {
			if (!at.has(us))
				at.set(us, new Array(lines.length).fill(null));
			return at.get(us);
		};

		row(from);
		row(to);
		lines.forEach((line, n) => {
			for (let i = 0; i < line.points.length; i += 2) {
				const value = line.points[i + 1];

				row(line.points[i])[n] = value === null ? NaN : value;
			}
		});
		return [...at].sort((a, b) => a[0] - b[0]).map(([us, values]) => [seconds(us), ...values]);
	};

	class Timeline {
		constructor(place) {
			this.place = place;
			this.data = JSON.parse(place.querySelector("script").textContent);
			this.charts = [];
			this.hidden = new Set();
			for (const line of [...this.data.rails, ...this.data.cpus])
				placeGaps(line.points);
			this.live = node("div", "live", place);
			this.live.tabIndex = 0;
			this.tools();
			this.switches();
			this.body = node("div", "charts", this.live);
			const height = place.clientWidth < 500 ? 150 : 190, lines = this.data.cpus;

			if (this.data.rails.length)
				this.chart(this.data.rails, this.data.axis, height, this.data.steps, false);
			if (this.data.kinds.length)
				this.lanes = node("canvas", "lanes", this.body);
			/* The last chart has the time axis; without lines it is nothing but that. */
			this.chart(lines, lines.length ? "frequency (MHz)" : "", lines.length ? height + 40 : 75, true, true);
			this.cursor = node("div", "cursor", this.body);
			this.readout = node("p", "readout note", this.live,
					    "Point at an instant to see what ran, what was requested, and by which thread.");
			this.readout.setAttribute("aria-live", "polite");
			this.live.addEventListener("keydown", (e) => this.key(e));
			this.drawLanes();
		}

		tools() {
			const bar = node("p", "tools", this.live);
			const button = (text, title, action) => {
				const b = node("button", "", bar, text);

				b.type = "button";
				b.title = title;
				b.addEventListener("click", action);
			};

			button("+", "closer (key +)", () => this.zoom(0.5));
			button("\u2212", "wider (key -)", () => this.zoom(2));
			button("\u25c0", "earlier (left arrow)", () => this.move(-0.3));
			button("\u25b6", "later (right arrow)", () => this.move(0.3));
			button("all", "all of it (key 0)", () => this.show(this.data.from, this.data.to));
			node("span", "note", bar, " drag to zoom, shift and drag to move, double click for all");
			this.resolution = node("p", "resolution note", this.live);
		}

		switches() {
			const list = node("p", "legend", this.live);
			const key = (i) => {
				const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
				const path = document.createElementNS("http://www.w3.org/2000/svg", "path");

				svg.setAttribute("class", "key");
				svg.setAttribute("width", "22");
				svg.setAttribute("height", "8");
				path.setAttribute("class", `line${i}`);
				path.setAttribute("d", "M0 4H22");
				svg.append(path);
				return svg;
			};
			const add = (line, i) => {
				const label = node("label", "item", list);
				const box = node("input", "", label);

				box.type = "checkbox";
				box.checked = true;
				if (line.colour)
					node("span", line.waited ? "dot" : "dot hatched", label).style.backgroundColor = line.colour;
				else
					label.append(key(i));
				label.append(line.name);
				box.addEventListener("change", () => {
					if (box.checked)
						this.hidden.delete(line);
					else
						this.hidden.add(line);
					this.redraw();
				});
			};

			for (const [title, lines] of [[this.data.axis, this.data.rails], ["frequency", this.data.cpus],
						      ["phases", this.data.kinds]]) {
				if (lines.length)
					node("b", "group", list, title);
				lines.forEach(add);
			}
		}

		chart(lines, axis, height, steps, last) {
			const place = node("div", "chart", this.body);
			const shown = lines.length ? lines : [{ name: "", points: [] }];
			const highest = Math.max(0, ...this.data.policies.map((p) => p.top || 0));
			const narrow = this.place.clientWidth < 500;

			place.style.height = `${height}px`;
			const g = new Dygraph(place, rowsOf(shown, this.data.from, this.data.to), {
				labels: ["s", ...shown.map((line, i) => `${line.name}\u200b${i}`)],
				colors: shown.map((line, i) => ink(i)),
				series: Object.fromEntries(shown.map((line, i) => [`${line.name}\u200b${i}`, { strokePattern: dash(i) }])),
				ylabel: narrow ? "" : axis,
				xlabel: last ? "time (s)" : "",
				legend: "never",
				stepPlot: steps,
				strokeWidth: 1.3,
				connectSeparatedPoints: true,
				includeZero: !this.data.steps || last,
				valueRange: !lines.length ? [0, 1] : last && highest ? [0, highest * 1.06] : null,
				axes: { x: { axisLabelFormatter: (v, granularity, option, graph) => {
						const [a, b] = graph.xAxisRange();
						const digits = Math.ceil(1 - Math.log10(b - a));

						return digits > 1 ? v.toFixed(Math.min(digits, 6)) : short(v);
					} },
					y: { axisLabelWidth: narrow ? 50 : 56, drawGrid: lines.length > 0,
					     axisLabelFormatter: (v) => lines.length ? short(v) : "" } },
				gridLineColor: style("grid"),
				axisLineColor: style("soft"),
				dateWindow: [seconds(this.data.from), seconds(this.data.to)],
				showRangeSelector: last,
				rangeSelectorHeight: 24,
				rangeSelectorPlotStrokeColor: style("line1"),
				rangeSelectorPlotFillColor: style("line2"),
				rangeSelectorForegroundStrokeColor: style("soft"),
				underlayCallback: (ctx, area, graph) => this.shade(ctx, area, graph),
				drawCallback: (graph, first) => first || this.follow(graph),
				highlightCallback: (event, x) => this.showInstant(x * 1e6),
				highlightCircleSize: 0,
			});

			g.lines = lines;
			this.charts.push(g);
		}

		/* One window for all charts. */
		follow(from) {
			if (this.following)
				return;
			this.following = true;
			const window = from.xAxisRange();

			for (const g of this.charts)
				if (g !== from)
					g.updateOptions({ dateWindow: window });
			this.following = false;
			this.drawLanes();
		}

		redraw() {
			this.following = true;
			for (const g of this.charts)
				g.lines.forEach((line, i) => g.setVisibility(i, !this.hidden.has(line)));
			for (const g of this.charts)
				g.updateOptions({});
			this.following = false;
			this.drawLanes();
		}

		/* The colours of the page's style have changed. */
		recolour() {
			this.following = true;
			for (const g of this.charts)
				g.updateOptions({
					colors: (g.lines.length ? g.lines : [0]).map((line, i) => ink(i)),
					gridLineColor: style("grid"),
					axisLineColor: style("soft"),
				});
			this.following = false;
			this.drawLanes();
		}

		/* How fine the data is in what is shown: one value of each line, and of phases a gap. */
		showResolution() {
			const [a, b] = this.charts[0].xAxisRange().map((s) => s * 1e6);
			const w = this.data.windows, i = lastBefore(w, 2, a) * 2;
			const inside = i >= 0 && w[i + 1] >= b;
			const part = (inside ? w[i + 1] - w[i] : this.data.to - this.data.from) / this.data.cells;

			this.resolution.textContent = `Shown: ${duration(b - a)}. Resolution: ` +
				(this.data.whole ? "all that was recorded." :
				`${duration(part)}${inside ? ", around a listed pause" : ", or better"}.`);
			this.resolution.dataset.us = this.data.whole ? 0 : part;
		}

		show(from, to) {
			const all = [this.data.from, this.data.to];
			const width = Math.max(10, Math.min(to - from, all[1] - all[0]));
			const start = Math.max(all[0], Math.min(from, all[1] - width));

			this.charts[0].updateOptions({ dateWindow: [seconds(start), seconds(start + width)] });
			this.follow(this.charts[0]);
		}

		zoom(factor) {
			const [a, b] = this.charts[0].xAxisRange().map((s) => s * 1e6);
			const half = (b - a) / 2 * factor;

			this.show((a + b) / 2 - half, (a + b) / 2 + half);
		}

		move(part) {
			const [a, b] = this.charts[0].xAxisRange().map((s) => s * 1e6);

			this.show(a + (b - a) * part, b + (b - a) * part);
		}

		key(event) {
			const actions = {
				"+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
				"0": () => this.show(this.data.from, this.data.to),
				"ArrowLeft": () => this.move(-0.3), "ArrowRight": () => this.move(0.3),
			};

			if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey)
				return;
			event.preventDefault();
			actions[event.key]();
		}

		/* Calls @fn with the pixels of each box of @kind that shows. */
		boxes(kind, graph, fn) {
			const [a, b] = graph.xAxisRange().map((s) => s * 1e6);
			const p = kind.points;

			for (let i = Math.max(0, lastBefore(p, 2, a)) * 2; i < p.length && p[i] < b; i += 2) {
				if (p[i + 1] < a)
					continue;
				const left = graph.toDomXCoord(seconds(Math.max(a, p[i])));

				fn(left, Math.max(1, graph.toDomXCoord(seconds(Math.min(b, p[i + 1]))) - left));
			}
		}

		shade(ctx, area, graph) {
			/* The bare time axis. */
			if (!graph.lines?.length)
				return;
			ctx.save();
			ctx.globalAlpha = dark.matches ? 0.26 : 0.16;
			for (const kind of this.data.kinds) {
				if (this.hidden.has(kind))
					continue;
				ctx.fillStyle = kind.colour;
				this.boxes(kind, graph, (x, width) => ctx.fillRect(x, area.y, width, area.h));
			}
			ctx.restore();
		}

		drawLanes() {
			this.showResolution();
			this.drawCursor();
			if (!this.lanes)
				return;
			const graph = this.charts[this.charts.length - 1];
			const scale = window.devicePixelRatio || 1, height = 44;
			const width = this.body.clientWidth, left = graph.getArea().x;
			const ctx = this.lanes.getContext("2d");

			this.lanes.width = width * scale;
			this.lanes.height = height * scale;
			this.lanes.style.height = `${height}px`;
			ctx.scale(scale, scale);
			ctx.font = "11px system-ui, sans-serif";
			ctx.textAlign = "right";
			ctx.fillStyle = style("soft");
			ctx.fillText("threads wait", left - 4, 14, left - 6);
			ctx.fillText("concurrent", left - 4, 36, left - 6);
			ctx.fillStyle = style("grid");
			ctx.fillRect(left, height / 2, width - left, 1);
			for (const kind of this.data.kinds) {
				if (this.hidden.has(kind))
					continue;
				ctx.fillStyle = kind.colour;
				this.boxes(kind, graph, (x, w) => ctx.fillRect(x, kind.waited ? 2 : 25, w, 17));
			}
			/* Concurrent phases are hatched. */
			ctx.beginPath();
			ctx.rect(left, 25, width - left, 17);
			ctx.clip();
			ctx.beginPath();
			for (let x = left - 17; x < width; x += 5) {
				ctx.moveTo(x, 42);
				ctx.lineTo(x + 17, 25);
			}
			ctx.strokeStyle = style("card");
			ctx.lineWidth = 1.5;
			ctx.stroke();
		}

		drawCursor() {
			const graph = this.charts[this.charts.length - 1], [a, b] = graph.xAxisRange();
			const shows = this.at !== undefined && seconds(this.at) >= a && seconds(this.at) <= b;

			this.cursor.style.left = `${shows ? graph.toDomXCoord(seconds(this.at)) : 0}px`;
			this.cursor.style.display = shows ? "block" : "none";
		}

		valueAt(line, us, steps) {
			const p = line.points;
			let i = lastBefore(p, 2, us);

			if (!steps && (i + 1) * 2 < p.length && (i < 0 || p[i * 2 + 2] - us < us - p[i * 2]))
				i++;
			return i < 0 || p[i * 2 + 1] === null ? null : p[i * 2 + 1];
		}

		policyAt(policy, us) {
			const d = lastBefore(policy.decisions, 4, us) * 4;
			const b = lastBefore(policy.bounds, 4, us) * 4;
			let text = `policy${policy.policy} (CPUs ${policy.cpus || "not known"}): `;

			if (d >= 0) {
				const [at, mhz, reason, tid] = policy.decisions.slice(d, d + 4);

				text += `asked for ${mhz} MHz ${short((us - at) / 1e3)} ms before, reason ${reason}, ` +
					(tid ? `by thread ${tid}` : "by load alone");
			} else {
				text += "no decision of gchint's governor until here";
			}
			if (b >= 0) {
				const [, governor, low, high] = policy.bounds.slice(b, b + 4);

				text += `; governor ${governor || "not known"}, ${low ?? "?"} to ${high ?? "?"} MHz`;
			}
			return text;
		}

		showInstant(us) {
			const unit = this.data.axis.endsWith("(V)") ? "V" : "W";
			const values = [];
			const under = this.data.kinds.filter((kind) => {
				const i = lastBefore(kind.points, 2, us) * 2;

				return i >= 0 && kind.points[i + 1] >= us;
			}).map((kind) => kind.name);

			for (const line of this.data.rails) {
				const v = this.valueAt(line, us, this.data.steps);

				values.push(`${line.name} ${v === null ? "?" : short(v)} ${unit}`);
			}
			for (const line of this.data.cpus) {
				const v = this.valueAt(line, us, true);

				values.push(`${line.name} ${v === null ? "?" : short(v)} MHz`);
			}
			this.readout.replaceChildren();
			node("b", "", this.readout, `${seconds(us).toFixed(6)} s`);
			this.readout.append(`  ${values.join(", ")}. `,
					    under.length ? `Under way: ${under.join(" and ")}. ` : "No phase under way. ",
					    this.data.policies.map((p) => this.policyAt(p, us)).join(". "));
			this.at = us;
			this.drawCursor();
		}
	}

	const timelines = new Map();
	const dark = matchMedia("(prefers-color-scheme: dark)");

	/* First, for a chart takes the size of what is shown. */
	document.body.classList.add("scripted");
	for (const place of document.querySelectorAll(".timeline"))
		timelines.set(place.id, new Timeline(place));
	window.addEventListener("resize", () => timelines.forEach((t) => t.drawLanes()));
	dark.addEventListener("change", () => timelines.forEach((t) => t.recolour()));

	/* A row of a table leads to its place. */
	document.addEventListener("click", (event) => {
		const link = event.target.closest("a[data-from]");
		const timeline = link && timelines.get(link.hash.slice(1));

		if (!timeline)
			return;
		const from = Number(link.dataset.from), to = Number(link.dataset.to);

		timeline.show(from, to);
		timeline.showInstant(Number(link.dataset.at));
	});
	window.addEventListener("beforeprint", () => {
		for (const details of document.querySelectorAll("details"))
			details.open = true;
	});
})();

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Draws the timelines of the page, to be zoomed, scrolled and pointed at. Their data is in the page
 * as JSON next to each. dygraphs draws lines and axes; pauses and lanes of phases are drawn here, by
 * its axes. Colours are those of the page's style.
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

			if (list[middle * step] <= at)
				low = middle + 1;
			else
				high = middle;
		}
		return low - 1;
	};

	/* Each @step-th number is the time since the one before. */
	const sumInstants = (list, step) => {
		for (let i = step; i < list.length; i += step)
			list[i] += list[i - step];
	};

	/* A gap has no instant of its own: it lies just behind the point before it. */
	const placeGaps = (points) => {
		for (let i = 0; i < points.length; i += 2)
			if (points[i + 1] === null)
				points[i] += 0.5;
	};

	/* One share for each part: numbers below 0 are so many parts without any. */
	const expandShares = (list, parts) => {
		const share = new Float32Array(parts);
		let at = 0;

		for (const v of list)
			if (v < 0)
				at -= v;
			else
				share[at++] = v / 1e4;
		return share;
	};

	/* Ticks of a logarithmic axis: powers of ten, and of a short one also what is between. */
	const decades = (low, high) => {
		const ticks = [], steps = high / low > 1000 ? [1] : high / low > 50 ? [1, 3] : [1, 2, 5];

		for (let v = 10 ** Math.floor(Math.log10(low)); v <= high; v *= 10)
			for (const step of steps)
				if (v * step >= low * 0.999 && v * step <= high)
					ticks.push({ v: v * step, label: short(v * step) });
		return ticks;
	};

	/*
	 * Draws a line; of more points than pixels the range of each few pixels, and its low edge: of a
	 * heap that is what collections left.
	 */
	const DENSE = 4;
	const plotDense = (e) => {
		const ctx = e.drawingContext, range = new Map();

		if (e.points.length < 2 * e.plotArea.w) {
			Dygraph.Plotters.linePlotter(e);
			return;
		}
		for (const p of e.points) {
			const x = Math.floor(p.canvasx / DENSE) * DENSE, y = p.canvasy;
			const [high, low] = range.get(x) || [y, y];

			if (Number.isFinite(y))
				range.set(x, [Math.min(high, y), Math.max(low, y)]);
		}
		ctx.save();
		ctx.fillStyle = ctx.strokeStyle = e.color;
		ctx.globalAlpha = 0.25;
		for (const [x, [high, low]] of range)
			ctx.fillRect(x, high, DENSE, low - high + 1);
		ctx.globalAlpha = 1;
		ctx.beginPath();
		for (const [x, [, low]] of range)
			ctx.lineTo(x + DENSE / 2, low);
		ctx.stroke();
		ctx.restore();
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
			this.lanes = [];
			this.hidden = new Set();
			this.decode();
			this.live = node("div", "live", place);
			this.live.tabIndex = 0;
			this.tools();
			this.switches();
			this.body = node("div", "charts", this.live);
			this.panels();
			this.cursor = node("div", "cursor", this.body);
			this.readout = node("p", "readout note", this.live,
					    "Point at an instant to see what ran, what was requested, and by which thread.");
			this.readout.setAttribute("aria-live", "polite");
			this.live.addEventListener("keydown", (e) => this.key(e));
			this.drawLanes();
		}

		decode() {
			const data = this.data;

			for (const line of [...data.heaps, ...data.collector, ...data.rails, ...data.cpus]) {
				sumInstants(line.points, 2);
				placeGaps(line.points);
			}
			for (const lane of data.lanes) {
				sumInstants(lane.pauses, 3);
				for (const phase of lane.phases) {
					sumInstants(phase.boxes, 1);
					phase.share = phase.share && expandShares(phase.share, data.parts);
				}
			}
			this.longest = data.lanes.reduce((most, lane) => {
				for (let i = 1; i < lane.pauses.length; i += 3)
					most = Math.max(most, lane.pauses[i]);
				return most;
			}, 0);
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
			const add = (group, line, i) => {
				const label = node("label", "item", group);
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

			for (const [title, lines, least] of [["phases", this.data.types, 1], ["heap", this.data.heaps, 2],
							     [this.data.axis, this.data.rails, 1], ["frequency", this.data.cpus, 1]]) {
				if (lines.length < least)
					continue;
				const group = node("span", "group", list);

				node("b", "", group, title);
				lines.forEach((line, i) => add(group, line, i));
			}
		}

		/* What was recorded, each with its own scale, above one axis of time. */
		panels() {
			const data = this.data, height = this.place.clientWidth < 500 ? 110 : 140;
			const highest = Math.max(0, ...data.policies.map((p) => p.top || 0));

			if (this.longest)
				this.chart("pauses", [], "pause (ms)", height, {
					logscale: true,
					valueRange: this.pauseRange(),
					axes: { y: { ticker: decades } },
					underlayCallback: (ctx, area, graph) => this.drawPauses(ctx, area, graph),
				});
			if (data.lanes.length)
				this.addLanes();
			if (data.heaps.length)
				this.chart("heap", data.heaps, "heap (MiB)", height, { valueRange: [0, null], plotter: plotDense });
			if (data.collector.length)
				this.chart("collector", data.collector, "GC CPU (%)", height * 0.7,
					   { valueRange: [0, null], stepPlot: true, fillGraph: true, underlayCallback: null });
			if (data.rails.length)
				this.chart("rails", data.rails, data.axis, height,
					   { valueRange: data.steps ? null : [0, null], stepPlot: data.steps });
			if (data.cpus.length)
				this.chart("cpus", data.cpus, "frequency (MHz)", height,
					   { valueRange: [0, highest ? highest * 1.06 : null], stepPlot: true });
			this.chart("axis", [{ name: "paused", points: this.pausedShares() }], "", 74, {
				xlabel: "time (s)",
				valueRange: [0, 1],
				strokeWidth: 0,
				axes: { y: { drawGrid: false, axisLabelFormatter: () => "" } },
				underlayCallback: null,
				showRangeSelector: true,
				rangeSelectorHeight: 24,
				rangeSelectorPlotStrokeColor: style("line1"),
				rangeSelectorPlotFillColor: style("line2"),
				rangeSelectorForegroundStrokeColor: style("soft"),
			});
		}

		/* Left of the plots, px: room for the names of processes. */
		margin() {
			return (this.data.lanes.length > 1 ? 92 : 56) + (this.place.clientWidth < 500 ? 4 : 18);
		}

		/* Whole decades around all pauses, in ms. */
		pauseRange() {
			let least = this.longest;

			for (const lane of this.data.lanes)
				for (let i = 1; i < lane.pauses.length; i += 3)
					least = Math.min(least, lane.pauses[i]);
			return [10 ** Math.floor(Math.log10(least / 1e3) - 0.01), this.longest / 1e3 * 1.5];
		}

		/* The share of time that pauses took of each of 300 parts, for the bar that selects a range. */
		pausedShares() {
			const data = this.data, part = (data.to - data.from) / 300, points = [];
			const us = new Float64Array(300);

			for (const lane of data.lanes)
				for (let i = 0; i < lane.pauses.length; i += 3)
					us[Math.min(299, Math.floor((lane.pauses[i] - data.from) / part))] += lane.pauses[i + 1];
			us.forEach((v, i) => points.push(data.from + (i + 0.5) * part, Math.min(1, v / part)));
			return points;
		}

		chart(name, lines, axis, height, options) {
			const place = node("div", `chart ${name}`, this.body);
			const shown = lines.length ? lines : [{ name: "", points: [] }];
			const narrow = this.place.clientWidth < 500;
			const label = (line, i) => `${line.name}\u200b${i}`;
			const axes = { x: { drawAxis: name === "axis", axisLabelFormatter: (v, granularity, option, graph) => {
				const [a, b] = graph.xAxisRange();
				const digits = Math.ceil(1 - Math.log10(b - a));

				return digits > 1 ? v.toFixed(Math.min(digits, 6)) : short(v);
			} }, y: { axisLabelWidth: this.margin(), axisLabelFormatter: short, pixelsPerLabel: 24,
				...(options.axes || {}).y } };

			place.id = `${this.place.id}-${name}`;
			place.style.height = `${height}px`;
			if (narrow && axis)
				node("span", "caption", place, axis);
			const inner = node("div", "inner", place);

			inner.style.height = `${height - (narrow && axis ? 16 : 0)}px`;
			const g = new Dygraph(inner, rowsOf(shown, this.data.from, this.data.to), {
				labels: ["s", ...shown.map(label)],
				colors: shown.map((line, i) => ink(i)),
				series: Object.fromEntries(shown.map((line, i) => [label(line, i), { strokePattern: dash(i) }])),
				ylabel: narrow ? "" : axis,
				legend: "never",
				strokeWidth: 1.3,
				connectSeparatedPoints: true,
				gridLineColor: style("grid"),
				axisLineColor: style("soft"),
				dateWindow: [seconds(this.data.from), seconds(this.data.to)],
				underlayCallback: (ctx, area, graph) => this.shade(ctx, area, graph),
				drawCallback: (graph, first) => first || this.follow(graph),
				highlightCallback: (event, x) => this.showInstant(x * 1e6),
				highlightCircleSize: 0,
				...options,
				axes,
			});

			g.lines = lines;
			g.place = place;
			this.charts.push(g);
			/* Without a line there is no point to highlight. */
			if (!lines.length)
				inner.addEventListener("mousemove", (e) => this.showInstant(
					g.toDataXCoord(e.clientX - inner.getBoundingClientRect().left) * 1e6));
		}

		/* A lane a process; of one process a lane for what threads wait for, and one for the rest. */
		addLanes() {
			const data = this.data, nr = data.lanes.length;
			const height = nr === 1 ? 34 : nr <= 4 ? 24 : nr <= 10 ? 16 : 13;
			const has = (lane, waited) => lane.phases.some((phase) => data.types[phase.type].waited === waited);
			const lanes = node("div", "lanes", this.body);
			const add = (lane, waited, name) => {
				const place = node("div", waited ? "lane" : "lane concurrent", lanes);
				const canvas = document.createElement("canvas");
				const size = waited || nr === 1 ? height : Math.ceil(height / 2);

				node("span", "", place, name).title = name;
				place.style.height = place.style.lineHeight = `${size}px`;
				place.append(canvas);
				canvas.addEventListener("mousemove", (e) => this.showInstant(
					this.charts[0].toDataXCoord(e.clientX - this.body.getBoundingClientRect().left) * 1e6));
				this.lanes.push({ place, canvas, size, lane, waited });
			};

			lanes.id = `${this.place.id}-lanes`;
			for (const lane of data.lanes) {
				const both = has(lane, false);

				if (nr > 1 || has(lane, true))
					add(lane, true, nr > 1 ? lane.name : this.place.clientWidth < 500 ? "wait" : "threads wait");
				if (both)
					add(lane, false, nr > 1 ? "" : "concurrent");
			}
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
			this.columns = null;
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

		/* @width: of paper in pixels, 0 for the page's own: what is drawn is scaled. */
		scale(width) {
			const own = this.body.clientWidth;

			this.body.style.zoom = width && own > width ? width / own : "";
		}

		range() {
			return this.charts[0].xAxisRange().map((s) => s * 1e6);
		}

		/* The window of finer data that all of what is shown lies in; -1 none. */
		windowOf(a, b) {
			const w = this.data.windows, i = lastBefore(w, 2, a) * 2;

			return i >= 0 && w[i + 1] >= b ? i : -1;
		}

		/* Whether each phase of what is shown is known; else the share of each part is. */
		exact(a, b) {
			return !this.data.parts || this.windowOf(a, b) >= 0;
		}

		/* How fine the data is in what is shown: one value of each line, and of phases a share. */
		showResolution() {
			const [a, b] = this.range(), all = this.data.to - this.data.from;
			const w = this.data.windows, i = this.windowOf(a, b);
			const whole = this.data.whole && !this.data.parts;
			const part = i >= 0 ? (w[i + 1] - w[i]) / this.data.cells : all / (this.data.parts || this.data.cells);

			this.resolution.textContent = `Shown: ${duration(b - a)}. Resolution: ` +
				(whole ? "all that was recorded." :
				`${duration(part)}${i >= 0 ? ", around a listed pause" : ", or better"}.`);
			this.resolution.dataset.us = whole ? 0 : part;
		}

		show(from, to) {
			const all = [this.data.from, this.data.to];
			const width = Math.max(10, Math.min(to - from, all[1] - all[0]));
			const start = Math.max(all[0], Math.min(from, all[1] - width));

			this.charts[0].updateOptions({ dateWindow: [seconds(start), seconds(start + width)] });
			this.follow(this.charts[0]);
		}

		zoom(factor) {
			const [a, b] = this.range();
			const half = (b - a) / 2 * factor;

			this.show((a + b) / 2 - half, (a + b) / 2 + half);
		}

		move(part) {
			const [a, b] = this.range();

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

		/* Calls @fn with begin, end and share of the boxes of @phase, or of its parts, that show. */
		boxes(phase, a, b, fn) {
			if (this.exact(a, b)) {
				const p = phase.boxes;

				for (let i = Math.max(0, lastBefore(p, 2, a)) * 2; i < p.length && p[i] < b; i += 2)
					if (p[i + 1] >= a)
						fn(Math.max(a, p[i]), Math.min(b, Math.max(p[i + 1], p[i] + 1)), 1);
				return;
			}
			const part = (this.data.to - this.data.from) / this.data.parts;

			for (let i = Math.floor(Math.max(0, a - this.data.from) / part); i < phase.share.length && i * part < b; i++)
				if (phase.share[i])
					fn(Math.max(a, i * part), Math.min(b, (i + 1) * part), Math.min(1, phase.share[i]));
		}

		/* For each lane and type the share of time that its phases took of each column of pixels. */
		columnsOf(graph) {
			const [a, b] = graph.xAxisRange().map((s) => s * 1e6);
			const width = Math.max(1, Math.round(graph.getArea().w)), us = (b - a) / width;
			const key = [a, b, width].join();

			if (this.columns && this.columns.key === key)
				return this.columns;
			this.columns = { key, width, lanes: this.data.lanes.map((lane) => lane.phases.map((phase) => {
				const type = this.data.types[phase.type];
				const share = new Float32Array(width);

				if (!this.hidden.has(type))
					this.boxes(phase, a, b, (from, to, weight) => {
						for (let x = Math.floor((from - a) / us); x < width && a + x * us < to; x++)
							share[x] += weight * (Math.min(to, a + (x + 1) * us) - Math.max(from, a + x * us)) / us;
					});
				return { type, share };
			})) };
			return this.columns;
		}

		/* Behind a line the phases of all lanes, each as dark as its share of the column's time. */
		shade(ctx, area, graph) {
			const columns = this.columnsOf(graph), alpha = dark.matches ? 0.26 : 0.16;

			ctx.save();
			for (const lane of columns.lanes)
				for (const { type, share } of lane) {
					ctx.fillStyle = type.colour;
					for (let x = 0; x < columns.width; x++)
						if (share[x]) {
							ctx.globalAlpha = alpha * Math.min(1, share[x]) / columns.lanes.length;
							ctx.fillRect(area.x + x, area.y, 1, area.h);
						}
				}
			ctx.restore();
		}

		/* The longest pause of each column of pixels: a stem up to its length. */
		drawPauses(ctx, area, graph) {
			const [a, b] = graph.xAxisRange().map((s) => s * 1e6), stems = new Map();

			for (const lane of this.data.lanes) {
				const p = lane.pauses;

				for (let i = Math.max(0, lastBefore(p, 3, a)) * 3; i < p.length && p[i] < b; i += 3) {
					const type = this.data.types[p[i + 2]];
					const x = Math.round(graph.toDomXCoord(seconds(p[i])));

					if (p[i] + p[i + 1] >= a && !this.hidden.has(type) &&
					    !(stems.has(x) && stems.get(x).us >= p[i + 1]))
						stems.set(x, { us: p[i + 1], at: p[i], type });
				}
			}
			ctx.save();
			ctx.beginPath();
			ctx.rect(area.x, area.y, area.w, area.h);
			ctx.clip();
			for (const [x, stem] of stems) {
				const y = graph.toDomYCoord(stem.us / 1e3);
				const width = Math.max(2, graph.toDomXCoord(seconds(stem.at + stem.us)) - x);

				ctx.fillStyle = stem.type.colour;
				ctx.globalAlpha = 0.35;
				ctx.fillRect(x, y, 1, area.y + area.h - y);
				ctx.globalAlpha = 1;
				ctx.fillRect(x - (width > 2 ? 0 : 1), y - 1, width, 2.5);
			}
			ctx.restore();
			graph.stems = stems;
		}

		/* The shares of a lane, on top of each other: its full height is all of the time. */
		drawLane({ place, canvas, size, lane, waited }, graph) {
			const columns = this.columnsOf(graph), scale = window.devicePixelRatio || 1;
			const shown = columns.lanes[this.data.lanes.indexOf(lane)].filter(({ type }) => type.waited === waited);
			const ctx = canvas.getContext("2d"), left = graph.getArea().x;

			place.firstChild.style.width = `${left - 6}px`;
			canvas.style.left = `${left}px`;
			canvas.style.width = `${columns.width}px`;
			canvas.style.height = `${size}px`;
			canvas.width = columns.width * scale;
			canvas.height = size * scale;
			ctx.scale(scale, scale);
			for (let x = 0; x < columns.width; x++) {
				const all = shown.reduce((sum, { share }) => sum + share[x], 0);
				let y = size;

				for (const { type, share } of shown) {
					const height = share[x] / Math.max(1, all) * (size - 1);

					if (!height)
						continue;
					ctx.fillStyle = type.colour;
					ctx.fillRect(x, y - height, 1, height);
					y -= height;
				}
			}
			if (!waited)
				this.hatch(ctx, columns.width, size);
			ctx.fillStyle = style("grid");
			ctx.fillRect(0, size - 1, columns.width, 1);
		}

		/* Concurrent phases are hatched. */
		hatch(ctx, width, height) {
			ctx.beginPath();
			for (let x = -height; x < width; x += 5) {
				ctx.moveTo(x, height);
				ctx.lineTo(x + height, 0);
			}
			ctx.strokeStyle = style("card");
			ctx.lineWidth = 1.5;
			ctx.stroke();
		}

		drawLanes() {
			const graph = this.charts[this.charts.length - 1];

			this.showResolution();
			this.drawCursor();
			for (const lane of this.lanes)
				this.drawLane(lane, graph);
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
			return i < 0 ? null : p[i * 2 + 1];
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

		/* "remark, stw", or with its share of the part; of several processes with the name. */
		phasesAt(us) {
			const [a, b] = this.range(), exact = this.exact(a, b), data = this.data;
			const part = (data.to - data.from) / data.parts;

			return data.lanes.flatMap((lane) => {
				const of = data.lanes.length > 1 ? `${lane.name}: ` : "";
				const under = lane.phases.filter((phase) => {
					const i = lastBefore(phase.boxes, 2, us) * 2;

					return exact ? i >= 0 && phase.boxes[i + 1] >= us : phase.share[Math.floor((us - data.from) / part)];
				}).map((phase) => data.types[phase.type].name + (exact ? "" :
					` (${short(100 * Math.min(1, phase.share[Math.floor((us - data.from) / part)]))} % of ${duration(part)})`));
				const i = lastBefore(lane.pauses, 3, us) * 3;

				if (i >= 0 && lane.pauses[i] + lane.pauses[i + 1] >= us)
					under.push(`a pause of ${duration(lane.pauses[i + 1])}`);
				return under.map((name) => of + name);
			});
		}

		showInstant(us) {
			const unit = this.data.axis.endsWith("(V)") ? "V" : "W";
			const under = this.phasesAt(us), values = [];
			const add = (lines, what, steps) => {
				for (const line of lines) {
					const v = this.valueAt(line, us, steps);

					values.push(`${line.name} ${v === null ? "?" : short(v)} ${what}`);
				}
			};

			add(this.data.heaps, "MiB", false);
			add(this.data.collector, "% of a CPU", true);
			add(this.data.rails, unit, this.data.steps);
			add(this.data.cpus, "MHz", true);
			this.readout.replaceChildren();
			node("b", "", this.readout, `${seconds(us).toFixed(6)} s`);
			this.readout.append(values.length ? `  ${values.join(", ")}. ` : "  ",
					    under.length ? `Under way: ${under.join(" and ")}. ` : "No phase under way. ",
					    this.data.policies.map((p) => this.policyAt(p, us)).join(". "));
			this.at = us;
			this.drawCursor();
		}
	}

	const timelines = new Map();
	const dark = matchMedia("(prefers-color-scheme: dark)");
	const PAPER = 680; /* px: the width of A4 less its margins */

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
	/* Paper is narrower and never dark. */
	const print = (on) => {
		document.documentElement.classList.toggle("printing", on);
		for (const details of document.querySelectorAll("details"))
			details.open = details.open || on;
		timelines.forEach((t) => {
			t.recolour();
			t.scale(on ? PAPER : 0);
		});
	};

	window.addEventListener("beforeprint", () => print(true));
	window.addEventListener("afterprint", () => print(false));
})();

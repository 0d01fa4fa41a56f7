// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Flame graphs: a click on a frame shows it and what it called over the whole width, a search marks
 * frames, and a menu chooses what colours mean. Without this script the picture is still.
 */
"use strict";

(() => {
	const SVG = "http://www.w3.org/2000/svg", HTML = "http://www.w3.org/1999/xhtml";
	const MARGIN = 10, WIDTH = 1180, LETTER = 7;
	const hue = (part) => `hsl(${Math.round(220 * (1 - part))},70%,70%)`;

	class Flame {
		constructor(svg) {
			this.svg = svg;
			this.frames = [...svg.querySelectorAll("g.frame")].map((g) => {
				const rect = g.querySelector("rect"), title = g.querySelector("title").textContent;
				const at = (name) => Number(rect.getAttribute(name));

				return { g, rect, x: at("x"), y: at("y"), w: at("width"), text: g.querySelector("text"),
					 name: title.slice(0, title.lastIndexOf(": ")), fill: rect.getAttribute("fill") };
			});
			for (const f of this.frames) {
				f.g.addEventListener("click", () => this.zoom(f));
				f.g.style.cursor = "pointer";
			}
			this.tools();
		}

		tools() {
			const tools = document.createElementNS(SVG, "foreignObject");
			const node = (name) => document.createElementNS(HTML, name);
			const bar = node("div"), search = node("input");
			const colours = [["layer", "layer"], ["mhz", "MHz"], ["watts", "W"]].filter(([key]) =>
				key === "layer" ? !this.svg.dataset.change : this.frames.some((f) => f.g.dataset[key]));

			for (const [name, value] of Object.entries({ x: 640, y: 6, width: 550, height: 28 }))
				tools.setAttribute(name, value);
			bar.style.cssText = "text-align:right;font:12px sans-serif;color:#333";
			this.found = node("span");
			search.type = "search";
			search.placeholder = "search";
			search.size = 14;
			search.style.cssText = "font:inherit;margin:0 8px";
			search.addEventListener("input", () => this.search(search.value));
			bar.append(this.found, search);
			if (colours.length > 1) {
				const menu = node("select");

				menu.style.font = "inherit";
				for (const [key, name] of colours) {
					const option = node("option");

					option.value = key;
					option.textContent = `colour: ${name}`;
					menu.append(option);
				}
				menu.addEventListener("change", () => this.colour(menu.value));
				bar.append(menu);
			}
			const all = node("button");

			all.textContent = "all";
			all.style.cssText = "font:inherit;margin-left:8px";
			all.addEventListener("click", () => this.zoom(this.frames[0]));
			bar.append(all);
			tools.append(bar);
			this.svg.append(tools);
		}

		/* Below a frame are those that it lies in, above it those that it called. */
		zoom(to) {
			for (const f of this.frames) {
				const around = f.y >= to.y && f.x <= to.x + 0.01 && f.x + f.w >= to.x + to.w - 0.01;
				const inside = f.y <= to.y && f.x >= to.x - 0.01 && f.x + f.w <= to.x + to.w + 0.01;
				const x = around ? MARGIN : MARGIN + (f.x - to.x) / to.w * WIDTH;
				const w = around ? WIDTH : f.w / to.w * WIDTH;

				f.g.style.display = around || inside ? "" : "none";
				f.g.style.opacity = around && f !== to ? 0.6 : 1;
				f.rect.setAttribute("x", x);
				f.rect.setAttribute("width", w);
				this.label(f, x, w);
			}
		}

		label(f, x, w) {
			const letters = Math.floor(w / LETTER);

			if (letters >= 3 && !f.text) {
				f.text = document.createElementNS(SVG, "text");
				f.text.setAttribute("y", f.y + 13);
				f.g.append(f.text);
			}
			if (f.text) {
				f.text.setAttribute("x", x + 3);
				f.text.textContent = letters >= 3 ? f.name.slice(0, letters) : "";
			}
		}

		/* Marks frames whose name has the text, and says how much of the width they cover. */
		search(text) {
			const part = text.toLowerCase();
			let covered = 0, end = -1;

			for (const f of [...this.frames].sort((a, b) => a.x - b.x || b.w - a.w)) {
				const found = part && f.name.toLowerCase().includes(part);

				f.rect.style.stroke = found ? "#c00000" : "";
				f.rect.style.strokeWidth = found ? 2 : "";
				/* One within another counts once. */
				if (found && f.x + f.w > end) {
					covered += f.x + f.w - Math.max(end, f.x);
					end = f.x + f.w;
				}
			}
			this.found.textContent = part ? `${(100 * covered / this.frames[0].w).toFixed(1)} %` : "";
		}

		colour(by) {
			const values = this.frames.map((f) => f.g.dataset[by]).filter(Boolean).map(Number);
			const low = Math.min(...values), high = Math.max(...values);

			for (const f of this.frames) {
				const v = f.g.dataset[by];

				f.rect.setAttribute("fill", by === "layer" ? f.fill : v === undefined ? "#c8c8c8" :
						    hue(high > low ? (v - low) / (high - low) : 1));
			}
			this.svg.querySelectorAll(".layers").forEach((n) => { n.style.display = by === "layer" ? "" : "none"; });
			this.svg.querySelectorAll(".scale").forEach((n) => {
				n.textContent = by === "layer" ? "" : `blue ${low} to red ${high} ${by === "mhz" ? "MHz" : "W"}; grey: not known`;
			});
		}
	}

	const draw = () => document.querySelectorAll("svg.flamegraph").forEach((svg) => { svg.flame = svg.flame || new Flame(svg); });

	if (document.readyState === "loading")
		document.addEventListener("DOMContentLoaded", draw);
	else
		draw();
})();

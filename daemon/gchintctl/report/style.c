// SPDX-License-Identifier: GPL-2.0-or-later
#include "report.h"

/* clang-format off */
const char report_style[] =
":root{--ink:#1d2733;--soft:#5b6875;--line:#dfe4ea;--page:#f4f6f8;--card:#fff;--accent:#1b5e9e}\n"
"*{box-sizing:border-box}\n"
"body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,'DejaVu Sans',"
"Helvetica,sans-serif}\n"
"main{max-width:1200px;margin:0 auto;padding:28px 20px 60px}\n"
"h1{font-size:26px;margin:0 0 4px}h2{font-size:20px;margin:0 0 2px}h3{font-size:16px;margin:26px 0 6px}\n"
"header p,.sub{color:var(--soft);margin:0 0 18px}\n"
"section{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:20px 22px;"
"margin:18px 0}\n"
".plot img{display:block;width:100%;max-width:none;height:auto;margin:6px 0 2px}\n"
".scroll,.plot{overflow-x:auto}\n"
"table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}\n"
"th,td{padding:5px 10px;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}\n"
"th:first-child,td:first-child,.text th,.text td{text-align:left}\n"
".text td{white-space:normal}\n"
"th{color:var(--soft);font-weight:600;font-size:13px;border-bottom-color:#b9c2cc}\n"
"tbody tr:hover{background:#f7f9fb}\n"
".dot{display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:8px;"
"vertical-align:-1px}\n"
".legend{margin:2px 0 4px;color:var(--soft);font-size:13px}.legend .item{margin-right:18px;"
"white-space:nowrap}\n"
".note{color:var(--soft);font-size:13px;margin:6px 0 0}\n"
".pm{color:var(--soft)}.weak{color:#9aa5b1}.missing{color:#a33;font-style:italic}\n"
".better{color:#14795a}.worse{color:#b3372b}\n"
".verdict h3{margin:12px 0 2px}.verdict ul{margin:0 0 10px;padding-left:20px}\n"
/* Percentages on lines of their own: four columns and their names fit side by side. */
"table.compare td span{display:block}table.compare td:first-child{white-space:normal;min-width:11em}\n"
".left{text-align:left}table.pauses td:last-child{white-space:normal}td a{color:var(--accent)}\n"
/* The script's charts replace the picture on screens; in print the picture stays. */
".live{display:none}.scripted .live{display:block}.scripted .still{display:none}\n"
".live:focus-visible{outline:2px solid var(--accent);outline-offset:4px}.charts{position:relative}\n"
".live .chart{width:100%}.live canvas.lanes{width:100%;display:block}\n"
".live .cursor{display:none;position:absolute;top:0;bottom:40px;width:1px;background:var(--soft);pointer-events:none;z-index:5}\n"
".live .readout{min-height:3.2em}.live .tools{margin:4px 0;font-size:13px}\n"
".live button{font:inherit;color:inherit;background:var(--page);border:1px solid var(--line);border-radius:4px;"
"padding:2px 10px;margin-right:6px;cursor:pointer;min-width:2.4em}\n"
".live .group{font-weight:600;margin-right:8px}.live label{cursor:pointer;display:inline-block}.live input{margin:0 5px 0 0;vertical-align:-1px}\n"
".live .dygraph-axis-label,.live .dygraph-label{color:var(--soft);font-size:12px}\n"
"details{margin-top:18px}summary{cursor:pointer;color:var(--accent)}\n"
"nav a{color:var(--accent);margin-right:16px;text-decoration:none}\n"
/*
 * Phones: labels wrap. Pictures with a narrow version use it; others keep a legible size and
 * scroll sideways.
 */
"@media(max-width:640px){main{padding:14px 8px 40px}section{padding:14px 12px}th,td{padding:5px 6px}"
"th:first-child,td:first-child,table.pauses td:last-child{white-space:normal;min-width:8em}.plot .wide{width:760px}"
/* Phones: the name of a figure is above its values, so that two columns fit. */
"table.compare,table.compare thead,table.compare tbody{display:block}table.compare tr{display:grid;"
"grid-template-columns:repeat(var(--kinds),minmax(9.6em,1fr));border-bottom:1px solid var(--line)}"
"table.compare td{border:0}table.compare td:first-child{grid-column:1/-1;padding-bottom:0;font-weight:600}"
"table.compare td:first-child span{display:inline;font-weight:400}table.compare th:first-child{display:none}}\n"
/* Dark pages: pictures have a white background; invert it, and rotate hues back. */
"@media(prefers-color-scheme:dark){:root{--ink:#e3e8ee;--soft:#9fabb8;--line:#333d48;--page:#12171d;--card:#1a2129;"
"--accent:#7fb4e6}th{border-bottom-color:#4a5663}tbody tr:hover{background:#212a34}.plot img,.live canvas,.dot{filter:invert(.9) hue-rotate(180deg)}"
".better{color:#57c79b}.worse{color:#f08a7e}}\n"
"@media print{.scripted .live{display:none}.scripted .still{display:block}body{background:#fff}main{max-width:none;padding:0}section{border:0;padding:0}.scroll,.plot{overflow:visible}"
"th,td{white-space:normal;padding:3px 5px}tr,.plot,.still{break-inside:avoid}h2,h3,.sub,.legend{break-after:avoid}"
".dot{print-color-adjust:exact;-webkit-print-color-adjust:exact}nav{display:none}}\n";
/* clang-format on */

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
"img{display:block;width:100%;height:auto;margin:6px 0 2px}\n"
".scroll{overflow-x:auto}\n"
"table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}\n"
"th,td{padding:5px 10px;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}\n"
"th:first-child,td:first-child,.text th,.text td{text-align:left}\n"
".text td{white-space:normal}\n"
"th{color:var(--soft);font-weight:600;font-size:13px;border-bottom-color:#b9c2cc}\n"
"tbody tr:hover{background:#f7f9fb}\n"
".dot{display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:8px;"
"vertical-align:-1px}\n"
".legend{margin:2px 0 4px;color:var(--soft);font-size:13px}.legend span.item{margin-right:18px;"
"white-space:nowrap}\n"
".note{color:var(--soft);font-size:13px;margin:6px 0 0}\n"
".pm{color:var(--soft)}.weak{color:#9aa5b1}.missing{color:#a33;font-style:italic}\n"
".better{color:#14795a}.worse{color:#b3372b}\n"
"details{margin-top:18px}summary{cursor:pointer;color:var(--accent)}\n"
"nav a{color:var(--accent);margin-right:16px;text-decoration:none}\n"
"@media print{body{background:#fff}section{border:0;padding:0;break-inside:avoid}}\n";
/* clang-format on */

// SPDX-License-Identifier: GPL-2.0-or-later
#include "../../common/escape.h"
#include "../recording/cost.h"
#include "../recording/db.h"
#include "report.h"

static void table_write_row(FILE *html, const char *key, const char *value)
{
	if (!*value)
		return;
	fprintf(html, "<tr><td>%s</td><td>", key);
	escape_html(html, value);
	fputs("</td></tr>\n", html);
}

static void table_write_query(const struct run *run, FILE *html, const char *sql)
{
	sqlite3_stmt *s = db_query(run->db, sql);

	while (db_next(s)) {
		fputs("<tr><td>", html);
		escape_html(html, db_text(s, 0, "?"));
		fputs("</td><td>", html);
		escape_html(html, db_text(s, 1, "not known"));
		fputs("</td></tr>\n", html);
	}
	sqlite3_finalize(s);
}

void report_provenance(const struct run *run, FILE *html)
{
	static const char *const metas[][2] = {
		{ "board", "board.model" },   { "host", "board.host" },
		{ "kernel", "board.kernel" }, { "machine", "board.machine" },
		{ "CPUs", "board.cpus" },     { "recorded by", "program" },
	};
	char text[256];

	fputs("<details open><summary>Where these numbers come from</summary>\n"
	      "<table class=\"text\"><tbody>\n",
	      html);
	table_write_row(html, "file", run->path);
	run_began(run, text, sizeof(text));
	table_write_row(html, "recorded", text);
	table_write_query(run, html,
			  "SELECT 'command', substr(text, 8) FROM marks WHERE text LIKE 'start: %' "
			  "ORDER BY t LIMIT 1");
	for (size_t i = 0; i < sizeof(metas) / sizeof(metas[0]); i++) {
		db_meta(run->db, metas[i][1], text, sizeof(text));
		table_write_row(html, metas[i][0], text);
	}
	table_write_query(
		run, html,
		"SELECT 'policy' || p.policy, 'CPUs ' || coalesce(p.cpus, '?') || ', ' || "
		"coalesce(p.driver, 'driver ?') || ', governor ' || "
		"coalesce(group_concat(DISTINCT s.governor), '?') FROM policies p "
		"LEFT JOIN policy_states s USING(policy) GROUP BY p.policy");
	table_write_query(run, html,
			  "SELECT 'source ' || name, state || ': ' || what FROM sources");
	table_write_query(run, html,
			  "SELECT 'clock of ' || source, clock || coalesce(', within ' || "
			  "round(error_ns / 1e3, 1) || ' us', '') || ': ' || how FROM clocks");
	table_write_query(run, html,
			  "SELECT 'dropped by ' || source, sum(count) || ': ' || why FROM drops "
			  "GROUP BY source, why");
	if (price_words(run->db, text, sizeof(text)))
		table_write_row(html, "cost of recording", text);
	fputs("</tbody></table></details>\n", html);
}

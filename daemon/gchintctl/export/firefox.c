// SPDX-License-Identifier: GPL-2.0-or-later
/* The timeline for the Firefox Profiler: phases as markers, and no samples. */
#include "../ctl.h"
#include "export.h"
#include "../profile/firefox.h"
#include "../profile/firefox-stacks.h"

int export_firefox(sqlite3 *db, FILE *out, const char *table)
{
	struct run *run = run_open(sqlite3_db_filename(db, "main"));
	struct firefox x;
	bool whole;

	(void)table;
	if (!run)
		return CTL_FILE;
	whole = firefox_open(&x, run, out);
	if (whole) {
		firefox_begin(&x, 0);
		firefox_shared(&x, NULL);
		json_list(&x.j, "threads");
		firefox_instants(&x);
		for (size_t i = 0, n; i < run->phases; i += n) {
			const struct run_phase *p = x.phase[i];

			n = firefox_phases_of_thread(&x, i);
			firefox_thread(&x, p->tgid, p->tid, p->t0);
			firefox_no_samples(&x);
			firefox_phases(&x, i, n);
		}
		json_end(&x.j);
		whole = firefox_counters(&x);
		firefox_end(&x);
	}
	firefox_close(&x);
	run_close(run);
	return whole ? CTL_OK : CTL_FILE;
}

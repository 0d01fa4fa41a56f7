// SPDX-License-Identifier: GPL-2.0-or-later
#include "hint-report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../ctl.h"

/* Of the dynamic loader, and of a shell that cannot start a program. */
#define STATUS_NOT_RUN	  126
#define STATUS_NOT_LOADED 127

bool hints_disabled(void)
{
	const char *value = getenv("GCHINT_DISABLE");

	return value && *value && strcmp(value, "0");
}

void hints_report_none(const struct hint_count *count, const char *program, const char *file,
		       const struct runtime *loaded, bool launched, int status)
{
	const char *slash = strrchr(program, '/'), *base = slash ? slash + 1 : program;
	const char *in = file ? " in " : "", *where = file ? file : "";
	struct runtime_none none;
	const struct runtime *runtime = runtime_of(program, &none);

	if (count->missed)
		ctl_error("no hints%s%s: of %" PRIu64 " programs none were received: the recorder "
			  "did not run, there were too many at once, or a limit (ulimit -f) or a "
			  "seccomp filter forbids the memory that they share with it",
			  in, where, count->missed);
	else if (count->programs)
		ctl_error("no hints%s%s: %s collected nothing, or only in phases that are "
			  "expected to be shorter than GCHINT_MIN_US (default: 100 us); let it "
			  "run longer, or set GCHINT_MIN_US=0",
			  in, where, base);
	else if (hints_disabled())
		ctl_error("no hints%s%s: GCHINT_DISABLE forbids them; unset it", in, where);
	else if (loaded)
		ctl_error("no hints%s%s: no process started the adapter of %s; its standard error "
			  "may have the reason%s%s%s",
			  in, where, loaded->title, runtime == loaded ? "" : ", or ",
			  runtime == loaded ? "" : base,
			  runtime == loaded ? "" :
					      " resets the environment (as sudo) or changes the "
					      "root directory (as chroot)");
	else if (runtime && !launched)
		ctl_error("no hints%s%s: %s is %s, which needs its adapter; use gchintctl run "
			  "-o FILE -- %s",
			  in, where, base, runtime->title, base);
	else if (none.libgchint && (status == STATUS_NOT_LOADED || status == STATUS_NOT_RUN))
		ctl_error("no hints%s%s: %s ended with status %d, as a program does that cannot be "
			  "loaded; its standard error has the reason",
			  in, where, base, status);
	else if (none.libgchint && strcmp(base, "gchintctl") != 0)
		ctl_error("no hints%s%s: %s has libgchint, but opened no session; let it call "
			  "gchint_init(), see gchint(7)",
			  in, where, base);
	else
		ctl_error(
			"no hints%s%s: neither %s nor a program that it started used libgchint; %s",
			in, where, base,
			launched ? "gchintctl runtimes lists the runtimes that have an adapter" :
				   "start its runtime by gchintctl run (gchintctl runtimes lists "
				   "them)");
}

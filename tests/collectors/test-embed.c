// SPDX-License-Identifier: MIT
/* Description: the embedding example runs on every plan, by itself and as C++. */
#include "tap.h"

static const char *const plans[] = { "cms",   "cmsfly",	   "gencms",	"gss",
				     "immix", "marksweep", "semispace", "stickyimmix" };

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		for (size_t p = 0; p < sizeof(plans) / sizeof(plans[0]); p++) {
			char command[512], out[64] = "";
			FILE *f;

			snprintf(command, sizeof(command), "%s plan=%s,heap=4M,max=32M,nursery=1M",
				 argv[i], plans[p]);
			f = popen(command, "r");
			if (f && !fgets(out, sizeof(out), f))
				out[0] = '\0';
			ok(f && !pclose(f) && !strcmp(out, "999999 999998\n"), "%s on %s",
			   strrchr(argv[i], '/') + 1, plans[p]);
		}
	}
	return done();
}

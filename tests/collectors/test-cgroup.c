// SPDX-License-Identifier: MIT
/*
 * Description: limit=cgroup keeps a heap within three quarters of the memory limit of the process's
 * control groups, as it is and as it changes: groups made of files in a directory, of both versions
 * of cgroups, and where a program may create groups, one of the kernel's.
 */
#define _GNU_SOURCE
#include "alone.h"

#include <cycle/cgroup.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define KIB (1024ull)
#define MIB (1024 * KIB)

/* ---- files of control groups that a test writes -------------------------- */

static char fake[64]; /* the directory of /proc and /sys; empty: the machine's own */
static int opened; /* files of them */
static bool exhausted; /* no more files can be opened */

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
	char there[4096 + sizeof(fake)];

	opened++;
	if (exhausted) {
		errno = EMFILE;
		return NULL;
	}
	snprintf(there, sizeof(there), "%s%s", fake, path);
	return __real_fopen(there, mode);
}

static void file_write(const char *path, const char *text)
{
	char there[512], fresh[512];
	FILE *file;

	snprintf(there, sizeof(there), "%s%s", fake, path);
	snprintf(fresh, sizeof(fresh), "%s/fresh", fake);
	for (char *c = there + strlen(fake) + 1; (c = strchr(c, '/')); *c++ = '/') {
		*c = '\0';
		mkdir(there, 0755);
	}
	/* At once, as the kernel's files change: a daemon may be reading. */
	file = __real_fopen(fresh, "w");
	if (!file || fputs(text, file) < 0 || fclose(file) || rename(fresh, there)) {
		perror(there);
		exit(1);
	}
}

static void fake_begin(void)
{
	strcpy(fake, "/tmp/gchint-cgroup-XXXXXX");
	if (!mkdtemp(fake))
		exit(1);
}

static void fake_end(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", fake);
	if (system(command))
		exit(1);
	*fake = '\0';
}

#define V2(root)                                                                                   \
	"30 23 0:26 " root " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1(root) "31 30 0:31 " root " /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n"
#define OTHER                                                                                      \
	"22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"                                  \
	"29 30 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"

#define MOST 3

static const struct {
	const char *what, *mounts, *groups;
	struct {
		const char *path, *text;
	} files[MOST];
	uint64_t limit;
} trees[] = {
	{ "v2: the group's own limit",
	  OTHER V2("/"),
	  "0::/system.slice/a.service\n",
	  { { "/sys/fs/cgroup/system.slice/a.service/memory.max", "1048576\n" },
	    { "/sys/fs/cgroup/system.slice/memory.max", "max\n" } },
	  1048576 },
	{ "v2: the lower one of a group above",
	  V2("/") OTHER,
	  "0::/a/b/c\n",
	  { { "/sys/fs/cgroup/a/b/c/memory.max", "max\n" },
	    { "/sys/fs/cgroup/a/b/memory.max", "3000000\n" },
	    { "/sys/fs/cgroup/a/memory.max", "2000000\n" } },
	  2000000 },
	{ "v2: memory.high, where it is lower",
	  V2("/"),
	  "0::/a\n",
	  { { "/sys/fs/cgroup/a/memory.max", "2000000\n" },
	    { "/sys/fs/cgroup/a/memory.high", "1000000\n" } },
	  1000000 },
	{ "v2: no limit",
	  V2("/"),
	  "0::/a\n",
	  { { "/sys/fs/cgroup/a/memory.max", "max\n" },
	    { "/sys/fs/cgroup/a/memory.high", "max\n" } },
	  UINT64_MAX },
	{ "v2: files that are empty or say nothing",
	  V2("/"),
	  "0::/a/b\n",
	  { { "/sys/fs/cgroup/a/b/memory.max", "" }, { "/sys/fs/cgroup/a/memory.max", "x\n" } },
	  UINT64_MAX },
	{ "v2: a limit of 0", V2("/"), "0::/a\n", { { "/sys/fs/cgroup/a/memory.max", "0\n" } }, 0 },
	{ "v2: a container with a namespace of groups",
	  V2("/"),
	  "0::/\n",
	  { { "/sys/fs/cgroup/memory.max", "500000\n" } },
	  500000 },
	{ "v2: a container that sees its part of the hierarchy",
	  V2("/docker/1"),
	  "0::/docker/1/app\n",
	  { { "/sys/fs/cgroup/app/memory.max", "400000\n" },
	    { "/sys/fs/cgroup/memory.max", "600000\n" },
	    { "/sys/fs/cgroup/docker/1/memory.max", "1\n" } },
	  400000 },
	{ "v2: a group beside the part that is visible",
	  V2("/docker/1"),
	  "0::/docker/12/app\n",
	  { { "/sys/fs/cgroup/memory.max", "600000\n" },
	    { "/sys/fs/cgroup/2/app/memory.max", "1\n" } },
	  600000 },
	{ "v2: a group outside of the namespace",
	  V2("/"),
	  "0::/../a\n",
	  { { "/sys/fs/cgroup/memory.max", "600000\n" }, { "/sys/fs/a/memory.max", "1\n" } },
	  600000 },
	{ "v2: a space in a mount's path",
	  "30 23 0:26 / /a\\040b rw - cgroup2 cgroup2 rw\n",
	  "0::/\n",
	  { { "/a b/memory.max", "700000\n" } },
	  700000 },
	{ "v1: the group's own limit",
	  OTHER V1("/"),
	  "9:cpuset:/x\n4:memory:/user/1\n",
	  { { "/sys/fs/cgroup/memory/user/1/memory.limit_in_bytes", "3145728\n" },
	    { "/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "1\n" } },
	  3145728 },
	{ "v1: the lower one of a group above",
	  V1("/"),
	  "4:memory:/user/1\n",
	  { { "/sys/fs/cgroup/memory/user/1/memory.limit_in_bytes", "9223372036854771712\n" },
	    { "/sys/fs/cgroup/memory/user/memory.limit_in_bytes", "2000000\n" },
	    { "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n" } },
	  2000000 },
	{ "v1: a container, mounted with other controllers",
	  "31 30 0:31 /docker/1 /sys/fs/cgroup/memory rw - cgroup cgroup rw,cpu,memory\n",
	  "4:cpu,memory:/docker/1\n",
	  { { "/sys/fs/cgroup/memory/memory.limit_in_bytes", "800000\n" } },
	  800000 },
	{ "v1 beside a v2 without the controller",
	  "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n" V1("/"),
	  "4:memory:/a\n0::/\n",
	  { { "/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "900000\n" } },
	  900000 },
	{ "a controller whose name only begins alike",
	  "31 30 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memoryx\n",
	  "4:memoryx:/a\n",
	  { { "/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "900000\n" } },
	  UINT64_MAX },
	{ "no hierarchy at all", OTHER, "", { { NULL, NULL } }, UINT64_MAX },
};

static void trees_read(void)
{
	struct gc_cgroups none;
	uint64_t limit;

	for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
		struct gc_cgroups groups;

		fake_begin();
		file_write("/proc/self/mountinfo", trees[i].mounts);
		file_write("/proc/self/cgroup", trees[i].groups);
		for (int n = 0; n < MOST && trees[i].files[n].path; n++)
			file_write(trees[i].files[n].path, trees[i].files[n].text);
		ok(!gc_cgroups_init(&groups), "%s: hierarchies are found", trees[i].what);
		limit = 1;
		if (!ok(!gc_cgroups_limit(&groups, &limit) && limit == trees[i].limit, "%s: counts",
			trees[i].what))
			printf("# %llu, not %llu\n", (unsigned long long)limit,
			       (unsigned long long)trees[i].limit);
		gc_cgroups_fini(&groups);
		fake_end();
	}
	fake_begin();
	ok(!gc_cgroups_init(&none) && !gc_cgroups_limit(&none, &limit) && limit == UINT64_MAX,
	   "without /proc there is no limit");
	gc_cgroups_fini(&none);
	exhausted = true;
	ok(gc_cgroups_init(&none) == -EMFILE,
	   "a limit that cannot be read is none that is unknown");
	exhausted = false;
	fake_end();
}

/* ---- heaps ---------------------------------------------------------------- */

struct node {
	struct gc_header header;
	struct node *next;
	char bytes[240];
};

static const struct gc_type *type;
static struct {
	struct gc_frame head;
	struct node *list;
} f;

static void limit_write(uint64_t mib)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu\n", (unsigned long long)(mib * MIB));
	file_write("/sys/fs/cgroup/app/memory.max", text);
}

static void node_type(void)
{
	struct gc_type_desc desc = { .name = "node", .size = sizeof(struct node), .refs = 2 };

	type = gc_type_register(heap, &desc, NULL);
}

/* A heap in a group that is limited to @mib, and without the machine's daemon threads */
static int heap_begin(const char *options, uint64_t mib)
{
	fake_begin();
	file_write("/proc/self/mountinfo", V2("/"));
	file_write("/proc/self/cgroup", "0::/app\n");
	limit_write(mib);
	WANT(open_heap(options));
	node_type();
	GC_PUSH(m, f);
	return 0;
}

static int heap_end(void)
{
	struct gc_error err;

	WANT(!gc_verify(m, &err));
	GC_POP(m, f);
	stop();
	fake_end();
	return 0;
}

/* Up to @most bytes of live nodes more; returns how many fitted. */
static uint64_t list_grow(uint64_t most)
{
	uint64_t bytes = 0;

	while (bytes < most) {
		struct node *node = GC_NEW(m, type, struct node);

		if (!node)
			break;
		gc_init(&node->next, f.list);
		f.list = node;
		bytes += sizeof(struct node);
	}
	return bytes;
}

static bool garbage_make(uint64_t bytes)
{
	for (; bytes > sizeof(struct node); bytes -= sizeof(struct node))
		if (!GC_NEW(m, type, struct node))
			return false;
	return true;
}

static uint64_t list_bytes(void)
{
	uint64_t bytes = 0;

	for (const struct node *node = f.list; node; node = node->next)
		bytes += sizeof(struct node);
	return bytes;
}

/* Live bytes stop short of the limit, and the heap's pages with them. */
static int kept_run(void *arg)
{
	uint64_t bytes;

	if (heap_begin(arg, 32))
		return 1;
	WANT(stats().limit_bytes == 24 * MIB);
	bytes = list_grow(64 * MIB);
	WANT(bytes > 9 * MIB && bytes <= 24 * MIB);
	WANT(gc_refused(m) == GC_REFUSED_FULL || gc_refused(m) == GC_REFUSED_OVERHEAD);
	WANT(stats().footprint_bytes <= 24 * MIB);
	WANT(list_bytes() == bytes);
	f.list = NULL;
	WANT(garbage_make(64 * MIB));
	return heap_end();
}

/* A limit that is lowered applies from the next collection on, and free pages go back. */
static int lowered_run(void *arg)
{
	if (heap_begin(arg, 64))
		return 1;
	WANT(list_grow(16 * MIB) == (16 * MIB + 255) / 256 * 256);
	f.list = NULL;
	WANT(list_grow(4 * MIB) == 4 * MIB);
	limit_write(16);
	gc_collect_full(m);
	WANT(stats().limit_bytes == 12 * MIB);
	WANT(stats().footprint_bytes <= 12 * MIB);
	WANT(list_bytes() == 4 * MIB);
	WANT(garbage_make(64 * MIB));
	WANT(stats().footprint_bytes <= 12 * MIB);
	WANT(list_bytes() == 4 * MIB);
	return heap_end();
}

/* Without a call that asks for it: allocation goes on. */
static int followed_run(void *arg)
{
	if (heap_begin(arg, 64))
		return 1;
	WANT(list_grow(2 * MIB) == 2 * MIB);
	WANT(garbage_make(64 * MIB));
	limit_write(12);
	WANT(garbage_make(128 * MIB));
	WANT(stats().limit_bytes == 9 * MIB);
	WANT(stats().footprint_bytes <= 9 * MIB);
	limit_write(96);
	WANT(garbage_make(128 * MIB));
	WANT(stats().limit_bytes == 72 * MIB);
	WANT(list_grow(20 * MIB) == 20 * MIB);
	WANT(list_bytes() == 22 * MIB);
	return heap_end();
}

/* Lowered to less than what is live: allocations are refused, and nothing is lost. */
static int below_run(void *arg)
{
	if (heap_begin(arg, 96))
		return 1;
	WANT(list_grow(16 * MIB) == 16 * MIB);
	limit_write(8);
	gc_collect_full(m);
	WANT(!garbage_make(64 * MIB));
	WANT(gc_refused(m) == GC_REFUSED_FULL || gc_refused(m) == GC_REFUSED_OVERHEAD);
	WANT(list_bytes() == 16 * MIB);
	limit_write(96);
	gc_collect_full(m);
	WANT(garbage_make(64 * MIB));
	WANT(list_bytes() == 16 * MIB);
	return heap_end();
}

/* The process moves to another group. */
static int moved_run(void *arg)
{
	if (heap_begin(arg, 64))
		return 1;
	file_write("/sys/fs/cgroup/other/memory.max", "16777216\n");
	file_write("/proc/self/cgroup", "0::/other\n");
	gc_collect_full(m);
	WANT(stats().limit_bytes == 12 * MIB);
	return heap_end();
}

/* Of max= and the group, the lower one counts; and with limit=max nothing is read. */
static int least_run(void *arg)
{
	char options[160];

	snprintf(options, sizeof(options), "%s,max=16M", (const char *)arg);
	if (heap_begin(options, 64))
		return 1;
	WANT(stats().limit_bytes == 16 * MIB);
	if (heap_end())
		return 1;
	snprintf(options, sizeof(options), "%s,limit=max", (const char *)arg);
	opened = 0;
	if (heap_begin(options, 16))
		return 1;
	WANT(list_grow(16 * MIB) == 16 * MIB);
	gc_collect_full(m);
	WANT(!opened && stats().limit_bytes == 256 * MIB);
	return heap_end();
}

/* Files are used up: the limit stays as it was, and no heap is created that would not have one. */
static int unread_run(void *arg)
{
	struct gc_heap *other;
	struct gc_error err;

	if (heap_begin(arg, 16))
		return 1;
	exhausted = true;
	gc_collect_full(m);
	WANT(stats().limit_bytes == 12 * MIB);
	WANT(gc_heap_create(&other, arg, NULL, &err) == -EMFILE && strstr(err.text, "limit=max"));
	exhausted = false;
	return heap_end();
}

/* Without max= the limit may become larger than the default of max=. */
static int raised_run(void *arg)
{
	if (sizeof(void *) < 8 || sysconf(_SC_PHYS_PAGES) < (long)(300 * MIB / 4096))
		return 0;
	if (heap_begin(arg, 16))
		return 1;
	limit_write(400);
	gc_collect_full(m);
	WANT(stats().limit_bytes == 300 * MIB);
	return heap_end();
}

static void plans_run(void)
{
	static const char *const plans[] = { "cms",   "cmsfly",	   "gencms",	"gss",
					     "immix", "marksweep", "semispace", "stickyimmix" };
	static const struct {
		const char *what;
		int (*run)(void *arg);
	} cases[] = {
		{ "live bytes stay below the limit", kept_run },
		{ "a limit that is lowered applies after a collection", lowered_run },
		{ "a limit is followed as allocation goes on", followed_run },
		{ "a limit below the live bytes refuses allocations", below_run },
		{ "the group that the process moved to counts", moved_run },
		{ "max= counts if it is lower", least_run },
		{ "a limit that cannot be read stays as it was", unread_run },
		{ "without max= the limit may grow", raised_run },
	};
	static char text[4096];
	char options[160];

	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		snprintf(options, sizeof(options), "plan=%s,trim=0,limit=cgroup", plans[i]);
		for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
			if (!ok(!child(cases[k].run, options, text, sizeof(text)), "%s: %s",
				plans[i], cases[k].what))
				printf("# %s\n", text);
	}
}

/* ---- the kernel's groups -------------------------------------------------- */

static bool text_put(const char *directory, const char *name, const char *text)
{
	char path[256];
	bool good;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return false;
	good = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	return !close(fd) && good;
}

/* As the only process of a group that is limited to 24 MiB, and then to 12 */
static int kernel_run(void *arg)
{
	const char *group = arg;

	WANT(text_put(group, "memory.max", "25165824"));
	WANT(text_put(group, "cgroup.procs", "0"));
	WANT(open_heap("plan=immix,trim=0,limit=cgroup"));
	node_type();
	GC_PUSH(m, f);
	WANT(stats().limit_bytes == 18 * MIB);
	WANT(list_grow(64 * MIB) < 18 * MIB);
	f.list = NULL;
	gc_collect_full(m);
	WANT(text_put(group, "memory.max", "12582912"));
	WANT(list_grow(64 * MIB) < 9 * MIB && stats().limit_bytes == 9 * MIB);
	GC_POP(m, f);
	stop();
	return 0;
}

/*
 * Only from the root group, which may have processes and groups at once: so in the guests of
 * tests/board, not among the services of a running system.
 */
static void kernel_group(void)
{
	static const char *const what = "the kernel's own group";
	char mount_at[] = "/tmp/gchint-cgroup2-XXXXXX", group[64], list[256] = "", own[64] = "";
	static char text[4096];
	FILE *file = __real_fopen("/proc/self/cgroup", "r");

	if (file) {
		while (fgets(own, sizeof(own), file) && strncmp(own, "0::", 3))
			;
		fclose(file);
	}
	if (geteuid() || strcmp(own, "0::/\n") || !mkdtemp(mount_at)) {
		ok(true, "%s # SKIP not root, or not in the root group of cgroups v2", what);
		return;
	}
	if (!mount("cgroup2", mount_at, "cgroup2", 0, NULL)) {
		snprintf(group, sizeof(group), "%s/cgroup.controllers", mount_at);
		file = __real_fopen(group, "r");
		if (file && !fgets(list, sizeof(list), file))
			*list = '\0';
		if (file)
			fclose(file);
	}
	snprintf(group, sizeof(group), "%s/gchint-test", mount_at);
	if (!strstr(list, "memory"))
		ok(true, "%s # SKIP cgroups v2 without the controller of memory", what);
	else if (!text_put(mount_at, "cgroup.subtree_control", "+memory") || mkdir(group, 0755))
		ok(true, "%s # SKIP no group can be created: %s", what, strerror(errno));
	else if (!ok(!child(kernel_run, group, text, sizeof(text)), "%s limits the heap", what))
		printf("# %s\n", text);
	rmdir(group);
	umount(mount_at);
	rmdir(mount_at);
}

int main(void)
{
	trees_read();
	plans_run();
	kernel_group();
	return done();
}

// SPDX-License-Identifier: MIT
/*
 * Names of methods, sent to the recorder when their code is loaded, otherwise written to the
 * directory in GCHINT_SYMBOLS, in the format that perf(1) reads: "START SIZE NAME", in
 * hexadecimal. Interpreted methods have addresses of a range that is mapped and cannot be
 * accessed, so that no code is ever there.
 *
 * Code is moved and unloaded while a program runs. Each line for code with an address of
 * its own follows a line "0 0 @NS": address 0 holds no code, and NS is the time
 * (CLOCK_MONOTONIC) from which the next line is valid.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "environ.h"
#include "stream.h"
#include "symbol.h"

#define METHODS	 (1u << 20) /* interpreted ones that get an address */
#define NAME_MAX 400

struct text {
	char s[2 * 64 + NAME_MAX];
	size_t length;
};

static void add_text(struct text *t, const char *s)
{
	while (*s && t->length < sizeof(t->s))
		t->s[t->length++] = *s++;
}

static void add_number(struct text *t, uint64_t n, unsigned int base)
{
	char digits[24], *at = &digits[sizeof(digits) - 1];

	*at = '\0';
	do
		*--at = "0123456789abcdef"[n % base];
	while (n /= base);
	add_text(t, at);
}

/* One line for one method, whatever its name. */
static void add_name(struct text *t, const char *name)
{
	char one[2] = "";
	size_t n;

	for (n = 0; n < NAME_MAX && name[n]; n++) {
		one[0] = (unsigned char)name[n] < ' ' || name[n] == 0x7f ? '?' : name[n];
		add_text(t, one);
	}
	if (!n)
		add_text(t, "?");
}

/* -1 unless it is a regular file of this user: the directory may be world-writable. */
static int open_map(pid_t pid, int flags)
{
	const char *directory = variable_read(VARIABLE_SYMBOLS);
	struct text path = { .length = 0 };
	struct stat st;
	int fd;

	if (!directory)
		return -1;
	add_text(&path, directory);
	add_text(&path, "/perf-");
	add_number(&path, (uint64_t)pid, 10);
	add_text(&path, ".map");
	if (path.length >= sizeof(path.s))
		return -1;
	path.s[path.length] = '\0';
	fd = open(path.s, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid()) {
		close(fd);
		return -1;
	}
	return fd;
}

/* One write(2), so that lines of several threads do not mix. */
static void map_append(const struct text *t)
{
	int fd = open_map(getpid(), O_WRONLY | O_CREAT | O_APPEND);

	if (fd < 0)
		return;
	/* On a full disk names are lost; the program goes on. */
	if (write(fd, t->s, t->length) < 0)
		errno = 0;
	close(fd);
}

static void symbol_write(uintptr_t address, size_t size, const char *name, int timed)
{
	struct text t = { .length = 0 };
	const int saved = errno;
	struct timespec now;

	if (!stream_is_open(&gchint_page.session) && !variable_read(VARIABLE_SYMBOLS))
		return;
	if (timed) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		add_text(&t, "0 0 @");
		add_number(&t, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec, 10);
		add_text(&t, "\n");
	}
	add_number(&t, address, 16);
	add_text(&t, " ");
	add_number(&t, size, 16);
	add_text(&t, " ");
	add_name(&t, name);
	add_text(&t, "\n");
	if (!stream_name(&gchint_page.session, t.s, t.length))
		map_append(&t);
	errno = saved;
}

/* The address range of interpreted methods, mapped at first use; 0 if that failed. */
static uintptr_t range_map(struct gchint_session *s)
{
	uintptr_t had = load_acquire(&s->methods);
	void *map;

	if (had)
		return had;
	map = mmap(NULL, METHODS, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return 0;
	if (cmpxchg_seq(&s->methods, &had, (uintptr_t)map))
		return (uintptr_t)map;
	munmap(map, METHODS);
	return had;
}

uintptr_t gchint_symbol_add(uintptr_t address, size_t size, const char *name)
{
	struct gchint_session *s = &gchint_page.session;
	const int saved = errno, timed = address != 0;
	uint32_t number;

	if (!address) {
		address = range_map(s);
		number = load_relaxed(&s->method);
		do {
			if (!address || number == METHODS) {
				errno = saved;
				return 0;
			}
		} while (!cmpxchg_seq(&s->method, &number, number + 1));
		address += number;
		size = 1;
	}
	symbol_write(address, size, name, timed);
	errno = saved;
	return address;
}

void gchint_symbol_remove(uintptr_t address, size_t size)
{
	if (address)
		symbol_write(address, size, "[unloaded]", 1);
}

/*
 * The child has the same code and the same address range. Names that the parent added
 * after the fork are copied too, before any that the child adds.
 */
void symbols_inherit(pid_t parent)
{
	const int saved = errno, from = open_map(parent, O_RDONLY);
	int to = from < 0 ? -1 : open_map(getpid(), O_WRONLY | O_CREAT | O_APPEND);
	char part[4096];
	ssize_t n;

	while (to >= 0 && (n = read(from, part, sizeof(part))) > 0)
		if (write(to, part, (size_t)n) < n)
			break;
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	errno = saved;
}

int gchint_is_profiled(void)
{
	return load_relaxed(&gchint_page.session.profiled);
}

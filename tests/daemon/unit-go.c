// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: Go programs that are observed from outside. The program's file is made here, the
 * hits of its probes are generated; the recorder's result is compared.
 */
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <uapi/linux/gchint.h>

#include "../../daemon/common/ring.h"
#include "../../daemon/gchintctl/launch/go.h"
#include "../../daemon/gchintctl/launch/probes.h"
#include "faults.h"
#include "place.h"
#include "records.h"

/*
 * The file: headers, names of sections, the table of functions, their code; and in a program of
 * Go 1.26 the runtime's module, and relocations.
 */
#define SECTIONS 0x200
#define STRINGS	 0x380
#define TABLE	 0x400
#define TABLE_OF 0x800 /* its length in bytes */
#define FUNCTAB	 0x100 /* from the table on */
#define NAMES	 0x300
#define CODE	 0x1000
#define CODE_OF	 0x100
#define ADDRESS	 0x401000
#define TEXT	 0x400fc0
#define FILE_OF	 0x1100
#define MODULE	 0x1100
#define WORDS	 25 /* a stray one, and those of the module */
#define RELA	 0x1200
#define MORE_OF	 0x1400
#define TABLE_AT 0x500400 /* addresses */
#define WORDS_AT 0x600000

static const char *const functions[] = {
	"runtime.gcBgMarkStartWorkers",
	"runtime.stopTheWorldWithSema",
	"runtime.startTheWorldWithSema",
	"runtime.gcMarkTermination",
	"runtime.gcBgMarkWorker.func2",
	"runtime.gcBgMarkWorker.func1",
	"runtime.gcMarkDone",
};
#define FUNCTIONS 7
enum {
	CYCLE,
	STOP,
	START,
	TERMINATION,
	MARK,
	PARK,
	DONE
};

static char file[MORE_OF];
static uint64_t opened[FUNCTIONS];
static unsigned int opens, closes;
static int refuse; /* errno of probes_open() */
static int recorder = -1;
static struct ring_reader ring;

static void file_set(size_t at, uint64_t value, size_t size)
{
	memcpy(file + at, &value, size);
}

static void section_write(unsigned int number, uint32_t name, uint64_t offset, uint64_t size)
{
	const Elf64_Shdr s = { .sh_name = name, .sh_offset = offset, .sh_size = size };

	memcpy(file + SECTIONS + number * sizeof(s), &s, sizeof(s));
}

static void file_make(void)
{
	const Elf64_Ehdr elf = { .e_ident = ELFMAG,
				 .e_phoff = sizeof(elf),
				 .e_phnum = 3,
				 .e_shoff = SECTIONS,
				 .e_shnum = 3,
				 .e_shstrndx = 2 };
	/* Neither a data section nor an unloaded one holds a function. */
	const Elf64_Phdr p[] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = ADDRESS, .p_filesz = CODE_OF },
		{ .p_type = PT_NOTE, .p_flags = PF_X, .p_vaddr = ADDRESS, .p_filesz = CODE_OF },
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_offset = CODE,
		  .p_vaddr = ADDRESS,
		  .p_filesz = CODE_OF },
	};
	size_t name = 1;

	memset(file, 0, sizeof(file));
	memcpy(file, &elf, sizeof(elf));
	memcpy(file + sizeof(elf), p, sizeof(p));
	memcpy(file + STRINGS, "\0.gopclntab\0.shstrtab\0.data.rel.ro", 35);
	section_write(1, 1, TABLE, TABLE_OF);
	section_write(2, 12, STRINGS, 36);
	file_set(TABLE, 0xfffffff1, 4);
	file[TABLE + 6] = 1;
	file[TABLE + 7] = 8;
	file_set(TABLE + 8, FUNCTIONS + 1, 8);
	file_set(TABLE + 24, TEXT, 8);
	file_set(TABLE + 32, NAMES, 8);
	file_set(TABLE + 64, FUNCTAB, 8);
	/* The last one is never probed. */
	for (size_t i = 0; i <= FUNCTIONS; i++) {
		const char *text = i < FUNCTIONS ? functions[i] : "runtime.gcMarkDoneAndMore";

		file_set(TABLE + FUNCTAB + 8 * i, 0x40 + 8 * i, 4);
		file_set(TABLE + FUNCTAB + 8 * i + 4, 0x80 + 16 * i, 4);
		file_set(TABLE + FUNCTAB + 0x80 + 16 * i + 4, name, 4);
		memcpy(file + TABLE + NAMES + name, text, strlen(text) + 1);
		name += strlen(text) + 1;
	}
}

/* A program of Go 1.26, whose module is in the file or in its relocations. */
static void make_module(bool relocated)
{
	const Elf64_Shdr words = { .sh_type = SHT_PROGBITS,
				   .sh_flags = SHF_ALLOC | SHF_WRITE,
				   .sh_addr = WORDS_AT,
				   .sh_offset = MODULE,
				   .sh_size = 8 * WORDS };
	const Elf64_Shdr relocations = { .sh_type = SHT_RELA,
					 .sh_flags = SHF_ALLOC,
					 .sh_offset = RELA,
					 .sh_size = 8 * sizeof(Elf64_Rela) };
	/* Where the module has an address, from its second word on in the file. */
	const struct {
		unsigned int word;
		uint64_t address;
	} all[] = {
		{ 0, TABLE_AT }, /* a stray one */
		{ 1, TABLE_AT },	   { 2, TABLE_AT + NAMES },   { 14, TABLE_AT + FUNCTAB },
		{ 21, ADDRESS },	   { 22, ADDRESS + CODE_OF }, { 23, TEXT },
		{ 24, ADDRESS + CODE_OF },
	};

	file_make();
	file_set(60, 5, 2);
	file_set(TABLE + 24, 0, 8);
	file_set(SECTIONS + 64 + 16, TABLE_AT, 8);
	memcpy(file + SECTIONS + 3 * 64, &words, sizeof(words));
	memcpy(file + SECTIONS + 4 * 64, &relocations, sizeof(relocations));
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const Elf64_Rela r = { .r_offset = WORDS_AT + 8 * all[i].word,
				       .r_info = ELF64_R_INFO(0, R_X86_64_RELATIVE),
				       .r_addend = (int64_t)all[i].address };

		if (relocated)
			memcpy(file + RELA + i * sizeof(r), &r, sizeof(r));
		else
			file_set(MODULE + 8 * all[i].word, all[i].address, 8);
	}
}

static void file_save(size_t size)
{
	FILE *f = fopen("program", "we");

	if (!f || fwrite(file, 1, size, f) != size || fclose(f))
		abort();
}

struct probes *__wrap_probes_open(const char *path, const uint64_t *offset, unsigned int count);
void __wrap_probes_close(struct probes *p);
uint64_t __wrap_probes_read(struct probes *p, bool last,
			    void (*hit)(void *data, const struct probe_hit *hit), void *data);

struct probes *__wrap_probes_open(const char *path, const uint64_t *offset, unsigned int count)
{
	if (strcmp(path, "program") || count != FUNCTIONS)
		abort();
	memcpy(opened, offset, sizeof(opened));
	errno = refuse;
	if (refuse)
		return NULL;
	opens++;
	return (struct probes *)&opens;
}

void __wrap_probes_close(struct probes *p)
{
	if (unit_watcher_owns(p))
		return;
	closes += p == (struct probes *)&opens;
}

static bool reason_is(const char *want)
{
	char why[256] = "";
	bool good = go_check("program", why, sizeof(why));

	if (good == !*want && !strcmp(why, want))
		return true;
	printf("# '%s', not '%s'\n", why, want);
	return false;
}

#define NONE                                                                                       \
	"a Go program, but its table of functions is not supported: only that of 64-bit programs " \
	"of Go 1.18 and newer is"
#define DAMAGED "a Go program, but its table of functions is damaged"
#define LACKS	"a Go program, but its runtime has not the functions that are probed"
#define NO_TEXT                                                                                    \
	"a Go program, but the address of its code is neither in its table of functions nor in "   \
	"its runtime's data"

/* A file with one changed number. */
static void damages_check(void)
{
	static const struct {
		size_t at;
		uint64_t value;
		size_t size;
		const char *want;
	} all[] = {
		{ TABLE, 0xfffffff0, 4, "" },
		{ TABLE, 0xfffffff2, 4, NONE },
		{ TABLE + 4, 1, 1, NONE },
		{ TABLE + 5, 1, 1, NONE },
		{ TABLE + 7, 4, 1, NONE },
		{ TABLE + 24, 0, 8, NO_TEXT },
		{ 0, 0, 1, NONE },
		{ 40, SECTIONS + 1, 8, NONE }, /* headers of sections */
		{ 40, FILE_OF - 2 * 64, 8, NONE },
		{ 40, UINT64_MAX - 7, 8, NONE },
		{ 60, 1, 2, NONE }, /* how many */
		{ 62, 3, 2, NONE }, /* and which has their names */
		{ SECTIONS + 64, 2, 4, NONE }, /* a name */
		{ SECTIONS + 64, 36, 4, NONE },
		{ SECTIONS + 64 + 24, TABLE + 4, 8, NONE }, /* where it is, and how long */
		{ SECTIONS + 64 + 24, FILE_OF - TABLE_OF + 8, 8, NONE },
		{ SECTIONS + 64 + 32, 71, 8, NONE },
		{ SECTIONS + 64 + 32, 72, 8, DAMAGED },
		{ TABLE + 64, TABLE_OF + 4, 8, DAMAGED },
		{ TABLE + 64, FUNCTAB + 2, 8, DAMAGED },
		{ TABLE + 8, (TABLE_OF - FUNCTAB) / 8 + 1, 8, DAMAGED },
		{ TABLE + 8, FUNCTIONS - 1, 8, LACKS }, /* one fewer */
		{ TABLE + 8, FUNCTIONS, 8, "" },
		{ TABLE + FUNCTAB + 4, TABLE_OF - FUNCTAB - 7, 4, DAMAGED },
		{ TABLE + FUNCTAB + 4, TABLE_OF - FUNCTAB + 1, 4, DAMAGED },
		{ TABLE + FUNCTAB + 4, TABLE_OF - FUNCTAB - 8, 4, LACKS },
		{ TABLE + FUNCTAB + 0x80 + 4, TABLE_OF - NAMES - 2, 4, LACKS },
		{ TABLE + FUNCTAB + 0x80 + 4, 0x7fffffff, 4, LACKS },
		{ TABLE + NAMES + 1, 'R', 1, LACKS },
		{ TABLE + FUNCTAB, 0x40 + CODE_OF, 4, LACKS }, /* behind the code */
		{ TABLE + FUNCTAB, 0x3f, 4, LACKS }, /* and before */
		{ TABLE + FUNCTAB, 0x3f + CODE_OF, 4, "" },
		{ 56, 2, 2, LACKS }, /* programs' headers */
		{ 56, 0xffff, 2, LACKS },
		{ 32, FILE_OF - 56, 8, LACKS },
	};
	bool good = true;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		file_make();
		file_set(all[i].at, all[i].value, all[i].size);
		file_save(FILE_OF);
		if (!reason_is(all[i].want)) {
			printf("# 0x%zx: %#" PRIx64 "\n", all[i].at, all[i].value);
			good = false;
		}
	}
	CHECK(good, "a damaged Go program is reported and not probed");
	CHECK(opens == closes && opens == 3, "a file stays open only while it is recognised");
}

static bool offsets_are_right(void)
{
	bool good = true;

	for (uint64_t i = 0; i < FUNCTIONS; i++)
		good = good && opened[i] == CODE + 8 * i;
	memset(opened, 0, sizeof(opened));
	return good;
}

/* Go 1.26: what is changed in the module, or in its relocations. */
static void modules_check(void)
{
	static const struct {
		bool relocated;
		size_t at;
		uint64_t value;
		size_t size;
		const char *want;
	} all[] = {
		{ false, MODULE, 0, 8, "" },
		{ false, MODULE + 8 * 1, TABLE_AT + 8, 8, NO_TEXT },
		{ false, MODULE + 8 * 2, TABLE_AT, 8, NO_TEXT },
		{ false, MODULE + 8 * 14, TABLE_AT, 8, NO_TEXT },
		{ false, MODULE + 8 * 21, TEXT - 1, 8, NO_TEXT },
		{ false, MODULE + 8 * 22, ADDRESS + CODE_OF + 1, 8, NO_TEXT },
		{ false, MODULE + 8 * 23, 0, 8, NO_TEXT },
		{ false, MODULE + 8 * 23, TEXT + CODE_OF, 8,
		  NO_TEXT }, /* behind its first function */
		{ false, SECTIONS + 64 + 16, TABLE_AT + 8, 8, NO_TEXT }, /* another table */
		{ false, SECTIONS + 3 * 64 + 8, SHF_ALLOC, 8, NO_TEXT }, /* not written to */
		{ false, SECTIONS + 3 * 64 + 24, MORE_OF, 8, NO_TEXT }, /* behind the file's end */
		{ false, SECTIONS + 3 * 64 + 32, 8 * WORDS - 8, 8, NO_TEXT }, /* one word less */
		{ true, RELA + 24 * 1, WORDS_AT, 8, NO_TEXT },
		{ true, RELA + 24 * 1 + 8, (uint64_t)1 << 32, 8, NO_TEXT }, /* of a symbol */
		{ true, RELA + 24 * 6 + 16, 0, 8, NO_TEXT },
		{ true, SECTIONS + 4 * 64 + 4, SHT_REL, 4, NO_TEXT },
		{ true, SECTIONS + 4 * 64 + 32, MORE_OF, 8, NO_TEXT },
	};
	bool good = true;

	make_module(false);
	file_save(MORE_OF);
	CHECK(reason_is("") && offsets_are_right(),
	      "a module in the file has the address of the code");
	make_module(true);
	file_save(MORE_OF);
	CHECK(reason_is("") && offsets_are_right(), "so has one in the relocations");
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		make_module(all[i].relocated);
		file_set(all[i].at, all[i].value, all[i].size);
		file_save(MORE_OF);
		if (!reason_is(all[i].want)) {
			printf("# 0x%zx: %#" PRIx64 "\n", all[i].at, all[i].value);
			good = false;
		}
	}
	CHECK(good, "what is no module, or another's, is not taken for one");
}

static int descriptor_lowest(void)
{
	int fd = dup(STDOUT_FILENO);

	close(fd);
	return fd;
}

static void programs_check(void)
{
	const int fd = descriptor_lowest();
	bool good;

	file_make();
	file_save(FILE_OF);
	CHECK(reason_is("") && opens == 1 && closes == 1, "a Go program is found");
	CHECK(offsets_are_right(), "the offsets of its functions are found");
	memcpy(file + STRINGS, "\0.data.rel.ro.gopclntab", 24);
	section_write(1, 1, TABLE - 64, TABLE_OF);
	file_save(FILE_OF);
	CHECK(reason_is(""), "a table behind other data and under the second name is found");
	memcpy(file + STRINGS, "\0.data.rel.ro\0........", 22);
	file_save(FILE_OF);
	CHECK(reason_is(""), "a table under the third name is found");
	opens = closes = 0;
	damages_check();
	modules_check();
	file_make();
	file_save(64);
	good = reason_is(NONE);
	file_save(63);
	CHECK(good && reason_is("a Go program, but it cannot be read"),
	      "a truncated file is reported");
	file_save(FILE_OF);
	refuse = EACCES;
	good = reason_is(
		"a Go program, which is seen by uprobes: root or CAP_SYS_ADMIN is needed for that");
	refuse = EPERM;
	good = good &&
	       reason_is("a Go program, which is seen by uprobes: root or CAP_SYS_ADMIN is needed "
			 "for that");
	refuse = ENOENT;
	CHECK(good && reason_is(
			      "a Go program, which is seen by uprobes: No such file or directory"),
	      "an error of the kernel is reported");
	refuse = 0;
	unlink("program");
	CHECK(reason_is("a Go program, but it cannot be read"), "a missing file is reported");
	CHECK(descriptor_lowest() == fd, "no file stays open");
}

static const struct hit {
	int probe, tid, stranger;
} hits[] = {
	/* A stop that is not the collector's is not reported. */
	{ STOP, 1, 0 },
	{ START, 1, 0 },
	/* A cycle: sweep termination, marking on two threads, mark termination. */
	{ CYCLE, 1, 0 },
	{ STOP, 1, 0 },
	{ STOP, 9, 1 },
	{ START, 2, 0 },
	{ MARK, 3, 0 },
	{ MARK, 3, 0 },
	{ MARK, 4, 0 },
	{ PARK, 4, 0 },
	{ DONE, 3, 0 },
	{ DONE, 3, 0 },
	{ STOP, 2, 0 },
	{ TERMINATION, 5, 0 },
	{ TERMINATION, 5, 0 },
	{ START, 6, 0 },
	/* The next stop belongs to no cycle, and there is no mark termination without a stop. */
	{ TERMINATION, 6, 0 },
	{ STOP, 7, 0 },
	{ START, 7, 0 },
	{ START, 7, 0 },
};
static const char wanted[] = "attach 0 of 1, 400 cpu 4\n"
			     "phase 0 of 1: sweep 1, 400 cpu 4\n"
			     "phase 0 of 1: none 0, 600 cpu 6\n"
			     "attach 1 of 3, 700 cpu 7\n"
			     "phase 1 of 3: mark 2, 700 cpu 7\n"
			     "attach 2 of 4, 900 cpu 9\n"
			     "phase 2 of 4: mark 2, 900 cpu 9\n"
			     "phase 2 of 4: none 0, 1000 cpu 10\n"
			     "phase 1 of 3: none 0, 1100 cpu 11\n"
			     "attach 3 of 2, 1300 cpu 13\n"
			     "phase 3 of 2: remark 1, 1300 cpu 13\n"
			     "phase 3 of 2: none 0, 1600 cpu 16\n"
			     "close 0 of 0, 5000 cpu -1\n";

static bool many; /* threads, more than there are slots */
static unsigned int looks;
static bool closed; /* its end was reported before the last poll */

uint64_t __wrap_probes_read(struct probes *p, bool last,
			    void (*hit)(void *data, const struct probe_hit *hit), void *data)
{
	const char *why;

	if (unit_watcher_owns(p))
		return unit_watcher_read(last, hit, data);
	if (p != (struct probes *)&opens)
		abort();
	/* A program that runs until it has been polled. */
	if (!last) {
		place_file("seen", "");
		return 0;
	}
	/* The program announced its own source. */
	if (ring_receive(recorder, &ring, &why))
		return 0;
	for (int i = 0; many && i < RING_LEASES + 2; i++)
		hit(data, &(struct probe_hit){ .pid = ring.map->pid, .tid = 1 + i, .probe = MARK });
	for (size_t i = 0; !many && i < sizeof(hits) / sizeof(hits[0]); i++)
		hit(data, &(struct probe_hit){ .time = 100 * (i + 1),
					       .pid = ring.map->pid + hits[i].stranger,
					       .tid = hits[i].tid,
					       .cpu = (uint32_t)i + 1,
					       .probe = (unsigned int)hits[i].probe });
	return 3;
}

static void event_format(const struct gchint_stream_event *e, char *text, size_t size)
{
	static const char *const types[] = { "?", "phase", "attach", "role", "detach", "close" };
	static const char *const phases[GCHINT_PHASE_NR] = { [GCHINT_PHASE_NONE] = "none",
							     [GCHINT_PHASE_SWEEP] = "sweep",
							     [GCHINT_PHASE_MARK] = "mark",
							     [GCHINT_PHASE_REMARK] = "remark" };
	const size_t at = strlen(text);
	char phase[40] = "";

	if (e->type == GCHINT_STREAM_PHASE)
		snprintf(phase, sizeof(phase), ": %s %u", phases[e->phase], e->flags);
	snprintf(text + at, size - at, "%s %u of %d%s, %" PRIu64 " cpu %d%s\n", types[e->type],
		 e->slot, e->tid, phase, (uint64_t)e->time, (int)e->cpu,
		 e->cause == GCHINT_CAUSE_UNKNOWN && e->role == GCHINT_ROLE_NONE && !e->work_done &&
				 !e->work_total && !e->stall_ns ?
			 "" :
			 ", more");
}

static void on_setup(void *data)
{
	setenv("OF_A_CHILD", data, 1);
}

static void on_look(void *data)
{
	looks += !strcmp(data, "child's");
	closed = ring.map && ring.map->tail &&
		 ring.map->event[ring.map->tail - 1].type == GCHINT_STREAM_CLOSE;
}

/* Its exit status; its output is in @text, the number of its events in @events. */
static int command_events(const char *command, char *text, size_t size, unsigned int *events)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)command, NULL };
	struct gchint_stream_event e;
	sigset_t none;
	struct child child = { .argv = argv,
			       .taken = &none,
			       .setup = on_setup,
			       .poll = on_look,
			       .data = (char *)"child's" };
	enum ring_found found;
	int status;

	sigemptyset(&none);
	text[0] = '\0';
	*events = 0;
	looks = 0;
	faults.at_ns = 5000;
	status = go_run("program", &child, "socket");
	faults.at_ns = 0;
	while (ring.map && (found = ring_next(&ring, &e, true)) != RING_EMPTY) {
		if (found == RING_EVENT && ++*events < 100)
			event_format(&e, text, size);
	}
	return status;
}

static void forget_ring(void)
{
	if (ring.map)
		ring_close(&ring);
	ring.map = NULL;
}

static void runs_check(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = "socket" };
	const int on = 1;
	char text[4096];
	unsigned int events;

	recorder = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (bind(recorder, (const void *)&to, sizeof(to)) ||
	    setsockopt(recorder, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)))
		abort();
	file_make();
	file_save(FILE_OF);
	opens = closes = 0;
	CHECK(command_events("[ \"$OF_A_CHILD\" = \"child's\" ] && exit 7", text, sizeof(text),
			     &events) == 7,
	      "a probed program runs and its exit status is returned");
	text_is(text, wanted, "events of a Go program become phases of a collector");
	CHECK(opens == 1 && closes == 1, "probes end with the program");
	CHECK(looks && closed, "the recorder is polled once more at the end");
	CHECK(ring.map && ring.map->features == GCHINT_STREAM_EXTERNAL &&
		      ring.map->abi == GCHINT_STREAM_ABI && ring_lost(&ring) == 3,
	      "the stream names its source and counts lost events");
	forget_ring();
	many = true;
	command_events("exit 0", text, sizeof(text), &events);
	many = false;
	CHECK(events == 2 * RING_LEASES + 1 && ring.map && ring_lost(&ring) == 3,
	      "events of more threads than slots are dropped and counted");
	forget_ring();
	unlink("seen");
	CHECK(command_events("for i in $(seq 100); do [ -e seen ] && exit 8; sleep 0.1; done", text,
			     sizeof(text), &events) == 8 &&
		      looks > 1,
	      "the program and its recorder are polled while it runs");
	forget_ring();
	refuse = EPERM;
	CHECK(command_events("exit 3", text, sizeof(text), &events) == 3 && !*text,
	      "a program that cannot be probed still runs");
	refuse = 0;
	close(recorder);
	recorder = -1;
	unlink("socket");
	CHECK(command_events("exit 4", text, sizeof(text), &events) == 4,
	      "a program without a recorder still runs");
}

void unit_go(void)
{
	struct place place;

	if (!place_enter(&place))
		return;
	programs_check();
	runs_check();
	place_leave(&place);
}

// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "repro/sampled.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT 32

static struct {
	char key[640];
	struct sampled result;
} kept[KEPT];
static size_t keeping;

/* One sample, from its innermost frame on. */
struct stack {
	bool any, native, collecting, method, named, first;
};

/* "ADDRESS NAME (IMAGE)", as perf script has it. */
static void take_frame(struct stack *s, char *line)
{
	char *image = strrchr(line, '('), *name = line + strspn(line, "\t ");

	name += strcspn(name, " ");
	if (!image || image <= name)
		return;
	if (!strncmp(image, "([methods])", 11)) {
		s->method = true;
		s->named = strstr(name, " [methods.c:") != NULL;
		s->first = strstr(name, " [methods.c:1] ") != NULL;
	} else if (!strncmp(image, "([phases])", 10)) {
		s->collecting = true;
	} else if (!s->any) {
		s->native = strncmp(image, "(gchint-bench)", 14) != 0;
	}
	s->any = true;
}

static void take_sample(struct sampled *out, const struct stack *s)
{
	const bool method = s->method && !s->collecting;

	if (!s->any)
		return;
	out->all++;
	out->native += s->native;
	out->interpreter += !s->native;
	out->collecting += s->collecting;
	out->method += method;
	out->own += method && !s->native;
	out->called += method && s->native;
	out->named += method && !s->native && s->named;
	out->first += method && s->first;
}

static void read_script(FILE *f, struct sampled *s)
{
	struct stack stack = { 0 };
	char *line = NULL;
	size_t room = 0;

	memset(s, 0, sizeof(*s));
	while (getline(&line, &room, f) > 0) {
		if (*line == '\t') {
			take_frame(&stack, line);
		} else if (*line == '\n') {
			take_sample(s, &stack);
			stack = (struct stack){ 0 };
		}
	}
	take_sample(s, &stack);
	free(line);
}

/* "a=1 b=2" as " '--a=1' '--b=2'" */
static void add_words(char *text, size_t size, const char *words)
{
	char copy[512], *save = NULL;
	size_t used = strlen(text);

	snprintf(copy, sizeof(copy), "%s", words);
	for (char *word = strtok_r(copy, " ", &save); word && used < size;
	     word = strtok_r(NULL, " ", &save))
		used += (size_t)snprintf(text + used, size - used, " '--%s'", word);
}

/* The path of a program in the same directory as this one. */
static bool find_program(struct outcome *o, char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 1);
	char *slash;

	path[n > 0 ? n : 0] = 0;
	slash = strrchr(path, '/');
	if (!slash || (size_t)(slash - path) + sizeof("/gchint-bench") > size ||
	    strchr(path, '\'')) {
		failed(o, "gchint-bench is not in the directory of this program");
		return false;
	}
	strcpy(slash, "/gchint-bench");
	return true;
}

static bool profile_run(struct outcome *o, const char *file, const char *words, const char *heap,
			const char *record, struct sampled *s)
{
	const char *set = getenv("GCHINTCTL"), *ctl = set && *set ? set : GCHINTCTL;
	char program[400], command[2400] = "";
	FILE *f;
	int n;

	if (!find_program(o, program, sizeof(program)))
		return false;
	if (access(ctl, X_OK)) {
		failed(o, "%s: not there: make daemon builds it", ctl);
		return false;
	}
	n = snprintf(command, sizeof(command), "'%s' profile record -q -o '%s'", ctl, file);
	add_words(command, sizeof(command), record);
	n = (int)strlen(command);
	snprintf(command + n, sizeof(command) - (size_t)n,
		 " -- '%s' methods --listener=all '--gc=%s'", program, heap);
	add_words(command, sizeof(command), words);
	strncat(command, " >/dev/null 2>&1", sizeof(command) - strlen(command) - 1);
	n = system(command);
	/* A filter that leaves no sample is an error for people, and here a finding. */
	if (*record && WIFEXITED(n) && WEXITSTATUS(n) == 1 && !access(file, R_OK))
		n = 0;
	if (n) {
		failed(o, "%s: exit status %d", command, WIFEXITED(n) ? WEXITSTATUS(n) : -1);
		return false;
	}
	snprintf(command, sizeof(command),
		 "'%s' profile export --format perf-script '%s' 2>/dev/null", ctl, file);
	f = popen(command, "re");
	if (!f) {
		failed(o, "%s: cannot be run", command);
		return false;
	}
	read_script(f, s);
	pclose(f);
	return true;
}

bool sampled(struct outcome *o, const char *setting, const char *heap, const char *record,
	     struct sampled *s)
{
	char words[256], options[256], how[128], key[640], directory[] = "/tmp/gchint-repro.XXXXXX";
	char file[64];
	bool good;

	probe_setting(o, setting, words, sizeof(words));
	probe_setting(o, heap, options, sizeof(options));
	probe_setting(o, record, how, sizeof(how));
	snprintf(key, sizeof(key), "%s|%s|%s", words, options, how);
	for (size_t i = 0; i < keeping; i++) {
		if (!strcmp(kept[i].key, key)) {
			*s = kept[i].result;
			return true;
		}
	}
	if (!mkdtemp(directory)) {
		failed(o, "%s: cannot be created", directory);
		return false;
	}
	snprintf(file, sizeof(file), "%s/p.db", directory);
	good = profile_run(o, file, words, options, how, s);
	unlink(file);
	rmdir(directory);
	if (good && keeping < KEPT) {
		memcpy(kept[keeping].key, key, sizeof(key));
		kept[keeping++].result = *s;
	}
	return good;
}

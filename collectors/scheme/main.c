// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scheme.h"

static void usage(FILE *out)
{
	fputs("usage: scheme [--heap OPTIONS] [FILE]...\n"
	      "Runs programs in a small Scheme; without a file, from standard input.\n"
	      "OPTIONS of the collectors: \"plan=immix,max=64M\", "
	      "\"plan=gss,verify=all,stress=64K\".\n"
	      "Exit: 0 done, 1 the program or its heap is wrong, 2 usage, 3 a file cannot be "
	      "read.\n",
	      out);
}

static int run_file(struct vm *vm, const char *path)
{
	FILE *in = path ? fopen(path, "re") : stdin;
	volatile int ret = 0;

	if (!in) {
		fprintf(stderr, "scheme: %s: %s\n", path, strerror(errno));
		return 3;
	}
	if (setjmp(vm->failed)) {
		fflush(stdout);
		fprintf(stderr, "scheme: %s%s%s\n", path ? path : "", path ? ": " : "", vm->error);
		ret = 1;
	} else {
		load(vm, in, NULL);
	}
	if (path)
		fclose(in);
	return ret;
}

int main(int argc, char **argv)
{
	const char *options = NULL;
	struct vm *vm = calloc(1, sizeof(*vm));
	int ret = 0, i = 1;

	if (i < argc && !strcmp(argv[i], "--help"))
		return usage(stdout), free(vm), 0;
	if (i + 1 < argc && !strcmp(argv[i], "--heap")) {
		options = argv[i + 1];
		i += 2;
	}
	if (i < argc && argv[i][0] == '-')
		return usage(stderr), free(vm), 2;
	if (!vm || vm_open(vm, options)) {
		fprintf(stderr, "scheme: %s\n", vm && *vm->error ? vm->error : "no heap");
		free(vm);
		return 1;
	}
	do
		ret = run_file(vm, argv[i]);
	while (!ret && argv[i] && argv[++i]);
	vm_close(vm);
	free(vm);
	return ret;
}

# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# wild: a Python that a program loads later has its adapter
# source: https://github.com/benfred/py-spy/issues/42
# needs: gcc libpython
# when: gate
cat >late.c <<'EOC'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	void *python = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
	void (*start)(void) = python ? (void (*)(void))dlsym(python, "Py_Initialize") : NULL;
	int (*run)(const char *) = python ? (int (*)(const char *))dlsym(python, "PyRun_SimpleString") : NULL;

	if (!start || !run)
		return 1;
	start();
	return run("import gc\nfor _ in range(20): gc.collect()\n") ? 1 : 7;
}
EOC
gcc -o late late.c -ldl
status 7 "$ctl" run -- ./late "$(ldconfig -p | sed -n 's/.*\(libpython3\.[0-9]*\.so[^ ]*\) .*/\1/p' | head -n 1)"
[ "$(sed -n 's/^gchintctl: \([0-9]*\) phases.*/\1/p' err)" -ge 20 ]

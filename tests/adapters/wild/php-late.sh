# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2016
# wild: a PHP that a program loads later, as Apache does, is recorded
# source: https://github.com/open-telemetry/opentelemetry-ebpf-profiler/issues/610
# needs: libphp gcc
# when: gate
library=$(ls /usr/lib/libphp8*.so | head -n 1)
cat >embed.c <<'EOC'
#include <dlfcn.h>
int main(int argc, char **argv)
{
	void *php = dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL);
	int (*init)(int, char **) = (int (*)(int, char **))dlsym(php, "php_embed_init");
	int (*eval)(const char *, void *, const char *) = (int (*)(const char *, void *, const char *))dlsym(php, "zend_eval_string");
	void (*end)(void) = (void (*)(void))dlsym(php, "php_embed_shutdown");

	if (init(argc, argv))
		return 1;
	eval("for ($i = 0; $i < 3; $i++) { $a = new stdClass; $a->a = $a; unset($a); echo gc_collect_cycles(); }", 0, "code");
	end();
	return 7;
}
EOC
gcc -DLIBRARY="\"$library\"" -o embed embed.c -ldl
status 7 "$ctl" run -- ./embed
[ "$(cat out)" = 111 ]
has err '^gchintctl: 3 phases'

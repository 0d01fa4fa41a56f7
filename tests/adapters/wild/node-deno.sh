# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# wild: a runtime that takes Node's options and addons, such as Deno or Bun, loads nothing and is refused by its name
# source: https://github.com/denoland/deno/issues/31154
# needs: node gcc
# when: gate
# What Deno shows: the functions of addons, and not that which starts Node.
printf '#include <stdio.h>\nvoid napi_module_register(void *m) { (void)m; }\nint main(void) { puts("ran"); return 7; }\nconst char *const name = "%s";\n' DENO_DIR >deno.c
sed s/DENO_DIR/BUN_INSTALL/ deno.c >bun.c
gcc -rdynamic -o deno deno.c
gcc -rdynamic -o node bun.c
for name in deno:Deno node:Bun; do
	status 7 "$ctl" run -- "./${name%:*}"
	[ "$(cat out)" = ran ]
	has err "${name#*:}, which has no adapter"
done
# In such a runtime the file that Node preloads asks for nothing: dlopen() would be a question to the user.
cat >other.cjs <<'EOJ'
process.dlopen = () => { console.log('asked'); throw new Error('asked'); };
if (process.env.VERSION)
	Object.defineProperty(process, 'versions', { value: { ...process.versions, [process.env.VERSION]: '2.9' } });
EOJ
NODE_OPTIONS="--require $PWD/other.cjs" && export NODE_OPTIONS
status 0 "$ctl" run -- node -e 0
has out asked
for VERSION in deno bun; do
	export VERSION
	status 0 "$ctl" run -q -- node -e 0 || status 1 "$ctl" run -q -- node -e 0
	lacks out asked
	lacks err libgchint-node
done

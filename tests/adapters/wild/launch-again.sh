# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2016
# wild: a program that is executed again for its adapter keeps its name, its ID, its input and its environment
# source: https://github.com/adoptium/containers/issues/153
# needs: php guile-3.0 gjs java javac
# when: gate
echo 'class S { public static void main(String[] a) { System.gc(); System.exit(7); } }' >S.java
javac S.java
ln -s "$(command -v php)" renamed
code='$a = new stdClass; $a->a = $a; unset($a); gc_collect_cycles();
	echo getmypid(), " ", trim(file_get_contents("/proc/self/comm")), " ", trim(fgets(STDIN)), " ", getenv("LD_PRELOAD"), getenv("GCHINT_LAUNCH_AGAIN"); exit(7);'
echo "$code" >code
"$ctl" run -- sh -c 'echo $$; echo input | exec ./renamed -r "$(cat code)"' >out 2>err || [ $? -eq 7 ]
has err '[1-9][0-9]* phase'
has out '^[0-9]* renamed input [^ ]*/libgchint-launch.so$'
status 7 "$ctl" run -- sh -c 'exec guile-3.0 --no-auto-compile -c "(gc) (exit 7)"'
has err '[1-9][0-9]* phase'
status 7 "$ctl" run -- sh -c 'exec gjs -c "imports.system.gc(); imports.system.exit(7)"'
has err '[1-9][0-9]* phase'
# No line of the JVM's on standard error, which scripts read.
java -version 2>without
status 7 "$ctl" run -- sh -c 'java -version 2>with; exec java -cp . S'
cmp with without
has err '[1-9][0-9]* phase'

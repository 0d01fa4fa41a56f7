# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# wild: a JVM uses and writes its archives of classes as without an agent
# source: https://bugs.openjdk.org/browse/JDK-8265604
# needs: java javac
# when: all
echo 'class S { public static void main(String[] a) { System.gc(); System.out.println("done"); System.exit(7); } }' >S.java
javac S.java
for archive in -Xshare:auto -XX:ArchiveClassesAtExit=new.jsa @options; do
	echo -XX:ArchiveClassesAtExit=from-file.jsa >options
	status 7 "$ctl" run -- java "$archive" -Xlog:class+load:file=loaded -cp . S
	has out '^done$'
	lacks err 'CDS dumping'
done
[ -s new.jsa ] && [ -s from-file.jsa ]
status 7 "$ctl" run -- sh -c "java -XX:ArchiveClassesAtExit=by-shell.jsa -cp . S; exit \$?"
[ -s by-shell.jsa ]
# All classes of the archive come from it, and there are hints.
status 7 java -XX:SharedArchiveFile=new.jsa -Xlog:class+load:file=without -cp . S
status 7 "$ctl" run -- java -XX:SharedArchiveFile=new.jsa -Xlog:class+load:file=with -cp . S
has err '[0-9] phase'
[ "$(grep -c 'shared objects file (top)' with)" -ge "$(grep -c 'shared objects file (top)' without)" ]

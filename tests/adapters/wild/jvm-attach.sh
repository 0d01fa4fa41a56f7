# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# wild: an attach that a JVM refuses fails at once, with the JVM's reason
# source: https://github.com/async-profiler/async-profiler/issues/885
# needs: dynamic-agents java javac
# when: all
echo 'class S { public static void main(String[] a) throws Exception { new java.io.File("ready").createNewFile(); Thread.sleep(600000); } }' >S.java
javac S.java
java -XX:-EnableDynamicAgentLoading -cp . S &
pid=$!
for _ in $(seq 1000); do [ ! -e ready ] || break; sleep 0.1; done
result=0
status 1 "$ctl" record -o a.db -- "$ctl" attach --wait $pid || result=1
kill $pid
[ $result = 0 ]
has err 'did not load the adapter: Dynamic agent loading is not enabled'
has err 'nothing was recorded'
[ ! -e a.db ]

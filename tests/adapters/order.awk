# SPDX-License-Identifier: MIT
# order.awk - hold a trace against an order automaton, thread by thread.
#
# The automaton is set by -v edges='FROM>TO ...': which phase (or none) may be
# followed by which, by "begin" lines; none after the last "end".
# Lines that are not phases are counted only. Complains and exits 1 on: a begin
# that the automaton does not have, an end of a phase that is not open, a phase open
# at the end of the trace (but for the threads in -v cut='TID ...').
BEGIN {
	n = split(edges, list, " ")
	for (i = 1; i <= n; i++)
		may[list[i]] = 1
	n = split(cut, list, " ")
	for (i = 1; i <= n; i++)
		left[list[i]] = 1
}
{ thread = $2 ":" $3 }
$4 == "begin" {
	from = depth[thread] ? open[thread, depth[thread]] : (ended[thread] != "" ? ended[thread] : "none")
	if (!((from ">" $5) in may) && !(("none>" $5) in may && !depth[thread])) {
		print "line " NR ": " from " > " $5 " is not in order: " $0
		bad++
	}
	open[thread, ++depth[thread]] = $5
	begins[$5]++
}
$4 == "end" {
	if (!depth[thread] || open[thread, depth[thread]] != $5) {
		print "line " NR ": end without its begin: " $0
		bad++
	} else {
		depth[thread]--
	}
	ended[thread] = $5
}
END {
	for (thread in depth) {
		split(thread, id, ":")
		if (depth[thread] && !(id[2] in left)) {
			print "thread " thread " ends in phase " open[thread, depth[thread]]
			bad++
		}
	}
	for (phase in begins)
		print phase "=" begins[phase]
	exit bad > 0
}

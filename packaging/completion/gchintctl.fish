# fish completion for gchintctl
# SPDX-License-Identifier: GPL-2.0-or-later

set -l commands actuator annotations attach calibrate compare doctor export help import measure profile record report run runtimes status summary top watch why

function __gchintctl_needs
    not __fish_seen_subcommand_from $argv
end

complete -c gchintctl -f
complete -c gchintctl -n "__gchintctl_needs $commands" -l json -d 'machine-readable output'
complete -c gchintctl -n "__gchintctl_needs $commands" -l no-pager -d 'do not use a pager'
complete -c gchintctl -n "__gchintctl_needs $commands" -s h -l help -d 'commands and options'
complete -c gchintctl -n "__gchintctl_needs $commands" -s V -l version
for line in 'attach	load the adapter into a running JVM or .NET program' 'calibrate	measure the power of each frequency of each core type' \
        'compare	compare two sets of runs' \
        'doctor	archive with all data for a bug report' 'export	export a recording in another format' 'help	describe a command and its options' \
        'import	make a recording from GCHINT_TRACE files' 'annotations	list annotations, or add one' \
        'measure	measure a command, alone or against a baseline' \
        'profile	CPU time by method, phase, frequency and energy' \
        'record	record while a command runs' 'report	one page with plots and tables' \
        'run	run with the adapter of its runtime' 'runtimes	list known runtimes' \
        'status	board, governor, policies, sessions, rails' 'summary	tables of one recording' \
        'top	live view of a recording' 'actuator	how hints act on this machine' \
        'watch	print the state of a policy each second' 'why	reasons for the frequency, and the longest pauses'
    set -l fields (string split \t -- $line)
    complete -c gchintctl -n "__gchintctl_needs $commands" -a $fields[1] -d $fields[2]
end

function __gchintctl_in -a command
    __fish_seen_subcommand_from $command
end

for command in annotations compare export import profile report summary top why
    complete -c gchintctl -n "__gchintctl_in $command" -F
end
for command in annotations compare measure runtimes status summary top watch
    complete -c gchintctl -n "__gchintctl_in $command" -l json -d 'machine-readable output'
end
complete -c gchintctl -n '__gchintctl_in help' -a "$commands"
complete -c gchintctl -n '__gchintctl_in attach' -a "(gchintctl attach 2>/dev/null | awk '\$NF == \"yes\" { print \$1 }')"
complete -c gchintctl -n '__gchintctl_in attach' -r -l probe -d 'PHASE=FILE:FUNCTION, or a file of these'
complete -c gchintctl -n '__gchintctl_in attach' -s w -l wait -d 'wait until the program ends'
complete -c gchintctl -n '__gchintctl_in calibrate' -s F -l forget -d 'remove the measured powers from the module'
complete -c gchintctl -n '__gchintctl_in calibrate' -r -s l -l load -d 'load a calibration into the module'
complete -c gchintctl -n '__gchintctl_in calibrate' -r -s o -l output -d 'the calibration file'
complete -c gchintctl -n '__gchintctl_in calibrate' -x -s r -l rail -d 'rail of the CPUs'
complete -c gchintctl -n '__gchintctl_in calibrate' -x -s n -l repeats -d 'number of measurements'
complete -c gchintctl -n '__gchintctl_in calibrate' -x -s s -l settle -d 'delay of the rail, ms'
complete -c gchintctl -n '__gchintctl_in calibrate' -x -s w -l window -d 'length of each measurement, ms'
complete -c gchintctl -n '__gchintctl_in compare' -s b -l brief -d 'energy, time and pauses only'
complete -c gchintctl -n '__gchintctl_in doctor' -r -F -s o -l output -d 'the archive'
complete -c gchintctl -n '__gchintctl_in doctor' -x -s r -l rounds -d 'number of runs of each program'
complete -c gchintctl -n '__gchintctl_in export' -x -s f -l format -a 'chrome-trace csv firefox jsonl openmetrics perfetto prometheus'
complete -c gchintctl -n '__gchintctl_in export' -r -F -s o -l output -d 'where to'
complete -c gchintctl -n '__gchintctl_in export' -x -s t -l table -d 'of csv'
complete -c gchintctl -n '__gchintctl_in import' -r -F -s o -l output -d 'the recording'
complete -c gchintctl -n '__gchintctl_in import' -x -s l -l label -d 'name of the run'
complete -c gchintctl -n '__gchintctl_in annotations' -x -s a -l add -d 'text of the annotation'
complete -c gchintctl -n '__gchintctl_in annotations' -r -F -s s -l socket -d 'socket of the running recorder'
complete -c gchintctl -n '__gchintctl_in measure' -x -s b -l baseline -a '(__fish_complete_command)' -d 'compare with this command'
complete -c gchintctl -n '__gchintctl_in measure' -x -s n -l runs -d 'measured runs of each'
complete -c gchintctl -n '__gchintctl_in measure' -x -s w -l warmup -d 'runs of each that are not measured'
complete -c gchintctl -n '__gchintctl_in measure' -x -l prepare -a '(__fish_complete_command)' -d 'run before each run'
complete -c gchintctl -n '__gchintctl_in measure' -x -l setup -a '(__fish_complete_command)' -d 'run once, before all runs'
complete -c gchintctl -n '__gchintctl_in measure' -x -l conclude -a '(__fish_complete_command)' -d 'run after each run'
complete -c gchintctl -n '__gchintctl_in measure' -x -l cleanup -a '(__fish_complete_command)' -d 'run once, after all runs'
complete -c gchintctl -n '__gchintctl_in measure' -x -s P -l parameter-scan -d 'a command for each number'
complete -c gchintctl -n '__gchintctl_in measure' -x -s D -l parameter-step-size -d 'step of the scan'
complete -c gchintctl -n '__gchintctl_in measure' -x -s L -l parameter-list -d 'a command for each value'
complete -c gchintctl -n '__gchintctl_in measure' -r -F -l export-json -d 'write all values'
complete -c gchintctl -n '__gchintctl_in measure' -r -F -l export-csv -d 'write a line for each value'
complete -c gchintctl -n '__gchintctl_in measure' -r -F -l export-markdown -d 'write a table for each figure'
complete -c gchintctl -n '__gchintctl_in measure' -x -s I -l idle -d 'seconds of idle, whose power is subtracted'
complete -c gchintctl -n '__gchintctl_in measure' -x -s f -l fail-above -a 'cpu= energy= gc-cpu= pause= time=' -d 'exit with 1 above this percentage'
complete -c gchintctl -n '__gchintctl_in measure' -l conclusive -d 'exit with 6 where a limit is not ruled out'
complete -c gchintctl -n '__gchintctl_in measure' -s i -l ignore-failure -d 'measure commands that fail, too'
complete -c gchintctl -n '__gchintctl_in measure' -r -F -s o -l output -d 'keep the recordings in this new directory'
complete -c gchintctl -n '__gchintctl_in measure' -x -s p -l period -d 'sampling interval, ms'
complete -c gchintctl -n '__gchintctl_in measure' -l show-output -d 'let the commands print'
complete -c gchintctl -n '__gchintctl_in measure' -r -F -l gchintd -d 'the program that records'
complete -c gchintctl -n '__gchintctl_in profile' -a 'annotate diff export filter flame record report'
complete -c gchintctl -n '__gchintctl_in profile' -r -F -s o -l output -d 'the recording, or the picture'
complete -c gchintctl -n '__gchintctl_in profile' -x -s F -l frequency -d 'samples a second'
complete -c gchintctl -n '__gchintctl_in profile' -x -s c -l command -d 'only such processes'
complete -c gchintctl -n '__gchintctl_in profile' -s q -l quiet -d 'do not print the last line'
complete -c gchintctl -n '__gchintctl_in profile' -x -s m -l method -d 'in such methods'
complete -c gchintctl -n '__gchintctl_in profile' -x -l phase -a 'none gc collect safepoint roots mark remark refs sweep copy compact trim wait work' -d 'in that phase'
complete -c gchintctl -n '__gchintctl_in profile' -x -l process -d 'of such programs'
complete -c gchintctl -n '__gchintctl_in profile' -x -s n -l lines -d 'rows of each table'
complete -c gchintctl -n '__gchintctl_in profile' -x -s s -l symbol -d 'in such functions'
complete -c gchintctl -n '__gchintctl_in profile' -l energy -d 'frames of a flame graph as wide as their energy'
complete -c gchintctl -n '__gchintctl_in profile' -l folded -d 'one line for each stack'
complete -c gchintctl -n '__gchintctl_in profile' -x -l cgroup -d 'only of such a control group'
complete -c gchintctl -n '__gchintctl_in profile' -x -l unit -d 'only of such a unit'
complete -c gchintctl -n '__gchintctl_in profile' -x -s R -l runtime -a '(gchintctl runtimes --names 2>/dev/null)' -d 'adapter of the programs that it starts'
complete -c gchintctl -n '__gchintctl_in profile' -l signal -d 'ask threads by a signal'
complete -c gchintctl -n '__gchintctl_in profile' -s f -l follow -d 'wait for processes that it leaves running'
complete -c gchintctl -n '__gchintctl_in profile' -s A -l allocations -d 'what functions allocate'
complete -c gchintctl -n '__gchintctl_in profile' -l interpreted -d 'a JVM reports each call'
complete -c gchintctl -n '__gchintctl_in profile' -l names-at-calls -d 'name methods at each call, for comparison'
complete -c gchintctl -n '__gchintctl_in profile' -x -l format -a 'firefox perf-script pprof speedscope' -d 'of an export'
complete -c gchintctl -n '__gchintctl_in record' -r -F -s o -l output -d 'the recording'
complete -c gchintctl -n '__gchintctl_in record' -x -s l -l label -d 'name of the run'
complete -c gchintctl -n '__gchintctl_in record' -l command -d 'keep the command with its arguments'
complete -c gchintctl -n '__gchintctl_in record' -x -s p -l period -d 'sampling interval, ms'
complete -c gchintctl -n '__gchintctl_in record' -s C -l cost -d 'print the cost of recording'
complete -c gchintctl -n '__gchintctl_in record' -s f -l follow -d 'wait for processes that it leaves running'
complete -c gchintctl -n '__gchintctl_in record' -s q -l quiet -d 'no progress'
complete -c gchintctl -n '__gchintctl_in record' -r -F -l gchintd -d 'the program that records'
complete -c gchintctl -n '__gchintctl_in record' -x -l option -d 'an option for gchintd'
complete -c gchintctl -n '__gchintctl_in report' -r -F -s o -l output -d 'the page'
complete -c gchintctl -n '__gchintctl_in report' -x -s t -l title -d 'title of the page'
complete -c gchintctl -n '__gchintctl_in report' -x -s d -l detail -d 'recordings of each label one by one'
complete -c gchintctl -n '__gchintctl_in run' -r -F -s o -l output -d 'record the run as well'
complete -c gchintctl -n '__gchintctl_in run' -r -F -s r -l record -d 'record the run as well'
complete -c gchintctl -n '__gchintctl_in run' -l report -d 'record it, and write its page'
complete -c gchintctl -n '__gchintctl_in run' -x -s m -l metrics -d 'answer Prometheus at ADDRESS:PORT'
complete -c gchintctl -n '__gchintctl_in run' -x -s l -l label -d 'name of the run'
complete -c gchintctl -n '__gchintctl_in run' -x -s p -l period -d 'sampling interval, ms'
complete -c gchintctl -n '__gchintctl_in run' -l command -d 'keep the command with its arguments'
complete -c gchintctl -n '__gchintctl_in run' -s C -l cost -d 'print the cost of recording'
complete -c gchintctl -n '__gchintctl_in run' -r -F -l gchintd -d 'the program that records'
complete -c gchintctl -n '__gchintctl_in run' -x -l option -d 'an option for gchintd'
complete -c gchintctl -n '__gchintctl_in run' -x -s H -l hints -a 'all boost cap clamp' -d 'which act, and how'
complete -c gchintctl -n '__gchintctl_in run' -s f -l follow -d 'wait for processes that it leaves running'
complete -c gchintctl -n '__gchintctl_in run' -x -s R -l runtime -a '(gchintctl runtimes --names 2>/dev/null)' -d 'adapter of the programs that it starts'
complete -c gchintctl -n '__gchintctl_in run' -s q -l quiet -d 'do not print the last line'
complete -c gchintctl -n '__gchintctl_in run' -r -l probe -d 'PHASE=FILE:FUNCTION, or a file of these'
complete -c gchintctl -n '__gchintctl_in run' -l require-hints -d 'fail if there was no hint'
complete -c gchintctl -n '__gchintctl_in run' -x -l wake-latency -d 'microseconds: no idle state that takes longer to leave'
complete -c gchintctl -n '__gchintctl_in summary' -x -s w -l watts -d '[RAIL=]LOW:HIGH'
complete -c gchintctl -n '__gchintctl_in top' -x -s d -l delay -d seconds
complete -c gchintctl -n '__gchintctl_in top' -x -s n -l times -d 'number of updates'
complete -c gchintctl -n '__gchintctl_in actuator' -a 'auto governor limits off'
complete -c gchintctl -n '__gchintctl_in why' -x -s a -l at -d 'seconds since the start of the recording'
complete -c gchintctl -n '__gchintctl_in watch' -x -s d -l delay -d seconds
complete -c gchintctl -n '__gchintctl_in watch' -x -s n -l times -d 'number of updates'
complete -c gchintctl -n '__gchintctl_in watch' -a "(path basename /sys/devices/system/cpu/cpufreq/policy*)" -d policy
complete -c gchintctl -n '__gchintctl_in why' -x -s c -l change -d 'setting to try'
complete -c gchintctl -n '__gchintctl_in why' -x -s n -l lines -d 'pauses in the list'
complete -c gchintctl -n '__gchintctl_in why' -x -s o -l output -d 'name of the recordings of --try'
complete -c gchintctl -n '__gchintctl_in why' -s t -l try -d 'run a program again with the advised setting'

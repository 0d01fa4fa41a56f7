# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What the shell offers after part of a line; bash-completion itself is not needed.

fresh completion
cat >"$d/offer" <<'X'
# WORD...: what is offered for the last word
_init_completion() {
	words=("${COMP_WORDS[@]}") cword=$COMP_CWORD
	cur=${words[cword]} prev=${words[cword - 1]}
}
_filedir() { COMPREPLY=("files${1:+ $1}"); }
_command_offset() { COMPREPLY=("a command from word $1"); }
. "$COMPLETION"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_gchintctl
echo "${COMPREPLY[@]}"
X
offers() { # WANT WORD...
	is "$1" "$(COMPLETION=$here/../../packaging/completion/gchintctl bash "$d/offer" gchintctl "${@:2}")"
}
ok "completion offers commands" offers "record report" re
ok "completion offers formats of profiles" offers "firefox perf-script pprof speedscope" profile export p.db --format ""
ok "completion offers phases" offers "mark" profile report p.db --phase ma
ok "a letter that is another option elsewhere offers no formats" offers "--" run -f ""
attachable() { # as gchintctl attach prints it
	printf '    PID  RUNTIME    COLLECTOR          HEAP MiB  PROGRAM              ATTACHES\n%7d  jvm  G1  1 of 2  Shop  yes\n%7d  jvm  ?  ?  x  %s\n' \
		121 122 "started with -Xrs, or still starting"
}
mkdir "$d/listing"
printf '#!/bin/bash\n%s\nattachable\n' "$(declare -f attachable)" >"$d/listing/gchintctl"
chmod 755 "$d/listing/gchintctl"
ok "completion offers processes that can be attached to" env PATH="$d/listing:$PATH" bash -c "$(declare -f offers is); here='$here' d='$d'; offers 121 attach ''"
# What probes.list has is offered without another list.
listed=$(sed -n 's/^\([a-z][a-z0-9-]*\) | .*/\1/p' "$here/../../adapters/probes.list" | paste -sd' ')
mkdir "$d/path"
ln -s "$ctl" "$d/path/gchintctl"
names() { # those offered for --runtime that are of the list, or Go, whose probes are found in the program alone
	PATH=$d/path:$PATH COMPLETION=$here/../../packaging/completion/gchintctl bash "$d/offer" gchintctl "$@" |
		tr ' ' '\n' | grep -wE "go|jvm|$(echo "$listed" | tr ' ' '|')" | paste -sd' '
}
ok "completion offers runtimes that are seen by probes, as the list has them" is "jvm $listed, jvm $listed" \
	"$(names run --runtime ""), $(names profile record -R "")"
ok "completion offers formats" offers "chrome-trace csv" export a.db --format c
ok "completion offers tables" offers "phase_list phases" export a.db --table ph
ok "completion offers options of a command" offers "--delay" top --d
ok "completion offers the actions of hints" offers "all boost cap clamp" run --hints ""
ok "completion offers options of all commands" offers "--json" summary --j
ok "completion offers recordings" offers "files @(db|db.[0-9]*)" summary ""
ok "completion offers the command to record" offers "a command from word 5" record -o a.db -- ""
ok "completion offers the profile subcommands" offers "annotate diff export filter flame record report" profile ""
ok "completion offers the program to profile" offers "a command from word 4" profile record -- ""
ok "completion offers that program's options" offers "a command from word 3" record -- make --j

# All three shells know every command and every long option of its help.
told() { # FILE: what of the program's own words it lacks
	local c o
	"$ctl" --help | sed -n '/^  gchintctl /d; s/^  \([a-z][a-z]*\) .*/\1/p' | while read -r c; do
		grep -qwe "$c" "$1" || echo "$c"
		[ "$c" != help ] || continue
		for o in $("$ctl" "$c" --help 2>/dev/null | sed -n 's/^ *\(-[a-zA-Z], \)\{0,1\}--\([a-z][a-z-]*\).*/\2/p'); do
			grep -qe "--$o\b" -e "-l $o\b" "$1" || echo "$c --$o"
		done
	done
}
for f in gchintctl _gchintctl gchintctl.fish; do
	ok "$f completes every command and option" is "" "$(told "$here/../../packaging/completion/$f")"
done
if command -v fish >/dev/null; then
	ok "fish offers runtimes that are seen by probes" is "$listed" "$(HOME=$d PATH=$d/path:$PATH fish --no-config -c "
		source $here/../../packaging/completion/gchintctl.fish; complete -C 'gchintctl run --runtime '" |
		cut -f1 | grep -xE "$(echo "$listed" | tr ' ' '|')" | LC_ALL=C sort | paste -sd' ')"
	ok "fish offers commands, formats and options" is "export chrome-trace --brief" "$(HOME=$d fish --no-config -c "
		source $here/../../packaging/completion/gchintctl.fish
		complete -C 'gchintctl exp'; complete -C 'gchintctl export --format chr'; complete -C 'gchintctl compare --br'" 2>&1 |
		cut -f1 | paste -sd' ')"
else
	skip "fish offers commands, formats and options" "no fish: packaging/need unit"
fi
if command -v zsh >/dev/null; then
	ok "zsh parses its completion file" zsh -n "$here/../../packaging/completion/_gchintctl"
else
	skip "zsh parses its completion file" "no zsh: packaging/need unit"
fi

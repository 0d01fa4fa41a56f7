# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What the shell offers after a part of a line; bash-completion itself is not needed.

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
ok "completion: commands" offers "record report" re
ok "completion: formats" offers "chrome-trace csv" export a.db --format c
ok "completion: tables" offers "phase_list phases" export a.db --table ph
ok "completion: options of a command" offers "--delay" top --d
ok "completion: options that programs want" offers "--json" summary --j
ok "completion: recordings" offers "files @(db|db.[0-9]*)" summary ""
ok "completion: the command to record" offers "a command from word 5" record -o a.db -- ""
ok "completion: and its options" offers "a command from word 3" record -- make --j

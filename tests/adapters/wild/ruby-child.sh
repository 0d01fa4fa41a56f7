# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2016
# wild: a Ruby whose child is a Ruby of a user who may not read the adapter; a child that may is recorded
# source: https://github.com/DataDog/dd-trace-rb/issues/3529
# needs: ruby build root
# when: gate
install_copy closed
chmod 700 closed
status 7 closed/bin/gchintctl run -- ruby -e 'p ENV["RUBYOPT"]; $stdout.flush
	Process::Sys.setgid(65534); Process::Sys.setuid(65534); exec "ruby", "-e", "puts :done; exit 7"'
[ "$(cat out)" = 'nil
done' ]
# One line, of the loader.
[ "$(grep -vc '^gchintctl: ' err)" -eq 1 ]
has err 'cannot be preloaded'
# The user's own stay.
RUBYOPT=-W0 status 7 closed/bin/gchintctl run -- ruby -e 'exec "ruby", "-e", "puts ENV[%q(RUBYOPT)]; 5.times { GC.start }; exit 7"'
[ "$(cat out)" = -W0 ]
has err '[1-9][0-9]* phase'
# Inherited from a process that did not start Ruby, and not usable here.
RUBYOPT="-w -r$PWD/gone/libgchint-ruby.so" status 7 closed/bin/gchintctl run -- ruby -e 'puts ENV["RUBYOPT"]; 5.times { GC.start }; exit 7'
[ "$(cat out)" = -w ]
has err '[1-9][0-9]* phase'
# A directory with a blank.
install_copy 'a b'
status 7 'a b/bin/gchintctl' run -- sh -c 'exec ruby -e "5.times { GC.start }; exit 7"'
has err '[1-9][0-9]* phase'

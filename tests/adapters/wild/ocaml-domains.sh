# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# wild: a minor collection of OCaml 5 stops all domains: as many pauses as Gc.quick_stat counts
# source: https://github.com/ocaml/ocaml/issues/13358
# needs: ocaml5 sqlite3
# when: all
cat >d.ml <<'EOP'
let work () = for _ = 1 to 200 do ignore (Sys.opaque_identity (List.init 100_000 (fun i -> i))) done
let () = let ds = List.init 3 (fun _ -> Domain.spawn work) in work (); List.iter Domain.join ds;
  Printf.printf "%d\n" (Gc.quick_stat ()).Gc.minor_collections
EOP
ocamlopt d.ml -o d
status 0 "$ctl" run --record o.db -- ./d
pauses=$(sqlite3 o.db 'select count(*) from pauses')
echo "$(cat out) minor collections, $pauses pauses"
# Some follow each other at once; the end of a domain is one more.
[ $((pauses * 100)) -ge $(($(cat out) * 95)) ] && [ $((pauses * 100)) -le $(($(cat out) * 105)) ]

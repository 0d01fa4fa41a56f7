(* SPDX-License-Identifier: MIT *)
(* Binary trees; prints what a test compares with the trace. *)
type tree = Leaf | Node of tree * tree

let rec make n = if n = 0 then Leaf else Node (make (n - 1), make (n - 1))
let rec nodes = function Leaf -> 1 | Node (l, r) -> 1 + nodes l + nodes r

let () =
  let kept = make 16 in
  for _ = 1 to 200 do
    assert (nodes (make 14) = (2 lsl 14) - 1)
  done;
  assert (nodes kept = (2 lsl 16) - 1);
  let s = Gc.quick_stat () in
  Printf.printf "minor=%d major=%d\n" s.Gc.minor_collections s.Gc.major_collections

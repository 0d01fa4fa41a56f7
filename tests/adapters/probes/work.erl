%% SPDX-License-Identifier: MIT
%% Description: an Erlang program of which three processes collect; displays how often the VM collected.
-module(work).
-export([main/0]).

loop(0, _) -> ok;
loop(N, L) -> loop(N - 1, lists:sublist([N | lists:map(fun(X) -> X + 1 end, L)], 2000)).

main() ->
    Children = [spawn_monitor(fun() -> loop(300, lists:seq(1, 2000)) end) || _ <- [1, 2, 3]],
    [receive {'DOWN', Ref, process, _, _} -> ok end || {_, Ref} <- Children],
    {N, _, _} = erlang:statistics(garbage_collection),
    erlang:display({collections, N}),
    erlang:halt(7, [{flush, false}]).

% SPDX-License-Identifier: MIT
% Description: a Prolog program that collects; prints how often, and the CPU time in ms.
fill(0, L, L) :- !.
fill(N, T, L) :- N1 is N - 1, fill(N1, f(T, N), L).
work(0) :- !.
work(N) :- fill(3000, nil, T), nb_setval(kept, T), N1 is N - 1, work(N1).
main :- work(300), statistics(garbage_collection, [N, _, MS | _]), format("collections=~d ms=~d~n", [N, MS]), halt(7).
:- initialization(main).

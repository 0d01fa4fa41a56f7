# workload: app
# DaCapo lusearch: four busy threads (one a core of the seed's board), high rate, tiny live set.
alloc = 686.75
live = 1.22
objects = 11.65
live-objects = 0.01
lifetime = 10.3 22.5 47.2
threads = 26
active = 4
explicit = 5
idle-gaps = 1
tail = 0.5
work = 45

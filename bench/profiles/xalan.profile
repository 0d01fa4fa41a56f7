# workload: app
# DaCapo xalan: four busy threads (one a core of the seed's board), small live set.
alloc = 395.06
live = 2.26
objects = 4.14
live-objects = 0.02
lifetime = 9.46 19.3 39.0
threads = 26
active = 4
explicit = 5
idle-gaps = 1
tail = 0.5
work = 290

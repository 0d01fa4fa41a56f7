# workload: app
# SPECjvm98 jack: tiny live set, frequent collections.
alloc = 180.22
live = 0.87
objects = 5.52
live-objects = 0.02
lifetime = 11.7 23.8 48.2
threads = 8
active = 1
explicit = 2
idle-gaps = 1
tail = 0.5
work = 2

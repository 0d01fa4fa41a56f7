# workload: app
# SPECjvm98 javac: large live set and foreground collections.
alloc = 217.47
live = 10.19
objects = 6.15
live-objects = 0.27
lifetime = 7.60 15.8 32.7
threads = 7
active = 1
explicit = 6
idle-gaps = 1
tail = 0.5
work = 140

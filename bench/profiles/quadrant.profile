# workload: app
# Quadrant Professional 2.1, Android's industry benchmark: many explicit collections.
alloc = 28.71
live = 8.23
objects = 0.46
live-objects = 0.22
lifetime = 9.50 20.5 40.7
threads = 16
active = 2
explicit = 42
idle-gaps = 3
tail = 0.5
work = 5500

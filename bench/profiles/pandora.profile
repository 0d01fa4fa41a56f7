# workload: app
# Pandora 5.4, internet radio: large live set, many idle threads, trims.
alloc = 48.91
live = 18.76
objects = 0.28
live-objects = 0.06
lifetime = 13.0 24.9 46.0
threads = 77
active = 2
explicit = 0
idle-gaps = 4
tail = 0.5
work = 770

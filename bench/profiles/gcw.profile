# workload: gcw
# The published default profile of GCW (2016). The same as the built-in defaults.
bucket = 1M
iterations = 100
large-size = 12K
large-types = .90 .07 .02 .01
lifetime-1 = .0865 .5404 .2887 .0865
lifetime-2 = .0469 .7724 .1460 .0346
lifetime-3 = .1154 .5982 .1880 .0984
lifetime-4 = .0662 .7851 .1077 .0411
lifetime-5 = .0520 .8778 .0503 .0198
lifetime-6 = .1628 .7137 .0821 .0414
lifetime-large = .0923 .7117 .1769 .0192
seed = 0
single = 0
size-dist = .0436 .5465 .2103 .1499 .0275 .0125 .0097
sizes = 16 24 40 96 192 336
threads = 0
total = 100M
unlink = 0

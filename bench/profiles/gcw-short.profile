# workload: gcw
# The default profile, 2 GB in all instead of 10: enough for counts, quick enough to repeat.
iterations = 20

# workload: gcw
# As the size-aware seed describes a map: small objects die young, larger ones stay.
iterations = 20
lifetime-1 = .02 .90 .06 .02
lifetime-2 = .03 .84 .10 .03
lifetime-3 = .08 .68 .16 .08
lifetime-4 = .15 .50 .20 .15
lifetime-5 = .20 .40 .20 .20
lifetime-6 = .25 .35 .20 .20

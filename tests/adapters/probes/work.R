# SPDX-License-Identifier: MIT
# Description: an R program that collects; R reports each collection (gcinfo), and the time (gc.time).
invisible(gcinfo(TRUE))
invisible(gc.time(TRUE))
x <- list()
for (i in 1:100) x[[i %% 50 + 1]] <- lapply(1:5000, function(k) c(k, i))
cat("ms=", 1000 * gc.time()[3], "\n", sep = "")
quit(status = 7)

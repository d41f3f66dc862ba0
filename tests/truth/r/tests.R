# t-tests, their corrections, Pearson's r and power by R, printed as CSV.
#
# Run in this folder:  Rscript tests.R > tests_r.csv
# Base R only. The tests read tests_r.csv and need no R.

data <- read.csv("anova_data.csv")
sets <- split(data$y, data$set)
a <- sets$balanced[1:30]
b <- sets$unbalanced[1:30] + 0.9
c <- sets$one_empty[1:30] - 1

cat("name,value\n")
put <- function(name, value) cat(sprintf("%s,%.15g\n", name, value))

paired <- list(ab = t.test(a, b, paired = TRUE), ac = t.test(a, c, paired = TRUE),
               bc = t.test(b, c, paired = TRUE))
p <- sapply(paired, function(test) test$p.value)
for (pair in names(paired)) {
  put(paste0("paired_t_", pair), paired[[pair]]$statistic)
  put(paste0("paired_p_", pair), p[[pair]])
  put(paste0("holm_", pair), p.adjust(p, "holm")[[pair]])
  put(paste0("bonferroni_", pair), p.adjust(p, "bonferroni")[[pair]])
}
student <- t.test(a, b, var.equal = TRUE)
welch <- t.test(a, b)
put("student_t", student$statistic)
put("student_p", student$p.value)
put("welch_df", welch$parameter)
put("welch_p", welch$p.value)

r <- cor.test(a, b)
put("pearson_r", r$estimate)
put("pearson_p", r$p.value)
put("pearson_low", r$conf.int[1])
put("pearson_high", r$conf.int[2])

# Cohen's f is sqrt(between.var * (groups - 1) / groups / within.var), between.var that of the means.
size <- function(f, groups) {
  power.anova.test(groups = groups, between.var = f^2 * groups / (groups - 1), within.var = 1,
                   power = 0.80)$n
}
put("size_f10_m4", size(0.10, 4))
put("size_f40_m3", size(0.40, 3))
put("size_pilot_2145", size(sqrt(2.145 / 8), 2))
put("size_pilot_578", size(sqrt(0.578 / 8), 2))
put("power_f25_m3_n20", power.anova.test(groups = 3, n = 20, between.var = 0.25^2 * 3 / 2,
                                         within.var = 1)$power)

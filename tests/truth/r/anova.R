# Analyses of variance of anova_data.csv by R, printed as CSV.
#
# Run in this folder:  Rscript anova.R > anova_r.csv
# Needs the package car. The tests read anova_r.csv and need no R.
#
# Type I is anova() of base R, types II and III are car::Anova. Type III uses codes that sum to
# zero, and is left out where cells are empty: car refuses it there.

suppressMessages(library(car))

data <- read.csv("anova_data.csv", stringsAsFactors = TRUE)
analyses <- list(
  list(set = "balanced", factors = c("a"), types = 1:3),
  list(set = "balanced", factors = c("a", "b"), types = 1:3),
  list(set = "unbalanced", factors = c("a", "b"), types = 1:3),
  list(set = "unbalanced", factors = c("a", "b", "c"), types = 1:3),
  list(set = "one_empty", factors = c("a", "b"), types = 1:2),
  list(set = "one_empty", factors = c("a", "b", "c"), types = 1:2),
  list(set = "nested", factors = c("a", "b"), types = 1:2),
  list(set = "nested", factors = c("a", "b", "c"), types = 1:2)
)

cat("set,factors,typ,term,sum_sq,df,F,p\n")
for (analysis in analyses) {
  rows <- droplevels(data[data$set == analysis$set, ])
  formula <- as.formula(paste("y ~", paste(analysis$factors, collapse = " * ")))
  for (typ in analysis$types) {
    coding <- if (typ == 3) "contr.sum" else "contr.treatment"
    options(contrasts = c(coding, "contr.poly"))
    model <- lm(formula, rows)
    table <- if (typ == 1) anova(model) else suppressMessages(Anova(model, type = typ))
    for (term in rownames(table)) {
      value <- function(name) {
        if (name %in% colnames(table)) table[term, name] else NA
      }
      cat(sprintf(
        "%s,%s,%d,%s,%.15g,%d,%.15g,%.15g\n",
        analysis$set, paste(analysis$factors, collapse = " "), typ, trimws(term),
        value("Sum Sq"), as.integer(value("Df")), value("F value"), value("Pr(>F)")
      ))
    }
  }
}

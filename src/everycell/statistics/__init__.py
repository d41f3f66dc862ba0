"""Statistics of the studies: analysis of variance, effect sizes, tests, power, simulation."""

"""Call a function of a chapter, which the parameter `script` of the rule names."""

from everycell.jobs.job import call_function

call_function(snakemake)

"""Judge reproduced values and claims, count the outcomes, and run the audits."""

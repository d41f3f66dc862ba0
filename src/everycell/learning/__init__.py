"""Neural models: loading, encoding, scoring and training. Importing its modules imports torch."""

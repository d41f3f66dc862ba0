"""Rules and code of the papers, one module per chapter."""

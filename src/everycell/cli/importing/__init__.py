"""`everycell import`: published values from tables in Markdown, LaTeX, HTML and CSV."""

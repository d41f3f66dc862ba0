"""Files of the TREC formats."""

"""Rankings that share exposure among items in proportion to their merit, and their measures."""

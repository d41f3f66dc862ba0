"""Fair rankings: fair exposure, re-ranking methods, and their measures."""

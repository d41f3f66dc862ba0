"""Measures of files of your own: runs, rankings and answers."""

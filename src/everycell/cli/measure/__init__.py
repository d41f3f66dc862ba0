"""Evaluation of your own files: runs, rankings and answers."""

"""Local and remote language models, and records of their answers."""

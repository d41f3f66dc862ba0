"""Every table and figure of five information-retrieval works, rebuilt, with a verdict a cell."""

__version__ = "0.1.0"

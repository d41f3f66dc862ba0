"""The error for files that cannot be read as a collection."""


class CollectionError(Exception):
    """A file of a collection cannot be used; the message names file, line and what is allowed."""

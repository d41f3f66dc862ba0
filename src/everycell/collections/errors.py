"""The error of files that are no collection."""


class CollectionError(Exception):
    """A file of a collection cannot be used; the message names file, line and what is allowed."""

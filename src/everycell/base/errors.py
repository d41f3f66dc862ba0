"""Error for files that cannot be read as a collection."""


class CollectionError(Exception):
    """A file of a collection is invalid; the message gives file, line and allowed values."""

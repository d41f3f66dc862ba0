# Input functions and names of the rules of lajewska2025, chapter 6.
from everycell.collections.ginger import CONDENSED, TABLES

FETCHED_TOGETHER["ginger-tables"] = [resource(key) for key in TABLES]


def nugget_labels():
    """Labels of nuggets: one file if a mirror or the cache has it, otherwise the authors' tables.

    Only the tables (83 MB) can be downloaded.
    """
    paths = [Path(resource(CONDENSED))]
    mirror = SETTINGS.mirror_folder()
    if mirror is not None:
        paths += [mirror / CONDENSED, mirror / f"{CONDENSED}.gz"]
    is_condensed = any(path.exists() for path in paths)
    return [resource(key) for key in ([CONDENSED] if is_condensed else TABLES)]

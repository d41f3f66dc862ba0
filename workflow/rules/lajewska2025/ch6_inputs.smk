# Input functions and names of the rules of lajewska2025, chapter 6.
from everycell.collections.nugget_labels import CONDENSED, TABLES

FETCHED_TOGETHER["ginger-tables"] = [resource(key) for key in TABLES]


def nugget_labels():
    """Labels of nuggets: one file if a mirror or the cache has it, otherwise the authors' tables.

    The tables are 83 MB, and the network has nothing else.
    """
    places = [Path(resource(CONDENSED))]
    mirror = SETTINGS.mirror_folder()
    if mirror is not None:
        places += [mirror / CONDENSED, mirror / f"{CONDENSED}.gz"]
    condensed = any(place.exists() for place in places)
    return [resource(key) for key in ([CONDENSED] if condensed else TABLES)]

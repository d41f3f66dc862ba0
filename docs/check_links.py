"""Check a built site: every link leads to a place of it, and nothing is loaded from elsewhere.

`python docs/check_links.py results/site`; the rule `site` does so after each build. mkdocs checks
the Markdown it reads, this what came out, with all that was made from results and docstrings.
"""

import sys
from collections.abc import Iterator, Mapping
from functools import cache, partial
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """Links of a page, what it loads, the ids it has and its text."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links, self.loaded, self.ids, self.text = [], [], set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if "id" in found:
            self.ids.add(found["id"])
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in ("script", "img", "iframe") and "src" in found:
            self.loaded.append(found["src"])
        if tag == "link" and found.get("rel") in ("stylesheet", "icon"):
            self.loaded.append(found["href"])

    def handle_data(self, data):
        self.text.append(data)


def read_pages(site: Path) -> dict[str, Page]:
    """Pages of a site by their paths in it."""
    return {path.relative_to(site).as_posix(): Page(path) for path in sorted(site.rglob("*.html"))}


def faults(site: Path, pages: Mapping[str, Page]) -> Iterator[str]:
    """A sentence for each link or file of the pages that is not there, or is elsewhere."""
    # Each page has the whole navigation, so one file is asked for hundreds of times.
    find = cache(partial(_file_at, site.resolve()))
    for name, page in pages.items():
        # The page for a wrong address is shown at any depth, so its addresses are absolute.
        if name == "404.html":
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            found = find(str(Path(name).parent), parts.path) if parts.path else name
            known = pages.get(found)
            # Browsers know the top of each page.
            anchor = unquote(parts.fragment)
            known_anchor = not anchor or known is None or anchor in known.ids or anchor == "__top"
            if found is None or not known_anchor:
                yield f"{name}: the link {link} leads nowhere."
        for address in page.loaded:
            parts = urlsplit(address)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                yield f"{name}: {address} is loaded from elsewhere."
            elif find(str(Path(name).parent), parts.path) is None:
                yield f"{name}: {address} is shown or loaded, and is not there."


def _file_at(site: Path, folder: str, address: str) -> str | None:
    """Path in the site of what an address in a folder of it means; None if it is not there."""
    target = (site / folder / unquote(address)).resolve()
    target = target / "index.html" if target.is_dir() else target
    there = target.exists() and target.is_relative_to(site)
    return target.relative_to(site).as_posix() if there else None


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    found = list(faults(folder, read_pages(folder)))
    sys.exit("\n".join(found) or None)

"""Check a built site: every link leads to a place of it, and nothing is loaded from elsewhere.

`python docs/check_links.py results/site`; the rule `site` does so after each build. mkdocs checks
the Markdown it reads, this what came out, with all that was made from results and docstrings.
"""

import sys
from collections.abc import Iterator, Mapping
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
    site = site.resolve()
    for name, page in pages.items():
        # The page for a wrong address is shown at any depth, so its addresses are absolute.
        if name == "404.html":
            continue
        for link in page.links:
            if not urlsplit(link).scheme and not _leads_somewhere(link, site / name, site, pages):
                yield f"{name}: the link {link} leads nowhere."
        for address in page.loaded:
            parts = urlsplit(address)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                yield f"{name}: {address} is loaded from elsewhere."
            elif not (site / name).parent.joinpath(unquote(parts.path)).exists():
                yield f"{name}: {address} is shown or loaded, and is not there."


def _leads_somewhere(link: str, source: Path, site: Path, pages: Mapping[str, Page]) -> bool:
    parts = urlsplit(link)
    target = (source.parent / unquote(parts.path)).resolve() if parts.path else source
    target = target / "index.html" if target.is_dir() else target
    if not target.exists() or not target.is_relative_to(site):
        return False
    known = pages.get(target.relative_to(site).as_posix())
    # Browsers know the top of each page.
    anchor = unquote(parts.fragment)
    return not anchor or known is None or anchor in known.ids or anchor == "__top"


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    found = list(faults(folder, read_pages(folder)))
    sys.exit("\n".join(found) or None)

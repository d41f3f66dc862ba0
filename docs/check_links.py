"""Check a built site: all internal links work, and no page loads external files.

`python docs/check_links.py results/site`; the rule `site` runs this after each build. mkdocs checks
its Markdown input. This script checks the HTML output, including pages generated from results and
docstrings.
"""

import sys
from collections.abc import Iterator, Mapping
from functools import cache, partial
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """Links, loaded files, ids and text of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links, self.loaded, self.ids, self.text = [], [], set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if "id" in values:
            self.ids.add(values["id"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in ("script", "img", "iframe") and "src" in values:
            self.loaded.append(values["src"])
        if tag == "link" and values.get("rel") in ("stylesheet", "icon"):
            self.loaded.append(values["href"])

    def handle_data(self, data):
        self.text.append(data)


def read_pages(site: Path) -> dict[str, Page]:
    """Pages of a site, by path."""
    return {path.relative_to(site).as_posix(): Page(path) for path in sorted(site.rglob("*.html"))}


def faults(site: Path, pages: Mapping[str, Page]) -> Iterator[str]:
    """Messages on links without a target, and on missing or external files."""
    # Cached, since all pages have the same navigation.
    find = cache(partial(_resolve, site.resolve()))
    for name, page in pages.items():
        # The error page is shown at any depth, so its addresses are absolute.
        if name == "404.html":
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = find(str(Path(name).parent), parts.path) if parts.path else name
            target_page = pages.get(target)
            anchor = unquote(parts.fragment)
            # Browsers define the anchor of the top of a page.
            has_anchor = (
                not anchor or target_page is None or anchor in target_page.ids or anchor == "__top"
            )
            if target is None or not has_anchor:
                yield f"{name}: the link {link} has no target."
        for address in page.loaded:
            parts = urlsplit(address)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                yield f"{name}: {address} is an external file."
            elif find(str(Path(name).parent), parts.path) is None:
                yield f"{name}: the file {address} is missing."


def _resolve(site: Path, folder: str, address: str) -> str | None:
    """Path in the site of a relative address; None if missing or outside the site."""
    target = (site / folder / unquote(address)).resolve()
    target = target / "index.html" if target.is_dir() else target
    is_in_site = target.exists() and target.is_relative_to(site)
    return target.relative_to(site).as_posix() if is_in_site else None


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    sys.exit("\n".join(faults(folder, read_pages(folder))) or None)

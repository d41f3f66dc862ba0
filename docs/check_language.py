"""Find the phrases of docs/banned_phrases.txt in Markdown files, outside code and comments.

`python docs/check_language.py [FILE ...]`; without files it reads what `make lint` checks.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parent
BANNED = FOLDER / "banned_phrases.txt"
# Code (fenced, indented or inline), comments, and the targets of links.
NOT_PROSE = re.compile(r"^```.*?^```|^(?: {4}\S.*\n)+|<!--.*?-->|`[^`]*`|\]\([^)]*\)", re.M | re.S)


def read_phrases(text: str) -> Iterator[tuple[re.Pattern[str], str]]:
    """Patterns and what to write instead, from lines `pattern => advice`."""
    for line in text.splitlines():
        if line and not line.startswith(("#", "skip ")):
            pattern, advice = line.split(" => ")
            # A phrase may go on in the next line, of a list or a quotation too.
            spaced = pattern.replace(" ", r"[\s>]+")
            yield re.compile(rf"\b(?:{spaced})\b", re.IGNORECASE), advice


def faults(text: str, phrases: list[tuple[re.Pattern[str], str]]) -> Iterator[tuple[int, str]]:
    """Line and sentence for each banned phrase of a text."""
    prose = NOT_PROSE.sub(lambda code: re.sub(r"[^\n]", "\0", code[0]), text)
    for pattern, advice in phrases:
        for match in pattern.finditer(prose):
            phrase = " ".join(match[0].split())
            yield prose.count("\n", 0, match.start()) + 1, f"'{phrase}': write {advice}."


def checked_files(text: str) -> list[Path]:
    """The documentation, README and CONTRIBUTING, without what the list skips."""
    skipped = {FOLDER / line.removeprefix("skip ") for line in text.splitlines()}
    roots = [FOLDER.parent / name for name in ("README.md", "CONTRIBUTING.md")]
    return [path for path in [*roots, *sorted(FOLDER.rglob("*.md"))] if path not in skipped]


if __name__ == "__main__":
    banned = BANNED.read_text(encoding="utf-8")
    phrases = list(read_phrases(banned))
    files = [Path(name) for name in sys.argv[1:]] or checked_files(banned)
    found = [
        f"{path}:{line}: {sentence}"
        for path in files
        for line, sentence in sorted(faults(path.read_text(encoding="utf-8"), phrases))
    ]
    sys.exit("\n".join(found) or None)

"""Find banned phrases in prose, and banned names in Python code.

`python docs/check_language.py [FILE_OR_FOLDER ...]`; without arguments it checks the same files as
`make lint`. Prose is Markdown outside code, records and settings in YAML, the Makefile, .ci/run and
pyproject.toml, and the comments and strings of Python files and rules. The lists are
docs/banned_phrases.txt and docs/banned_names.txt. The docstring of a module of a chapter must begin
with a paragraph that names the chapter and the paper.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parent
PHRASES = (FOLDER / "banned_phrases.txt").read_text(encoding="utf-8")
NAMES = (FOLDER / "banned_names.txt").read_text(encoding="utf-8")
# Code (fenced, indented or inline), comments, and link targets.
NOT_PROSE = re.compile(r"^```.*?^```|^(?: {4}\S.*\n)+|<!--.*?-->|`[^`]*`|\]\([^)]*\)", re.M | re.S)
# Modules of a chapter or an appendix, such as `ch6_audits` and `chC`.
CHAPTER_MODULE = re.compile(r"ch(\d+|[A-Z])(?:_|$)")
CODE_IN_PYTHON = re.compile(r"`[^`]*`|>>> .*")


def read_phrases(text: str) -> list[tuple[re.Pattern[str], str]]:
    """Parse patterns and advice from lines `pattern => advice`."""
    lines = [line for line in text.splitlines() if " => " in line and not line.startswith("#")]
    pairs = [line.split(" => ") for line in lines]
    # A phrase may continue on the next line, also in a list or a quotation.
    multiline = ((pattern.replace(" ", r"[\s>#]+"), advice) for pattern, advice in pairs)
    return [
        (re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), advice) for pattern, advice in multiline
    ]


BANNED = read_phrases(PHRASES)
# Most files have no banned phrase, which one search shows fastest.
ANY_BANNED = re.compile("|".join(pattern.pattern for pattern, _ in BANNED), re.IGNORECASE)


def phrase_faults(text: str, code: re.Pattern[str] = NOT_PROSE) -> Iterator[tuple[int, str]]:
    """Line and advice for each banned phrase outside of code."""
    prose = code.sub(lambda match: re.sub(r"[^\n]", "\0", match[0]), text)
    for pattern, advice in BANNED if ANY_BANNED.search(prose) else ():
        for match in pattern.finditer(prose):
            phrase = " ".join(match[0].split())
            yield prose.count("\n", 0, match.start()) + 1, f"'{phrase}': write {advice}."


def python_prose(text: str) -> str:
    """Comments and strings of a program at their positions, with all other code blanked out."""
    lines = [[" "] * len(line) for line in text.splitlines()]
    kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", None)}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in kinds:
            row, column = token.start
            for number, part in enumerate(token.string.splitlines()):
                start = column if number == 0 else 0
                lines[row - 1 + number][start : start + len(part)] = part
    return "\n".join("".join(line) for line in lines)


def name_faults(text: str, names: set[str]) -> Iterator[tuple[int, str]]:
    """Line and advice for each banned name that a program assigns or defines."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                pass
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                pass
            case _:
                continue
        if name.strip("_") in names:
            yield node.lineno, f"name `{name}`: use a noun, or a verb for a function."
        elif "_".join(name.split("_")[:2]) in names:
            yield node.lineno, f"name `{name}`: write test_<function>_<case>."


def chapter_faults(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Fault of a module `papers/KEY/chN*.py` whose docstring does not name chapter and paper."""
    if path.parents[1].name != "papers" or not (match := CHAPTER_MODULE.match(path.stem)):
        return
    part = "chapter" if match[1].isdigit() else "appendix"
    name = f"{part} {match[1]} of {path.parent.name}"
    docstring = ast.get_docstring(ast.parse(text)) or ""
    first_paragraph = " ".join(docstring.split("\n\n")[0].split())
    if not re.search(rf"\b{name}\b", first_paragraph, re.IGNORECASE):
        yield 1, f"first paragraph of the docstring: name '{name}'."


def faults(path: Path) -> list[tuple[int, str]]:
    """All faults of a file, sorted by line."""
    text = path.read_text(encoding="utf-8")
    if path.suffix not in (".py", ".smk"):
        return sorted(phrase_faults(text))
    prose = phrase_faults(python_prose(text), CODE_IN_PYTHON)
    if path.suffix != ".py":  # Rules are not Python, but have the same comments and strings.
        return sorted(prose)
    names = {line for line in NAMES.splitlines() if line.isidentifier()}
    module = [(1, f"module `{path.stem}`: use a noun.")] if path.stem in names else []
    chapter = chapter_faults(path.resolve(), text)
    return sorted([*module, *prose, *name_faults(text, names), *chapter])


def checked_files() -> list[Path]:
    """Documentation and code, except files and folders that the lists skip."""
    root = FOLDER.parent
    skipped = re.findall(r"^skip (\S+)$", PHRASES + NAMES, re.M)
    files = [
        root / name
        for name in (
            ".ci/run",
            "CHANGELOG.md",
            "CONTRIBUTING.md",
            "Makefile",
            "README.md",
            "config.yaml",
            "pyproject.toml",
        )
    ]
    endings = {
        "docs": ["md"],
        "published": ["yaml"],
        "src": ["py", "smk"],
        "tests": ["py"],
        "workflow": ["py", "smk"],
    }
    for folder in endings:
        files += [
            path for end in endings[folder] for path in sorted((root / folder).rglob(f"*.{end}"))
        ]
    return [path for path in files if not path.relative_to(root).as_posix().startswith((*skipped,))]


def expand(paths: list[str]) -> Iterator[Path]:
    """The given files, and the Python and Markdown files in the given folders."""
    for path in map(Path, paths):
        yield from (sorted([*path.rglob("*.py"), *path.rglob("*.md")]) if path.is_dir() else [path])


if __name__ == "__main__":
    files = list(expand(sys.argv[1:])) or checked_files()
    sys.exit(
        "\n".join(f"{path}:{line}: {advice}" for path in files for line, advice in faults(path))
        or None
    )

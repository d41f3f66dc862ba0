"""All regular expressions of the library and the papers, and texts that are hard for each.

Run as a program, it applies each to texts of `LENGTH` characters. In linear time, that takes
seconds; in quadratic time, hours.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from re import _constants as codes  # ty: ignore
from re import _parser as parser  # ty: ignore
from typing import Any

LENGTH = 100_000
#: Functions of `re` that search at every position, and those that begin at the start of a text.
SEARCHES = {"search", "sub", "subn", "split", "findall", "finditer", "compile"}
ANCHORED = {"match", "fullmatch"}
SOURCE = Path(__file__).parents[1]
ROOTS = {SOURCE / "src": "src", SOURCE / "workflow": "workflow"}


def expressions() -> Iterator[tuple[str, str | bytes, int, str]]:
    """File, pattern, flags and function of each call of `re` whose pattern is a constant."""
    for root in ROOTS:
        for path in sorted(root.rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if "re." not in text or "scripts" in path.parts:
                continue
            name = ".".join(path.relative_to(root).with_suffix("").parts)
            module = vars(importlib.import_module(name.removesuffix(".__init__")))
            for node in ast.walk(ast.parse(text)):
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Attribute)
                    and isinstance(node.func.value, ast.Name)
                    and node.func.value.id == "re"
                    and node.func.attr in SEARCHES | ANCHORED
                ):
                    try:
                        pattern = evaluate(node.args[0], module)
                        flags = [evaluate(a, module) for a in flags_of(node)]
                    except NameError:
                        # Built from a local variable.
                        continue
                    if isinstance(pattern, str | bytes):
                        function = node.func.attr
                        if function == "compile" and is_anchored(node, text):
                            function = "match"
                        yield (
                            path.relative_to(root).as_posix(),
                            pattern,
                            sum(map(int, flags)),
                            function,
                        )


def is_anchored(call: ast.Call, text: str) -> bool:
    """Whether a module only matches an expression that it compiles, and never searches with it."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Assign) and ast.dump(node.value) == ast.dump(call):
            [target] = node.targets
            if isinstance(target, ast.Name):
                name = re.escape(target.id)
                uses = re.findall(rf"\b{name}\b(?:\.(\w+))?", text)
                return {use for use in uses if use} <= ANCHORED and uses.count("") == 1
    return False


def flags_of(call: ast.Call) -> list[ast.expr]:
    by_name = [keyword.value for keyword in call.keywords if keyword.arg == "flags"]
    return by_name or call.args[1:2] * (call.func.attr == "compile")  # ty: ignore


def evaluate(node: ast.expr, module: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "", "eval"), dict(module))  # noqa: S307


def sample(tokens: Any) -> str:
    """A text that a part of a pattern accepts."""
    return "".join(_sample(*token) for token in tokens)


def _sample(kind: Any, value: Any) -> str:
    if kind in (codes.LITERAL, codes.NOT_LITERAL):
        return chr(value) if kind is codes.LITERAL else "~"
    if kind is codes.ANY:
        return "x"
    if kind is codes.IN:
        return _member(value)
    if kind in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        return sample(value[2]) * max(1, min(value[0], 3))
    if kind is codes.SUBPATTERN:
        return sample(value[3])
    if kind is codes.BRANCH:
        return sample(value[1][0])
    if kind is codes.ATOMIC_GROUP:
        return sample(value)
    return ""


def _member(values: Any) -> str:
    if values[0][0] is codes.NEGATE:
        return next(c for c in "x 1~\nä" if not _contains(values[1:], c))
    kind, value = values[0]
    if kind is codes.LITERAL:
        return chr(value)
    if kind is codes.RANGE:
        return chr(value[0])
    return {"SPACE": " ", "DIGIT": "1", "WORD": "a"}.get(str(value).split("_")[-1], "~")


def _contains(values: Any, character: str) -> bool:
    tests = {"SPACE": str.isspace, "DIGIT": str.isdigit, "WORD": str.isalnum}
    for kind, value in values:
        if kind is codes.LITERAL and chr(value) == character:
            return True
        if kind is codes.RANGE and value[0] <= ord(character) <= value[1]:
            return True
        if kind is codes.CATEGORY and tests[str(value).split("_")[-1]](character):
            return True
    return False


def repeated(tokens: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """Text before each unbounded repetition of a pattern, and the text that it repeats."""
    for kind, value in tokens:
        if kind in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            if value[1] > 1000:
                yield before, sample(value[2])
            yield from repeated(value[2], before)
        elif kind is codes.SUBPATTERN:
            yield from repeated(value[3], before)
        elif kind is codes.BRANCH:
            for branch in value[1]:
                yield from repeated(branch, before)
        elif kind in (codes.ASSERT, codes.ASSERT_NOT):
            yield from repeated(value[1], before)
        elif kind is codes.ATOMIC_GROUP:
            yield from repeated(value, before)
        before += _sample(kind, value)


def hard_texts(pattern: str | bytes, flags: int) -> Iterator[str]:
    """Texts whose parts a pattern repeats, with an end that it does not accept."""
    tokens = parser.parse(pattern if isinstance(pattern, str) else pattern.decode("latin-1"), flags)
    for before, part in {*repeated(tokens)}:
        for unit in {part, before + part, part + " ", part + "\n"} - {""}:
            body = unit * (LENGTH // len(unit))
            for end in ("", "\x00", "!\n\x00"):
                yield before + body + end


def main(left_out: set[str]) -> None:
    """Apply all expressions except those of some files to their hard texts; print each before."""
    for path, pattern, flags, function in expressions():
        if path in left_out:
            continue
        expression = re.compile(pattern, flags)
        print(path, function, repr(pattern), flush=True)
        for text in hard_texts(pattern, flags):
            subject: Any = text if isinstance(pattern, str) else text.encode()
            if function in ANCHORED:
                getattr(expression, function)(subject)
            else:
                for _ in expression.finditer(subject):
                    pass


if __name__ == "__main__":
    sys.path[:0] = map(str, ROOTS)
    main(set(sys.argv[1:]))

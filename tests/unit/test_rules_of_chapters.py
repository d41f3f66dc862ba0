"""Rules of a chapter use no names of other chapters; shared rules use none of any chapter."""

from __future__ import annotations

import os
import re
import subprocess
import symtable
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.parser import parse
from snakemake.sourcecache import LocalSourceFile

import everycell.workflow

#: Rules that ship with the package.
PACKAGED = Path(everycell.workflow.__file__).parent / "rules"
RULE = re.compile(r"^ *(?:use +rule +[\w, ]+? +as|rule|checkpoint) +(\w+)", re.MULTILINE)
USED_RULE = re.compile(r"\brules\.(\w+)|^ *use +rule +(\w+)", re.MULTILINE)


def chapter_of(path: Path, workflow: Path) -> str:
    """Chapter that a file belongs to, as KEY/ch2; its paper; or "" where all may read it."""
    if not path.is_relative_to(workflow):
        return ""
    # In `papers`; `rules` and `papers/shared` have files that all may read.
    paper, _, name = "/".join(path.relative_to(workflow).parts[1:]).rpartition("/")
    if paper == "shared":
        return ""
    chapter = re.match(r"ch[0-9A-Z]+", name)
    return f"{paper}/{chapter[0]}" if paper and chapter else paper


def as_python(path: Path) -> str:
    """Rules as the Python that Snakemake makes of them."""
    with path.open(encoding="utf-8") as file:
        # All that the parser asks of a workflow.
        workflow = SimpleNamespace(sourcecache=SimpleNamespace(open=lambda source: file))
        return parse(LocalSourceFile(str(path)), workflow, {})[0]


def global_names(table: symtable.SymbolTable) -> tuple[set[str], set[str]]:
    """Names that a file defines at its top level, and the ones that it reads from there."""
    defined, read = set(), set()
    waiting = [table]
    while waiting:
        block = waiting.pop()
        waiting += block.get_children()
        for symbol in block.get_symbols():
            if block is table:
                if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace():
                    defined.add(symbol.get_name())
                if symbol.is_referenced():
                    read.add(symbol.get_name())
            elif symbol.is_global():
                read.add(symbol.get_name())
    return defined, read


def names(path: Path) -> tuple[set[str], set[str]]:
    """Names that a file of rules defines and reads: variables, functions, rules ("rules.fetch")."""
    table = symtable.symtable(as_python(path), str(path), "exec")
    defined, read = global_names(table)
    text = path.read_text(encoding="utf-8")
    defined |= {f"rules.{name}" for name in RULE.findall(text)}
    read |= {f"rules.{first or second}" for first, second in USED_RULE.findall(text)}
    # Snakemake's own: functions that it makes of rules.
    defined = {name for name in defined if not name.startswith("__")}
    return defined, read - defined


def strangers(workflow: Path, packaged: Path | None = None) -> list[str]:
    """Names that a file of rules uses from another chapter, or from any if it is shared."""
    files = sorted([*workflow.rglob("*.smk"), *(packaged.rglob("*.smk") if packaged else ())])
    result = {path: names(path) for path in files}
    shared = {
        name
        for path, (defined, _) in result.items()
        if not chapter_of(path, workflow)
        for name in defined
    }
    faults = []
    for path, (_, read) in result.items():
        own = chapter_of(path, workflow)
        for other, (defined, _) in result.items():
            theirs = chapter_of(other, workflow)
            # Files of a paper that belong to no chapter serve all of its chapters.
            if theirs and theirs not in (own, own.partition("/")[0]):
                for name in sorted(defined & read - shared):
                    faults.append(f"{os.path.relpath(path, workflow)} reads {name} of {other.name}")
    return faults


def test_rules_names_of_other_chapters(repository):
    assert strangers(repository / "workflow", PACKAGED) == []


def test_packaged_rules_names_of_repository(repository):
    shared = [names(path) for path in PACKAGED.rglob("*.smk")]
    local = [names(path) for path in (repository / "workflow").rglob("*.smk")]
    read = set().union(*(read for _, read in shared))
    packaged = set().union(*(defined for defined, _ in shared))
    assert read & set().union(*(defined for defined, _ in local)) - packaged == set()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("SIZE = OWN\n", None),
        ("SIZE = OTHERS + 1\n", "reads OTHERS"),
        ("def size(wildcards):\n    return [OTHERS for _ in range(2)]\n", "reads OTHERS"),
        ("def size(OTHERS):\n    return OTHERS\n", None),
        ('rule b:\n    output:\n        f"{OTHERS}.csv",\n', "reads OTHERS"),
        ("rule b:\n    params:\n        OTHERS=1,\n", None),
        ("rule b:\n    input:\n        rules.a.output,\n", "reads rules.a"),
        ("use rule a as b with:\n    threads: 1\n", "reads rules.a"),
    ],
)
@pytest.mark.parametrize("location", ["papers/toy2026/ch2.smk", "rules/shared.smk"])
def test_strangers(tmp_path, location, text, fault):
    for folder in ("papers/toy2026", "rules"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "papers/toy2026/ch1.smk").write_text("OTHERS = 1\n\n\nrule a:\n    threads: 1\n")
    (tmp_path / "rules/common.smk").write_text("OWN = 1\n")
    (tmp_path / location).write_text(text)
    expected = [] if fault is None else [f"{location} {fault} of ch1.smk"]
    assert strangers(tmp_path) == expected


def other_parents(rules: Path, packaged: Path) -> list[str]:
    """Rules that others inherit from, and merge parameters with, outside parents.smk."""
    parents = RULE.findall((packaged / "parents.smk").read_text(encoding="utf-8"))
    return [
        f"{path.relative_to(rules)}: {name}"
        for path in sorted(rules.rglob("*.smk"))
        for _, name in USED_RULE.findall(path.read_text(encoding="utf-8"))
        if name and name not in parents
    ]


def test_rules_parents(repository):
    # With `use rule`, parameters that the new rule does not name stay those of the old one.
    assert other_parents(repository / "workflow", PACKAGED) == []
    assert other_parents(PACKAGED, PACKAGED) == []


def test_other_parents(tmp_path):
    (tmp_path / "parents.smk").write_text("rule step:\n    threads: 1\n")
    (tmp_path / "toy.smk").write_text(
        "use rule step as a with:\n    threads: 1\n\nuse rule a as b with:\n"
    )
    assert other_parents(tmp_path, tmp_path) == ["toy.smk: a"]


def test_rules_slow_imports(repository):
    # Snakemake reads all rules at each start, and on a cluster for each job.
    names = re.compile(r"^from ((?:everycell|papers)[\w.]*) import", re.MULTILINE)
    workflow = repository / "workflow"
    files = [*workflow.rglob("*.smk"), *PACKAGED.rglob("*.smk"), repository / "Snakefile"]
    modules = sorted({name for file in files for name in names.findall(file.read_text("utf-8"))})
    assert len(modules) > 20
    lines = [f"import {name}" for name in modules]
    slow = ("scipy", "sklearn", "statsmodels", "matplotlib", "torch", "numba", "lightgbm")
    lines += ["import sys", f"print(*(name for name in {slow} if name in sys.modules))"]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        env=os.environ | {"PYTHONPATH": str(workflow)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stdout + done.stderr

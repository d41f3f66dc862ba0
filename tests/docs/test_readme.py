"""Commands, options, targets, links and fields in the documentation exist."""

import re
import shlex
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
import typer
import yaml
from harness import load_script, published
from markdown import markdown

from everycell.cli import app
from everycell.config import parse_config
from everycell.records.cells import DESCRIPTION
from everycell.records.papers import all_artefacts
from everycell.records.tables import RUNNABLE
from everycell.sources import fetch
from everycell.statistics.anova import anova
from everycell.statistics.fast_anova import FastAnova
from papers.lajewska2025.user_study_data import (
    EXPLANATION_RATINGS,
    TRANSPARENCY_FACTORS,
    VIEWPOINTS,
    read_response_limitations,
    read_transparency,
)

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *REPOSITORY.glob("docs/**/*.md")]
)
#: Files of a fresh clone, and new ones that git does not ignore.
TRACKED = {
    (REPOSITORY / name).resolve()
    for name in subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
}
#: Papers that docs/your-own-paper.md adds, which are not in the repository.
TOYS = ("toy2026", "smith2026")
# A fence may be indented, as in a list.
FENCE = re.compile(r"^ *```(?P<language>\w*)\n(?P<body>.*?)^ *```$", re.M | re.S)


def read(page: Path) -> str:
    return page.read_text("utf-8")


def commands(tool: str) -> list[tuple[str, list[str]]]:
    """Return page and words of each command of a tool, in blocks and in the running text."""
    result = []
    for page in PAGES:
        blocks = [m["body"] for m in FENCE.finditer(read(page)) if m["language"] == "bash"]
        lines = [line for block in blocks for line in block.splitlines()]
        # A command in the running text may be broken over two lines.
        inline = re.findall(r"`([^`]+)`", FENCE.sub("", read(page)))
        for line in [*lines, *(" ".join(text.split()) for text in inline)]:
            if line.startswith(f"{tool} "):
                words = shlex.split(line, comments=True)
                result.append((page.relative_to(REPOSITORY).as_posix(), words[1:]))
    return result


def params(tool: str):
    return pytest.mark.parametrize(
        ("page", "words"),
        [pytest.param(p, w, id=f"{p}: {' '.join(w)}") for p, w in commands(tool)],
    )


def page_params(pages: list[Path] = PAGES):
    names = [page.relative_to(REPOSITORY).as_posix() for page in pages]
    return pytest.mark.parametrize("page", pages, ids=names)


@params("make")
def test_pages_make_targets_and_settings(page, words):
    makefile = read(REPOSITORY / "Makefile")
    for word in words:
        if "=" in word:
            assert re.search(rf"^{word.partition('=')[0]} \?=", makefile, re.M), word
        else:
            assert re.search(rf"^{re.escape(word)}:", makefile, re.M), word


@cache
def options_of_commands() -> dict[str, set[str]]:
    """Return the options of each command, by its name with that of its group."""
    commands = dict(typer.main.get_command(app).commands)
    for group in [name for name, command in commands.items() if hasattr(command, "commands")]:
        members = commands.pop(group).commands
        commands |= {f"{group} {name}": command for name, command in members.items()}
    return {
        name: {option for param in command.params for option in param.opts}
        for name, command in commands.items()
    }


@params("everycell")
def test_pages_commands_and_options(page, words):
    # Later words are options of Snakemake.
    words = words[: words.index("--")] if "--" in words else words
    options = options_of_commands()
    name = words[0] if words[0] in options else " ".join(words[:2])
    assert {word for word in words if word.startswith("--")} <= options[name]
    papers = published()
    ids = {artefact.id for artefact in all_artefacts(papers)}
    for word in words[1:]:
        paper, _, name = word.partition("/")
        if name.startswith(("table_", "figure_", "text_")) and paper not in TOYS:
            assert word in ids


def test_howto_commands_and_options():
    known = options_of_commands()
    table = read(REPOSITORY / "docs/howto.md").split("| command | does |")[1].split("\n\n")[0]
    command = r"^\| `everycell ((?:(?:data|measure|paper) )?[\w-]+)[^`]*` \| (.+) \|$"
    listed = dict(re.findall(command, table, re.M))
    assert listed.keys() == known.keys()
    for name, text in listed.items():
        assert set(re.findall("`(--[a-z-]+)`", text)) <= known[name]


@pytest.fixture(scope="module")
def known_targets() -> set[str]:
    """Return the names that Snakemake knows."""
    tools = Path(sys.executable).parent
    command = [str(tools / "snakemake"), "--list"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    # Each line has a name, and what it makes in brackets.
    return {line.split()[0] for line in done.stdout.splitlines() if line}


@cache
def result_files() -> set[str]:
    """Return tier and id of what can run, as the start of a result's path."""
    papers = published()
    return {
        f"results/{tier}/{artefact.id}"
        for artefact in all_artefacts(papers)
        for tier, record in artefact.record.tiers.items()
        if record.state in RUNNABLE
    }


#: Options of Snakemake with a value.
VALUED = (
    "--cores",
    "--config",
    "--configfile",
    "--profile",
    "--report",
    "--resources",
    "--workflow-profile",
)


@params("snakemake")
def test_pages_snakemake_targets_and_options(page, words, known_targets):
    from snakemake.cli import get_argument_parser

    options = {o for action in get_argument_parser()._actions for o in action.option_strings}
    requests = [word for word in words if not word.startswith("-")]
    for option, value in pairwise(words):
        if option in VALUED:
            requests.remove(value)
    assert {word for word in words if re.match("--.", word)} <= options
    for target in requests:
        if target.startswith("results/rulegraphs/"):
            assert Path(target).stem in known_targets
        elif target.startswith("results/"):
            assert target.split(".")[0] in result_files()
        elif target.startswith("work/"):
            # Intermediate files: a rule writes there.
            folder = target.split("/")[1]
            folders = (REPOSITORY / "workflow", REPOSITORY / "src/everycell/workflow/rules")
            rules = (file for of in folders for file in of.rglob("*.smk"))
            assert any(f'"work/{folder}/' in read(file) for file in rules)
        else:
            assert target in known_targets | {*TOYS}


def test_howto_targets(known_targets):
    table = read(REPOSITORY / "docs/howto.md").split("| target | makes |")[1].split("\n\n")[0]
    names = [name for row in table.splitlines()[2:] for name in re.findall("`(.+?)`", row[:60])]
    assert len(names) >= 6
    for name in names:
        assert name.split(".")[0] in known_targets | result_files()


@page_params()
def test_pages_relative_links(page):
    for text, link in re.findall(r"\[([^]]*)\]\(([^)\s]+)\)", FENCE.sub("", read(page))):
        if not link.startswith(("https://", "http://", "#")):
            path = (page.parent / link.partition("#")[0]).resolve()
            # A file of a run is not there in a fresh clone.
            is_tracked = path in TRACKED or any(path in file.parents for file in TRACKED)
            assert is_tracked, f"{text}: {link}"


@page_params()
def test_pages_file_names(page):
    tracked = re.compile(r"`((?:src|tests|docs|envs|workflow)/[\w./-]+\.\w+)`")
    for path in tracked.findall(FENCE.sub("", read(page))):
        made_by_the_walk = any(toy in path for toy in TOYS)
        assert made_by_the_walk or (REPOSITORY / path).is_file(), path


def test_pages_linked():
    linked = read(REPOSITORY / "docs" / "index.md") + read(REPOSITORY / "README.md")
    for page in REPOSITORY.glob("docs/**/*.md"):
        if page.name != "index.md":
            assert f"({page.relative_to(REPOSITORY / 'docs').as_posix()})" in linked


def test_papers_pages_and_rows():
    readme = read(REPOSITORY / "README.md")
    for key, paper in published().items():
        assert (REPOSITORY / "docs" / "papers" / f"{key}.md").is_file()
        row = next(line for line in readme.splitlines() if line.startswith(f"| `{key}`"))
        assert paper.authors in row and str(paper.year) in row


def test_readme_counts():
    readme = " ".join(read(REPOSITORY / "README.md").split())
    result = re.search(r"All (\d+) tables, (\d+) figures and (\d+) passages", readme)
    names = [a.name for a in all_artefacts(published())]
    counted = [sum(name.startswith(kind) for name in names) for kind in ("table", "figure", "text")]
    assert [int(n) for n in result.groups()] == counted


@page_params()
def test_pages_settings(page):
    output = [yaml.safe_load(m["body"]) for m in FENCE.finditer(read(page)) if m[1] == "yaml"]
    for content in output:
        if content.keys() & {"user_studies", "mirror", "cache", "seed", "network"}:
            parse_config(content)


def test_records_page_columns():
    section = read(REPOSITORY / "docs/records.md").split("\n## Published values\n")[1]
    assert tuple(re.findall(r"^\| `(\w+)` \|", section.split("\n## ")[0], re.M)) == DESCRIPTION


make_record_reference = load_script("docs/make_record_reference.py")


def test_record_reference():
    result = make_record_reference.render()
    page = read(REPOSITORY / "docs/record-reference.md")
    assert page == result, "run: python docs/make_record_reference.py"
    links = set(re.findall(r"\]\(#([^)]+)\)", result))
    headings = re.findall(r"^#+ (.+)$", result, re.M)
    anchors = [re.sub(r"[^\w-]", "", title.lower().replace(" ", "-")) for title in headings]
    assert len(set(anchors)) == len(anchors) and links <= set(anchors)
    assert "### Claim\n\nA claim of the paper that " in result  # a section begins with its model


make_errata = load_script("docs/make_errata.py")


def test_errata_page():
    result = make_errata.render(published())
    assert read(REPOSITORY / "docs" / "errata.md") == result, "run: python docs/make_errata.py"


def test_errata_page_hostile_record():
    evil = (
        "<script>alert(1)</script> [here](javascript:alert(1)) ![](http://127.0.0.1:9/a.png) "
        "<javascript:alert(1)> <img src=x onerror=alert(1)> { onclick=alert(1) } `a` # *b*"
    )
    paper = published()["sakai2023"]
    artefacts = {}
    for name, artefact in paper.artefacts.items():
        errata = [
            erratum.model_copy(
                update=dict.fromkeys(("id", "finding", "evidence", "source"), evil)
                | {"audit": None}
            )
            for erratum in artefact.record.errata
        ]
        record = artefact.record.model_copy(
            update={"errata": errata, "title": evil, "source": evil}
        )
        artefacts[name] = artefact.model_copy(update={"record": record})
    hostile = paper.model_copy(update={"artefacts": artefacts, "authors": evil, "title": evil})
    extensions = ["attr_list", "tables", "toc"]
    page = markdown(make_errata.render({"sakai2023": hostile}), extensions=extensions)
    assert page.count("alert(1)") > 30
    result = set(re.findall(r"<(\w+)", page))
    assert result <= {"h1", "h2", "h3", "p", "em", "strong", "code"}
    # Only the head of the page has words set in italics or as code.
    assert not re.search(r"<[^>]*(onclick|onerror|href|src)=", page)


def study_page() -> str:
    return " ".join(read(REPOSITORY / "docs" / "papers" / "lajewska2025.md").split())


def test_lajewska2025_page_viewpoints(mirror, tmp_path):
    path = fetch("cis-response-limitations/viewpoints.csv", tmp_path, mirror=mirror, network=False)
    ratings = read_response_limitations(path, VIEWPOINTS)
    diversity, balance = VIEWPOINTS.conditions
    for rating in ("Diversity", "Transparency", "Balance", "Overall Satisfaction"):
        overall = anova(ratings, rating, ["Condition"])["F"].item()
        fast = FastAnova(ratings, [diversity, balance], solution="supported")
        p = fast.fit(ratings[rating]).table()["p"]
        row = f"| {rating} | {overall:.3f} | {p[balance]:.3f} | {p[diversity]:.3f} | 0.0 |"
        assert row in study_page()


def test_lajewska2025_page_repeated_ratings(mirror, tmp_path):
    path = fetch("transparent-cis/user_study.csv", tmp_path, mirror=mirror, network=False)
    rows = read_transparency(path)
    workers = rows.drop_duplicates("Worker")
    constant = [f for f in TRANSPARENCY_FACTORS if (rows.groupby("Worker")[f].nunique() == 1).all()]
    result = {"rows": [], "workers": []}
    for unit, ratings in (("rows", rows), ("workers", workers)):
        explained = ratings[ratings["Explanation Quality"] != "None"]
        tests = [(ratings, factor) for factor in constant]
        tests += [(explained, factor) for factor in ("Explanation Quality", "Presentation Mode")]
        for table, factor in tests:
            for rating in EXPLANATION_RATINGS:
                result[unit].append(anova(table, rating, [factor])["p"].item() <= 0.05)
    assert (len(constant), len(result["rows"])) == (5, 21)
    assert "in 21 tests, both the factor and the rating do." in study_page()
    assert f"As published, {sum(result['rows'])} of these" in study_page()
    assert f"With one row per worker, {sum(result['workers'])} do" in study_page()

"""The site: every link leads somewhere, nothing is loaded from elsewhere, made pages are whole."""

import inspect
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import markdown
import pandas as pd
import pytest
import yaml
from harness import load_script
from page import toys
from workflow.project import copy_tree, quick_site

from everycell.metrics import awrf
from everycell.public import public_modules
from everycell.records.papers import load_papers
from everycell.render.table_files import escape_cell, write_table

REPOSITORY = Path(__file__).resolve().parents[2]
SCHEMA = json.loads(
    (REPOSITORY / "workflow/schemas/config.schema.json").read_text(encoding="utf-8")
)


docstrings = load_script("docs/docstrings.py")
check_links = load_script("docs/check_links.py")
site_pages = load_script("docs/site_pages.py")


@pytest.fixture(scope="module")
def site(tmp_path_factory, pytestconfig):
    """Folder of the site: the one of ``--site``, else built as the rule does."""
    if result := pytestconfig.getoption("--site"):
        return result
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    # A link that leads nowhere, a page outside the navigation: warnings, which --strict refuses.
    assert built.returncode == 0, built.stdout
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return check_links.read_pages(site)


@pytest.mark.slow
def test_site_links_and_external_files(site, pages):
    assert sum(len(page.links) for page in pages.values()) > 1000
    assert all(page.loaded for page in pages.values())
    assert not list(check_links.faults(site, pages))


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ('<a href="b.html#here">', None),
        ('<a href="sub/">', None),
        ('<a href="#top"><p id="top">', None),
        ('<a href="https://elsewhere.example">', None),
        ('<a href="c.html">', "the link c.html has no target"),
        ('<a href="b.html#there">', "the link b.html#there has no target"),
        ('<a href="../outside.html">', "the link ../outside.html has no target"),
        ('<img src="a.svg">', "the file a.svg is missing"),
        ('<img src="//elsewhere.example/a.svg">', "is an external file"),
    ],
)
def test_check_links_faults(tmp_path, written, message):
    site = tmp_path / "site"
    (site / "sub").mkdir(parents=True)
    for name in ("../outside.html", "b.html", "sub/index.html"):
        (site / name).write_text('<p id="here">')
    (site / "a.html").write_text(written)
    result = list(check_links.faults(site, check_links.read_pages(site)))
    assert [f"a.html: {message}" in fault or message in fault for fault in result] == [True] * bool(
        message
    )


def test_check_links_relative_address(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "b.html").write_text("")
    for name in ("a.html", "sub/a.html"):
        (tmp_path / name).write_text('<a href="b.html">')
    [fault] = check_links.faults(tmp_path, check_links.read_pages(tmp_path))
    assert fault.startswith("sub/a.html: the link b.html")


@pytest.mark.slow
def test_site_without_results(tmp_path):
    project = copy_tree(tmp_path / "clone")
    # Of results/ only what git knows.
    assert [path.name for path in (project.folder / "results").iterdir()] == ["README.md"]
    site = quick_site(project)
    assert "not run" in (site / "papers/sakai2023.html").read_text("utf-8")


@pytest.mark.slow
def test_site_pages_of_modules_and_papers(pages):
    expected = {name.removeprefix("everycell.").replace(".", "/") for name in public_modules()}
    assert len(expected) > 30
    assert {f"reference/{name}.html" for name in expected} <= set(pages)
    for paper in REPOSITORY.glob("published/*/paper.yaml"):
        text = "".join(pages[f"papers/{paper.parent.name}.html"].text)
        assert "Results of chapter" in text
    formulas = "".join(pages["reference/metrics/awrf.html"].text)
    assert "math::" in inspect.getsource(awrf) and "math::" not in formulas


def site_text(folder, listed_results):
    papers = load_papers(folder / "published")
    return site_pages.paper_results(
        papers["toy2026"], listed_results, folder / "results", "../results"
    )


def test_paper_results_escaped(tmp_path):
    text = site_text(tmp_path, toys.toy_results(tmp_path / "published", tmp_path / "results"))
    results = text.partition("## Errata")[0]
    rows = [line for line in results.splitlines() if line.startswith("| Table 1")]
    assert len(rows) == 2  # its full tier was not run, and two others say more
    verdicts = "| reproduced | 2 equal, 1 within tolerance, "
    assert any(verdicts in row and "1 different" in row for row in rows)
    assert "Scores &lt;b&gt;of&lt;/b&gt; two runs" in text and "<b>" not in text
    assert "ten thousand crowd workers" in text
    assert "![Bars of the two runs](../results/released/toy2026/figure_1.svg)" in text
    assert "The two values of the last row are swapped." in text


class Elements(HTMLParser):
    """Elements with their attributes, and the text of a piece of HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.attributes, self.cells, self.rows, self.text = set(), set(), [], 0, ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}
        self.rows += tag == "tr"
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data):
        self.text += data
        if self.cells:
            self.cells[-1] += data


def as_html(text):
    """Markdown as the site shows it: with the extensions of mkdocs.yml."""
    extensions, settings = [], {}
    listed = yaml.safe_load((REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8"))
    for entry in listed["markdown_extensions"]:
        name, options = next(iter(entry.items())) if isinstance(entry, dict) else (entry, {})
        extensions.append(name)
        settings[name] = options
    return Elements(markdown.markdown(text, extensions=extensions, extension_configs=settings))


#: Texts that Python-Markdown could take for markup, besides HTML.
MARKUP = (
    "a { onclick=alert(1) }",
    "{: #x onfocus=alert(1) autofocus }",
    "[here](javascript:alert(1))",
    "![x](x){ onerror=alert(1) }",
    "<javascript:alert(1)>",
    "a\\<script>alert(1)</script>",
    "`<i>` *b* __c__ a|b \\| &lt;b&gt;",
    "??? note",
)


def test_paper_results_hostile_texts(tmp_path):
    toy_results = toys.hostile(tmp_path / "published", tmp_path / "results")
    output = [*MARKUP, *toys.HOSTILE.splitlines()]
    frame = pd.DataFrame(
        [{"run": text, "metric": f"M {text}", "value": text, "marker": text} for text in output]
    )
    for tier in ("embedded", "released"):
        write_table(
            frame,
            tmp_path / f"results/{tier}/toy2026/table_1",
            title=f"# {' '.join(output)}",
            layout_rows=["run"],
            layout_columns=["metric"],
            decimals={},
        )
    # A file that somebody edited: no table, other blocks.
    (tmp_path / "results/embedded/toy2026/table_1.md").write_text(
        "\n\n".join(["::: everycell", "# a { onclick=b }", *output, "~~~\n<b>\n~~~", "    <i>"])
    )
    paper = load_papers(tmp_path / "published")["toy2026"]
    artefacts = {toy.artefact.name: toy.artefact for toy in toy_results}
    chapters = {key: f"{title} {toys.HOSTILE}" for key, title in paper.chapters.items()}
    paper = paper.model_copy(update={"artefacts": artefacts, "chapters": chapters})
    page = as_html(site_pages.paper_results(paper, toy_results, tmp_path / "results", "../results"))
    plain = {"h2", "h3", "p", "a", "img", "details", "summary", "sup"}
    assert page.tags - plain == {"table", "thead", "tbody", "tr", "th", "td"}
    allowed = {"id", "class", "title", "href", "src", "alt", "style"}
    assert page.attributes <= allowed, page.attributes - allowed


def test_embed_table_texts(tmp_path):
    texts = [*MARKUP, "p_value", "0.33", "−1.2 (n/a)", "50% ~ $x$", "a&b &amp; c"]
    frame = pd.DataFrame({"run": texts, "metric": "P", "value": texts})
    stem = tmp_path / "table_1"
    write_table(
        frame, stem, title="A *b*", layout_rows=["run"], layout_columns=["metric"], decimals={}
    )
    page = as_html(site_pages.embed_table(stem.with_suffix(".md").read_text(encoding="utf-8")))
    assert page.rows == len(texts) + 1
    assert [cell.strip() for cell in page.cells] == ["Run", "P", *sum(([t, t] for t in texts), [])]
    assert page.text.startswith("A *b*")


def test_embed_table_markers(tmp_path):
    frame = pd.DataFrame(
        {"run": ["a", "b^c"], "metric": "P^2^ x", "value": [0.33, 0.5], "marker": ["bc|d", ""]}
    )
    stem = tmp_path / "table_1"
    write_table(
        frame, stem, title="T^1^", layout_rows=["run"], layout_columns=["metric"], decimals={}
    )
    text = site_pages.embed_table(stem.with_suffix(".md").read_text(encoding="utf-8"))
    assert text.count("<sup>") == 1 and "0.33<sup>bc&#124;d</sup> |" in text
    assert [cell.strip() for cell in as_html(text).cells] == [
        *("Run", "P^2^ x", "a", "0.33bc|d", "b^c", "0.5")
    ]


def test_paper_results_not_run(tmp_path):
    result = toys.toy_results(tmp_path / "published", tmp_path / "results")
    text = site_text(tmp_path, [entry for entry in result if entry.artefact.name == "table_2"])
    assert "not run" in text and "ten thousand crowd workers" in text and "???" not in text
    # The block of a result, which a table that was not run lacks.
    assert '??? example "' in site_text(tmp_path, result)


def leaves(node, prefix=""):
    for key, value in node.items():
        yield from leaves(value, f"{prefix}{key}.") if isinstance(value, dict) else [prefix + key]


def test_configuration_settings():
    text = site_pages.configuration(SCHEMA)
    names = set(re.findall(r"^\| `([\w.]+)` \|", text, re.M))
    settings = yaml.safe_load((REPOSITORY / "config.yaml").read_text(encoding="utf-8"))
    for setting in leaves(settings):
        # Names that users choose, as of language models, are documented by the key above.
        parts = setting.split(".")
        assert any(".".join(parts[:length]) in names for length in range(1, len(parts) + 1)), (
            setting
        )
    assert "`seed`" in text and "| `20261121` |" in text
    # A cell holds no bar of its own.
    assert all(
        len(re.findall(r"(?<!\\)\|", line)) == 5 for line in text.splitlines() if "|" in line
    )


@pytest.mark.parametrize(
    ("text", "expected_markdown"),
    [
        (".. math:: a = \\frac{1}{2}\n", ["<mfrac>"]),
        (
            "Some.\n\n    .. math:: a\n              + b\n\n    Then :math:`x_1`.\n",
            ["<msub>", "    Then"],
        ),
        (
            "As :func:`.awrf` and :class:`~everycell.a.B`.",
            ["As `awrf`", 'identifier="everycell.a.B"'],
        ),
        ("===  ===\na    b\n===  ===\n1    [2]\n===  ===\n\nEnd", ["```text", "1    [2]", "\nEnd"]),
    ],
)
def test_convert_to_markdown(text, expected_markdown):
    result = docstrings.convert_to_markdown(text)
    assert "math::" not in result and ":math:" not in result
    for part in expected_markdown:
        assert part in result


def test_convert_to_markdown_plain_docstring():
    text = "Sum.\n\nExamples\n--------\n>>> 1 == 1\nTrue"
    assert docstrings.convert_to_markdown(text) == text


def test_escape_cell_and_table():
    assert escape_cell("nDCG*@3 | <b>") == r"nDCG\*@3 \| &lt;b&gt;"
    assert site_pages.table(["key"], [["seed"]]) == "| key |\n|---|\n| seed |"


def test_configuration_bounds_and_default():
    seed = {"type": "integer", "default": 1, "minimum": 0, "description": "Seed of all."}
    row = "| `seed` | integer, at least 0 | `1` | Seed of all. |"
    assert row in site_pages.configuration({"properties": {"seed": seed}})

from pathlib import Path

import pytest

from everycell.records.registry import load_registry
from everycell.render.page.sources import input_files, links_to_code

ROOT = Path(__file__).parents[3]


def test_input_files_of_a_receipt():
    receipt = {"inputs": [{"path": "resources/transparent-cis/input_data.csv"}]}
    [(group, files)] = input_files(receipt, [], load_registry()).items()
    assert group == "transparent-cis (licence: none stated)"
    assert files[0][0] == "input_data.csv" and files[0][1].startswith("https://")


def receipt(script, **code):
    return {"code": {"script": script, "commit": "a1b2", "dirty": False, **code}}


@pytest.mark.parametrize(
    ("script", "names", "file"),
    [
        ("heuss2025/ch2:tables", ["function tables", "rule"], "workflow/papers/heuss2025/ch2.py"),
        ("rulegraph", ["script"], "workflow/scripts/rulegraph.py"),
        ("errata", ["script"], "src/everycell/workflow/scripts/errata.py"),
    ],
)
def test_links_to_code_links(script, names, file):
    links = links_to_code(receipt(script), ROOT, "https://example.org/r/")
    assert [link.name for link in links] == names and links[0].path == file
    for link in links:
        if link.line:
            line = (ROOT / link.path).read_text(encoding="utf-8").splitlines()[link.line - 1]
            assert script.partition(":")[2] in line
        assert link.address.startswith(f"https://example.org/r/blob/a1b2/{link.path}")
        assert link.address.endswith(f"#L{link.line}") == bool(link.line)


@pytest.mark.parametrize(
    ("code", "repository"),
    [
        ({"dirty": True}, "https://example.org"),
        ({"dirty": None}, "https://example.org"),
        ({"commit": None}, "https://example.org"),
        ({}, None),
    ],
)
def test_links_to_code_without_address(code, repository):
    links = links_to_code(receipt("heuss2025/ch2:tables", **code), ROOT, repository)
    assert [link.address for link in links] == [None, None] and links[0].line


def test_links_to_code_older_receipt():
    assert links_to_code({"code": {"sha256": "0"}}, ROOT, None) == []

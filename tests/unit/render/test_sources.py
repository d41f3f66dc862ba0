from pathlib import Path

import pytest

from everycell.receipts.code import hash_of_sources, script_files
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
        assert link.line is None and link.address.startswith(
            f"https://example.org/r/blob/a1b2/{link.path}"
        )


def test_links_to_code_line_of_current_code():
    """A line is that of the commit only if the code is the same."""
    script = "heuss2025/ch2:tables"
    sha256 = hash_of_sources(script_files(script, ROOT), ROOT)
    function, rule = links_to_code(receipt(script, sha256=sha256), ROOT, "https://example.org")
    line = (ROOT / function.path).read_text(encoding="utf-8").splitlines()[function.line - 1]
    assert "def tables(" in line and function.address.endswith(f"ch2.py#L{function.line}")
    assert rule.line is None and rule.address.endswith(".smk")


def test_links_to_code_scripts_of_the_package(tmp_path):
    """A repository of `everycell init` does not have them."""
    (tmp_path / "workflow/scripts").mkdir(parents=True)
    (tmp_path / "workflow/scripts/own.py").write_text("")
    [shared] = links_to_code(receipt("read_values"), tmp_path, "https://example.org")
    assert shared.path.startswith("src/everycell/") and shared.address is None
    [own] = links_to_code(receipt("own"), tmp_path, "https://example.org")
    assert own.address == "https://example.org/blob/a1b2/workflow/scripts/own.py"


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
    assert [link.address for link in links] == [None, None]


def test_links_to_code_older_receipt():
    assert links_to_code({"code": {"sha256": "0"}}, ROOT, None) == []

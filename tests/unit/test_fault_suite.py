"""The table of the fault suite."""

import fault_suite
import pytest


def test_faults_have_tests(repository):
    text = "".join(
        path.read_text(encoding="utf-8") for path in (repository / "tests").rglob("test_*.py")
    )
    unused = [kind for kind in fault_suite.FAULTS if f'mark.fault("{kind}")' not in text]
    assert unused == []


def test_write_into_marks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{fault_suite.BEGIN}\nold\n{fault_suite.END}\nafter\n")
    fault_suite.write_into(page, "new")
    assert page.read_text() == f"before\n{fault_suite.BEGIN}\nnew\n{fault_suite.END}\nafter\n"


def test_write_into_without_marks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("text")
    with pytest.raises(pytest.UsageError, match="put it back"):
        fault_suite.write_into(page, "new")
    assert page.read_text() == "text"


def test_table_failed_fault():
    rows = fault_suite.table([("clock", 2, True), ("clock", 3, False)]).splitlines()
    assert rows[-1].split(" | ")[1:3] == ["5", "2"]

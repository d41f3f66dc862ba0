"""Differences that the record of a result allows when it is made again."""

import pytest

from everycell.cli.rebuild_check import differences_beyond
from everycell.receipts.diff import Difference

NEW = "row,metric,value\na,MAP,0.2\nb,MAP,0.7\na,p,0.001\nb,p,0.9\n"


@pytest.mark.fault("receipt")
@pytest.mark.parametrize(
    ("old", "files", "beyond"),
    [
        (NEW.replace("0.7", "0.71"), ["csv", "tex"], []),
        (NEW.replace("0.001", "0.1"), ["csv"], []),
        (NEW.replace("0.7", "0.82"), ["csv"], ["b / MAP"]),
        (NEW.replace("0.7", "nan"), ["csv"], ["b / MAP"]),
        (NEW.replace("0.7", "-"), ["csv"], ["b / MAP"]),
        (NEW.replace("b,MAP,0.7\n", ""), ["csv"], ["b / MAP"]),
        (NEW + "c,MAP,0.5\n", ["csv"], ["c / MAP"]),
        (NEW, ["tex"], ["table_1.tex"]),
        (NEW.replace("0.7", "70.0") + "c,MAP,inf\n", ["csv"], ["b / MAP", "c / MAP"]),
    ],
)
def test_differences_beyond(tmp_path, old, files, beyond):
    for side, text in (("old", old), ("new", NEW)):
        (tmp_path / side / "embedded/toy").mkdir(parents=True)
        (tmp_path / side / "embedded/toy/table_1.csv").write_text(text)
    names = tuple(f"table_1.{form}" for form in files)
    compared = Difference(name="embedded/toy/table_1", files=names)
    folders = tmp_path / "old", tmp_path / "new"
    assert differences_beyond(compared, *folders, 0.2) == beyond
    assert differences_beyond(compared, *folders, 0.0) == list(names)

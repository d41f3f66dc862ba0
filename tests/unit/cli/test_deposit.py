"""Metadata of a deposit, and what an anonymous one must not contain."""

import base64
import bz2
import gzip
import io
import json
import lzma
import re
import subprocess
import tarfile
import zipfile
import zlib
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa
import pytest
import yaml
from PIL import Image
from pydantic import ValidationError

from everycell import __version__
from everycell.base import installation
from everycell.cli import anonymous, readable
from everycell.cli.deposit import citation, lock_lines, refuse_placeholders, zenodo_metadata
from everycell.cli.placeholders import PLACEHOLDERS
from everycell.cli.secret_files import refuse_secrets
from everycell.receipts.receipts import ReceiptError, read_receipt, write_receipt
from everycell.records.cells import RecordError
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


WHEEL = "everycell_repro-0.3.0-py3-none-any.whl"


@pytest.mark.parametrize("is_anonymous", [True, False])
@pytest.mark.parametrize(
    ("origin", "kind"),
    [
        ({}, "index"),
        ({"url": "file:///lab/code", "dir_info": {"editable": True}}, "local"),
        ({"url": "file:///lab/code", "dir_info": {}}, "local"),
        ({"url": f"file:///gone/{WHEEL}", "archive_info": {}}, "local"),
        ({"url": "file:///lab/code", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}}, "local"),
        ({"url": f"https://host/{WHEEL}", "archive_info": {}}, "address"),
        ({"url": "file:///{folder}/" + WHEEL, "archive_info": {}}, "wheel"),
    ],
)
def test_lock_lines(tmp_path, monkeypatch, caplog, origin, kind, is_anonymous):
    """A lock has no path of this machine, and says what to do about a version on no index."""
    (tmp_path / WHEEL).touch()
    origin = origin | {"url": origin.get("url", "").replace("/{folder}", str(tmp_path))}
    monkeypatch.setattr(installation, "_direct_url", lambda: origin)
    lines = lock_lines(installation.wheel_file(), anonymous=is_anonymous)
    released = f"everycell-repro[workflow]=={__version__}"
    address = f"everycell-repro[workflow] @ {origin['url']}"
    expected = {"address": released if is_anonymous else address, "wheel": f"./wheels/{WHEEL}"}
    assert lines[-1] == expected.get(kind, released)
    assert (len(lines) == 2 and lines[0].startswith("# ")) == (kind == "local")
    assert ("installed from /" in caplog.text) == (kind == "local")
    assert "lab" not in "".join(lines) and "gone" not in "".join(lines)


PLACES = {
    "paper.yaml": "# first\ntitle: On bees\nauthors: {authors}\nlicence: '{licence}'\n",
    "registry.yaml": "sets:\n  bees: {{authors: {authors}, paper: {title}}}\n",
    "ch1.yaml": "artefacts:\n  table_1:\n    source: '{source}; read from a.md (sha256 0)'\n"
    "    claims:\n    - {{id: c, source: '{source}'}}\n    - {{id: d, source: p. 1}}\n",
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
        ("ch1.yaml", {}, "line 3 (source); published/b2026/ch1.yaml, line 5 (source)"),
        ("ch1.yaml", {"source": "p. 1"}, None),
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


@pytest.mark.parametrize("content", [b"a: {b\n", b"a: \xff\n"])
def test_refuse_placeholders_invalid_yaml(tmp_path, content):
    path = tmp_path / "published/a2026/registry.yaml"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    with pytest.raises(RecordError, match="registry.yaml is not "):
        refuse_placeholders(tmp_path)


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
        ("AdaOde", "Ada Ode"),
        ("model_of_ada_ode.bin", "Ada Ode"),
        ("ada-ode-2026", "Ada Ode"),
        ("reportAdaOdeNew", "Ada Ode"),
        ("Ode, Ada", "Ode"),
        ("ode_ada", "Ode Ada"),
        ("MüllerRanker", "Müller"),
        ("Ada\nOde", "Ode"),
        ("\uff21\uff44\uff41 \uff2f\uff44\uff45", "Ode"),
        ("Àdá Òdè", "Ode"),
        ("Mu\u0308ller", "Müller"),
        ("M=C3=BCller", "Müller"),
        ("A=64a O=\nde", "Ode"),
        ("A%64a%20%4Fde", "Ode"),
        ("%2541da%2520%254Fde", "Ode"),
        ("&#79;&#x64;e", "Ode"),
        (r"\x4fde", "Ode"),
        (r"\u{4f}de", "Ode"),
        (r"/Author (\376\377\000O\000d\000e)", "Ode"),
        ("O<b>de</b>", "Ode"),
        ("a.b@lab.host.org", "a.b@lab.host.org"),
        ("a.b [at] lab.host.org", "a.b@lab.host.org"),
        ("a.b at lab dot host dot org", "a.b@lab.host.org"),
        ("a.b&#64;lab.host.org", "a.b@lab.host.org"),
        ("v1.0-3-gc0ffeec", "c0ffeec"),
        ("0.1.dev3+gc0ffeec.d2026", "c0ffeec"),
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
    run(["git", "config", "user.email", "a.b@lab.host.org"])
    forbidden = anonymous.identities(
        project / "results", project, {"paper2026": paper(authors=AUTHORS)}
    )
    archive = tmp_path / "deposit.zip"
    with zipfile.ZipFile(archive, "w") as content:
        content.writestr("README.md", f"# Results\n{text}\n")
    if word is None:
        anonymous.refuse_identities(archive, forbidden, {})
        return
    with pytest.raises(ReceiptError, match="README.md, line 2: ") as error:
        anonymous.refuse_identities(archive, forbidden, {})
    assert word.split()[-1] in str(error.value)


KEY = b" hf_" + b"aB3" * 12


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


def tar(name: str, content: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return file.getvalue()


def picture(kind: str) -> bytes:
    """A picture whose metadata have an artist, in letters of one byte and of two."""
    file = io.BytesIO()
    facts = Image.Exif()
    facts[0x9C9D] = "by Ode".encode("utf-16-le")
    Image.new("RGB", (9, 9)).save(file, kind, exif=facts)
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
        ("data/a.zst", pa.compress(b"q 0 d 1 1 by-Ode\n", "zstd", asbytes=True)),
        ("data/a.lz4", pa.compress(b"q 0 d 1 1 by-Ode\n", "lz4", asbytes=True)),
        ("data/cut.gz", gzip.compress(b"by Ode\n" * 9)[:-4]),
        ("data/more.gz", gzip.compress(b"by Ode\n") + b"more"),
        ("data/a.tar", tar("a.bz2", bz2.compress(b"by Ode"))),
        ("data/hex.pdf", b"/Author <FEFF004F00640065>"),
        ("data/hex8.pdf", b"/Author <4F 64\n65>"),
        ("data/a.yaml", b"key: QWRhIE9kZQ=="),
        ("data/first.bin", b"first" + gzip.compress(b"by Ode")),
        ("data/distiller.pdf", b"%PDF stream\n\x48\x89" + zlib.compress(b"by Ode")[2:]),
        ("data/ascii85.pdf", b"stream\n" + base64.a85encode(zlib.compress(b"by Ode")) + b"~>"),
        ("data/mail.txt", base64.encodebytes(b"no names" * 9 + b" by Ode" * 20)),
        ("data/mail.json", base64.encodebytes(b"by Ode" * 20).replace(b"\n", b"\\n")),
        ("data/Łukasz.txt", "by Łukasz".encode("utf-16-be")),
        ("figure.jpg", picture("JPEG")),
        ("figure.tiff", picture("TIFF")),
        ("figure.webp", picture("WEBP")),
        *[
            (f"data/a.{kind}", zipped("docProps/core.xml", b"<dc:creator>O<x/>de</dc:creator>"))
            for kind in ("docx", "xlsx", "pptx")
        ],
        ("figure.svg", b"<svg><text>O<tspan>de</tspan></text></svg>"),
        ("notebook2.ipynb", b'{"metadata": {"authors": [{"name": "\\u004fde"}]}}'),
    ],
    # Packed files contain the time, and names of tests must not.
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_refuse_identities_in_any_file(tmp_path, name, content):
    words = dict.fromkeys(["Ode", "Bee", "Müller", "Łukasz"], anonymous.FAMILY_NAME)
    archive = tmp_path / "deposit.zip"
    archive.write_bytes(zipped(name, content))
    with pytest.raises(ReceiptError):
        anonymous.refuse_identities(archive, words, {})


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("README.md", b"Thanks to Anabel.", "Anabel"),
        ("data/anabel_runs.txt", b"", "Anabel"),
        ("README.md", b"ask adelong2 of the lab", "adelong"),
        ("README.md", b"as in delong_runs", "delong"),
        ("README.md", b"mail zoe@uni.edu", "zoe@uni.edu"),
        ("data/a.7z", b"7z\xbc\xaf\x27\x1c", "opened"),
        ("data/a.pdf", b"%PDF-1.7\n<< /Encrypt 3 0 R >>", "opened"),
        ("data/a.gpg", b"-----BEGIN PGP MESSAGE-----", "opened"),
        (
            "README.md",
            b"anabel, tables@2x.png, git@github.com, ada@example.org, n@f.go, cadelong",
            None,
        ),
    ],
)
def test_refuse_identities_suspicions(tmp_path, caplog, name, text, word):
    """Words that may be ordinary are no reason to refuse."""
    archive = tmp_path / "deposit.zip"
    archive.write_bytes(zipped(name, text))
    suspicious = anonymous.suspicions({"paper2026": paper(authors="Anabel Delong")})
    anonymous.refuse_identities(archive, {}, suspicious)
    assert len(caplog.messages) == bool(word)
    assert all(name in message and word in message for message in caplog.messages)


@pytest.mark.parametrize(
    "text",
    [
        # Ids that decode to the beginnings of compress and gzip.
        b"106_1 Q0 MARCO_H52VP7UC7II6TPHHIC2BAX34UA 1 0.5 run\n",
        b"H52JP7UC7II6TPHHIC2BAX34UA",
        b"H4sIP7UC7II6TPHHIC2BAX34UA",
        b"H4sIP7UC7II6TPHHIC2B" * 4,
        b"a\x1f\x9d \x1f\x8b",
    ],
)
def test_refuse_identities_ids_like_packed_files(tmp_path, caplog, text):
    archive = tmp_path / "deposit.zip"
    archive.write_bytes(zipped("data/a.run", b"first " + text))
    anonymous.refuse_identities(archive, {}, {})
    assert not caplog.messages


@pytest.mark.parametrize("code", ["utf-8", "utf-16"])
@pytest.mark.parametrize("line", ["d" * 30 + "\n", "d" * 30 + "é "], ids=["lines", "one line"])
def test_refuse_identities_large_text(tmp_path, monkeypatch, line, code):
    """Text of any size is searched, also where two of its parts meet."""
    monkeypatch.setattr(readable, "OVERLAP", 2**6)
    before = line * 9
    content = (before + " by Ada Ode\n" + line * 9).encode(code)
    archive = tmp_path / "deposit.zip"
    archive.write_bytes(zipped("data/a.txt", content))
    for shift in range(25):
        monkeypatch.setattr(readable, "BLOCK", len(before.encode(code)) + shift)
        with pytest.raises(ReceiptError, match=f"a.txt, line {1 + before.count(chr(10))}: "):
            anonymous.refuse_identities(archive, {"Ada Ode": anonymous.AUTHOR}, {})


@pytest.mark.parametrize(
    ("size", "is_cut"), [(2**10, False), (2**16, True)], ids=["short stream", "long stream"]
)
def test_refuse_identities_cut_stream(tmp_path, monkeypatch, caplog, size, is_cut):
    """A stream that is unpacked only in part is named."""
    monkeypatch.setattr(readable, "UNPACKED", 2**12)
    archive = tmp_path / "deposit.zip"
    archive.write_bytes(zipped("a.pdf", b"%PDF stream\n" + zlib.compress(bytes(size))))
    anonymous.refuse_identities(archive, {}, {})
    assert [("a.pdf" in message and "rest" in message) for message in caplog.messages] == [
        True
    ] * is_cut


def test_refuse_identities_encrypted_member(tmp_path, caplog):
    content = bytearray(zipped("a.txt", b"Ode"))
    content[6] |= 1
    content[content.index(b"PK\1\2") + 8] |= 1
    archive = tmp_path / "deposit.zip"
    archive.write_bytes(zipped("data/a.zip", bytes(content)))
    anonymous.refuse_identities(archive, {}, {})
    assert "a.txt" in caplog.text


@pytest.mark.parametrize(("login", "is_refused"), [("jdoe42", True), ("table", False)])
def test_refuse_identities_login(project, tmp_path, monkeypatch, login, is_refused):
    """A login is searched for everywhere if it is no word."""
    monkeypatch.setattr(Path, "home", lambda: Path("/nowhere", login))
    forbidden = anonymous.identities(project / "results", project, {})
    archive = tmp_path / "deposit.zip"
    archive.write_bytes(zipped("a.txt", f"as {login} says".encode()))
    with pytest.raises(ReceiptError, match=login) if is_refused else nullcontext():
        anonymous.refuse_identities(archive, forbidden, {})


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
        anonymous.refuse_identities(archive, {"Ode": anonymous.FAMILY_NAME}, {})


def test_refuse_identities_own_wheel(tmp_path, monkeypatch):
    """everycell itself may name its authors; another wheel may not, whatever its name."""
    wheel = tmp_path / "everycell_repro-1.0.whl"
    wheel.write_bytes(zipped("METADATA", b"Author: Ada Ode"))
    monkeypatch.setattr(anonymous, "wheel_file", lambda: wheel)
    archive = tmp_path / "deposit.zip"
    archive.write_bytes(zipped(f"wheels/{wheel.name}", wheel.read_bytes()))
    anonymous.refuse_identities(archive, {"Ode": anonymous.FAMILY_NAME}, {})
    archive.write_bytes(zipped(f"wheels/{wheel.name}", zipped("METADATA", b"By Ada Ode")))
    with pytest.raises(ReceiptError, match="METADATA"):
        anonymous.refuse_identities(archive, {"Ode": anonymous.FAMILY_NAME}, {})


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


SECRET = "a-long-secret-0123"


@pytest.mark.parametrize(
    ("text", "is_refused"),
    [
        (SECRET, True),
        (f"x{SECRET}y", True),
        ("-".join(SECRET), True),
        (" ".join(SECRET), True),
        (SECRET[::-1], True),
        (SECRET.encode().hex(), True),
        (SECRET.encode().hex(":"), True),
        ("".join(f"={byte:02X}" for byte in SECRET.encode()), True),
        ("".join(f"\\x{byte:02x}" for byte in SECRET.encode()), True),
        ("".join(f"&#{byte};" for byte in SECRET.encode()), True),
        (base64.b64encode(f"key {SECRET}".encode()).decode(), True),
        (base64.b32encode(f"key {SECRET}".encode()).decode(), True),
        (base64.b64encode(base64.b64encode(SECRET.encode())).decode(), True),
        ("a long secret", False),
        (SECRET[:-1], False),
        ("", False),
    ],
)
def test_refuse_secrets_forms(tmp_path, monkeypatch, text, is_refused):
    """The value of a variable is found in other forms too."""
    archive = tmp_path / "deposit.zip"
    archive.write_bytes(zipped("workflow/settings.yaml", text.encode()))
    monkeypatch.setenv("MY_API_KEY", SECRET)
    with pytest.raises(ReceiptError, match="MY_API_KEY") if is_refused else nullcontext():
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
        ("glpat-" + "aB3x" * 5, True),
        ("eyJ" + "aB3x" * 5 + ".eyJ" + "aB3x" * 5 + "." + "aB3x" * 5, True),
        ("machine host login ada password x", True),
        ("machine host\n  login ada\n  password x", True),
        ("client-key-data: " + "aB3x" * 9, True),
        ('{"type": "service_account"}', True),
        ("[pypi]\npassword = " + "aB3x" * 5, True),
        ("export API_KEY='" + "aB3x" * 5, True),
        ('{"access_token": "' + "aB3x" * 5, True),
        ("https://ada:" + "aB3x" * 3 + "@host.org", True),
        (base64.b64encode(b"[pypi]\npassword = " + b"aB3x" * 5).decode(), True),
        (base64.b32encode(b"[pypi]\npassword = " + b"aB3x" * 5).decode(), True),
        ("a " + base64.b32encode(b"q [pypi]\npassword = " + b"aB3x" * 5).decode() + "\nB", True),
        (base64.encodebytes(base64.b64encode(b"password = " + b"aB3x" * 5)).decode(), True),
        (base64.b64encode(base64.b32encode(b"password = " + b"aB3x" * 5)).decode(), True),
        (re.sub("(.{76})", r"\1\n", base64.b32encode(b"x" * 60 + KEY).decode()), True),
        (re.sub("(.{76})", r"\1\r\n", base64.b32encode(b"x" * 99 + KEY).decode()), True),
        ("ACDEFGHIKLMNPQRSTVWY" * 99, False),
        ("api_key: str = read_from_environment", False),
        ("password = getpass()", False),
        ("key_variable: OPENAI_API_KEY", False),
        ("https://user:password@host", False),
        ("sha256: " + "aB3x" * 16, False),
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


@pytest.mark.parametrize(
    ("name", "is_refused"),
    [
        *[(f"src/{name}", True) for name in ("env", "prod.env", "credentials", "id_rsa", "netrc")],
        *[(f"src/{name}", True) for name in ("credentials.json", "kubeconfig", "secrets.toml")],
        *[(f"src/{name}", True) for name in ("my-service-account.json", "store.p12", "aws/config")],
        *[(f"src/{name}", True) for name in (".env.local", ".netrc", ".pypirc", "ID_ED25519")],
        *[(f"envs/{name}", False) for name in ("base.lock", "id_rsa.pub", "keys.csv", "token.txt")],
        *[(f"src/{name}", False) for name in ("environment.py", "credentials.py", ".env.example")],
    ],
)
def test_refuse_secrets_name(tmp_path, name, is_refused):
    archive = tmp_path / "deposit.zip"
    for content in (zipped(name, b"x"), zipped("src/a.zip", zipped(name, b"x"))):
        archive.write_bytes(content)
        with pytest.raises(ReceiptError, match=name) if is_refused else nullcontext():
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
    anonymous.anonymise(tmp_path, {"paper2026": paper()}, {})
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


def many(name: str, content: bytes, number: int) -> bytes:
    """An archive with a number of equal files."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for index in range(number):
            archive.writestr(f"{index}{name}", content)
    return file.getvalue()


def droste(pack, levels):
    """A content that is packed again and again."""
    content = KEY + bytes(1_000_000)
    for _ in range(levels):
        content = pack(content)
    return content


@pytest.mark.fault("bomb")
@pytest.mark.parametrize(
    ("pack", "levels"),
    [
        (lambda content: zipped("a.zip", content), 100),
        (partial(gzip.compress, mtime=0), 100),
        (bz2.compress, 40),
        (lzma.compress, 40),
        (lambda content: many("a.zip", content, 16), 5),
        (lambda content: many("a.zip", content, 16), 9),
        (lambda content: many("a.gz", gzip.compress(content, mtime=0), 20), 4),
    ],
)
def test_contents_of_nested_archives(pack, levels):
    """Archives in archives, of which each has many, end after a number of bytes."""
    packed = droste(pack, levels)
    sizes, faults = [], set()
    for _, data, fault in readable.contents("a", packed):
        sizes.append(len(data))
        faults.add(fault)
    assert faults >= {"too large"}
    bound = readable.LEVELS * max(readable.UNPACKED, readable.RATIO * len(packed))
    assert sum(sizes) <= 2 * bound + len(packed) and len(sizes) < 100_000


@pytest.mark.fault("bomb")
def test_contents_of_many_streams():
    """Streams of another format, each of which is small."""
    packed = b"%PDF" + zlib.compress(bytes(10_000_000), 9) * 40
    content = list(readable.contents("a.pdf", packed))
    assert "cut" in {fault for _, _, fault in content}
    bound = readable.LEVELS * max(readable.UNPACKED, readable.RATIO * len(packed))
    assert sum(len(data) for _, data, _ in content) <= bound + len(packed)


@pytest.mark.parametrize(
    "packed",
    [
        zipped("a", KEY),
        zipped("a.zip", zipped("b.zip", zipped("c", KEY))),
        gzip.compress(KEY) + b"garbage",
        gzip.compress(b"first") + gzip.compress(KEY),
        gzip.compress(KEY)[:-4],
        b"garbage" + zipped("a", KEY) + b"",
        bz2.compress(KEY) + b"garbage",
    ],
    ids=["zip", "nested", "garbage", "two", "truncated", "prefix", "bzip2"],
)
def test_refuse_secrets_packed(tmp_path, packed):
    archive = tmp_path / "deposit.zip"
    archive.write_bytes(zipped("src/a.bin", packed))
    with pytest.raises(ReceiptError, match=r"src/a\.bin|^a has|^[abc] contains"):
        refuse_secrets(archive)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("contents", [[KEY, b"x"], [b"x", KEY], [b"x", KEY, b"y"]])
def test_refuse_secrets_two_files_of_one_name(tmp_path, contents):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for content in contents:
            archive.writestr("notes.txt", content)
    path = tmp_path / "deposit.zip"
    path.write_bytes(zipped("src/a.zip", file.getvalue()))
    with pytest.raises(ReceiptError, match=r"notes\.txt"):
        refuse_secrets(path)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_refuse_secrets_tar_links(tmp_path, kind):
    """Links in an archive lead nowhere, and other files in it are searched."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name in ("/etc/passwd", "../../outside", "self"):
            link = tarfile.TarInfo("self")
            link.type, link.linkname = kind, name
            archive.addfile(link)
        content = tarfile.TarInfo("notes.gz")
        packed = gzip.compress(KEY)
        content.size = len(packed)
        archive.addfile(content, io.BytesIO(packed))
    path = tmp_path / "deposit.zip"
    path.write_bytes(zipped("src/a.tar", file.getvalue()))
    with pytest.raises(ReceiptError, match=r"src/a\.tar"):
        refuse_secrets(path)

"""A paper of one's own: the files that `new-paper` writes, the entries that `add-data` writes."""

import gzip
import hashlib
import pkgutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pandas as pd
import pytest
from command_line import call, refused

from everycell.cli.placeholders import PLACEHOLDERS
from everycell.cli.table_sources import EXAMPLE
from everycell.records.papers import load_papers
from everycell.records.registry import load_registry
from everycell.retrieval.evaluation import evaluate
from everycell.sources.additions import add_file
from everycell.sources.download import DownloadError
from everycell.sources.fetch import OWN_DATA
from everycell.trec.runs import read_qrels, read_run
from everycell.verdicts.record_checks import check_records

REPOSITORY = Path(__file__).parents[3]
RUN = b"q1 Q0 d1 1 2.5 own\nq1 Q0 d2 2 1.5 own\n"
LAST = "include: FINISH\n"


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """Return the working folder, a project of one paper."""
    toy = tmp_path / "published/toy"
    toy.mkdir(parents=True)
    about = "{title: Toy, authors: T. Toy, year: 2026, kind: paper, reference: none}"
    (toy / "paper.yaml").write_text(about)
    (tmp_path / "config.yaml").write_text("network: true\n")
    (tmp_path / "Snakefile").write_text(f'include: "a.smk"\n{LAST}include: "z.smk"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVERYCELL_MIRROR", raising=False)
    return tmp_path


@pytest.fixture
def server(monkeypatch):
    """Yield the address of a server of files by their names, and these."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    files = {"/a.run": RUN, "/a.run.gz": gzip.compress(RUN), "/page.run": b"<!DOCTYPE html><p>No"}
    page = b"<html><p>No"
    files |= {"/mark.run": b"\xef\xbb\xbf" + page, "/comment.run": b"\n<!-- a -->\n" + page}
    files |= {"/length.run": RUN, "/bomb.run.gz": gzip.compress(bytes(20_000_000))}
    files["/encoded.run.gz"] = files["/a.run.gz"]
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append(self.path)
            body = files.get(self.path)
            self.send_response(404 if body is None else 200)
            length = "abc" if "length" in self.path else str(len(body or b""))
            self.send_header("Content-Length", length)
            if "encoded" in self.path:
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *args):
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{http.server_port}", requests
    http.shutdown()
    http.server_close()


@pytest.mark.parametrize("name", ["a.run", "a.run.gz"])
def test_add_data_url(project, server, name):
    host, requests = server
    code, out, err = call("paper", "add-data", "toy", f"{host}/{name}", "--licence", "CC0-1.0")
    assert (code, err) == (0, "") and 'resource("toy-data/a.run")' in out
    entry = load_registry(project).entry("toy-data/a.run")
    assert (entry.origin.url, entry.state) == (f"{host}/{name}", "network")
    assert entry.contents == (hashlib.sha256(RUN).hexdigest(),)
    about = load_registry(project).sets["toy-data"]
    assert (about.authors, about.paper, about.licence) == ("T. Toy", "Toy", "CC0-1.0")
    remaining = project / "resources/toy-data/a.run"
    assert remaining.read_bytes() == RUN and requests == [f"/{name}"]
    remaining.unlink()
    code, out, _ = call("data", "fetch", "toy-data")
    assert (code, out) == (0, "resources/toy-data/a.run\n")
    assert remaining.read_bytes() == RUN and requests == [f"/{name}"] * 2


def test_add_data_content_encoding(project, server):
    host, _ = server
    assert call("paper", "add-data", "toy", f"{host}/encoded.run.gz")[0] == 0
    remaining = project / "resources/toy-data/encoded.run"
    assert remaining.read_bytes() == RUN
    remaining.unlink()
    assert call("data", "fetch", "toy-data")[0] == 0 and remaining.read_bytes() == RUN


def test_add_data_key_outside_cache(project, tmp_path):
    (tmp_path / "a.run").write_bytes(RUN)
    before = sorted(tmp_path.rglob("*"))
    for options in (["--set", "../out"], ["--as", "../../out/a.run"]):
        assert "published/toy/registry.yaml" in refused(
            "paper", "add-data", "toy", "a.run", *options
        )
    new = [tmp_path / "resources", tmp_path / "resources/.records.lock"]
    assert sorted(tmp_path.rglob("*")) == sorted([*before, *new])


def test_add_data_local_file(project, tmp_path):
    own = tmp_path / "mine.run"
    own.write_bytes(RUN)
    command = ("paper", "add-data", "toy", own, "--as", "first.run", "--set", "toy-runs")
    assert call(*command)[0] == 0
    assert load_registry(project).entry("toy-runs/first.run").state == "mirror"
    own.write_bytes(RUN * 2)
    assert "already has toy-runs/first.run; choose another name" in refused(*command)
    remaining = project / "resources/toy-runs/first.run"
    assert remaining.read_bytes() == RUN
    assert call(*command, "--replace")[0] == 0 and remaining.read_bytes() == RUN * 2
    call("paper", "add-data", "toy", own, "--set", "toy-runs")
    text = (project / "published/toy/registry.yaml").read_text()
    assert text.count("toy-runs/mine.run:") == text.count("toy-runs/first.run:") == 1
    remaining.write_bytes(RUN)
    assert "was changed or damaged" in refused("data", "fetch", "toy-runs/first.run")


@pytest.mark.fault("download")
def test_add_data_secret_in_url(project, server):
    host, requests = server
    for position in (
        *(host.replace("http://", f"{scheme}me:s3cr3t@") for scheme in ("http://", "ftp://", "//")),
        *(
            f"{host}/a.run?download=1&{name}=s3cr3t"
            for name in ("token", "access_token", "X-Amz-Signature", "sig", "api_key")
        ),
    ):
        message = refused("paper", "add-data", "toy", position)
        assert "password or token" in message and "s3cr3t" not in message
    assert not requests and not (project / "published/toy/registry.yaml").exists()


@pytest.mark.fault("download")
def test_add_data_unknown_size(project, server, monkeypatch):
    host, _ = server
    monkeypatch.setattr("everycell.sources.additions.MAX_BYTES", 10)
    assert "was aborted" in refused("paper", "add-data", "toy", f"{host}/a.run")
    assert not (project / "published/toy/registry.yaml").exists()


@pytest.mark.fault("download")
@pytest.mark.parametrize("start", [b"HTTP/1.0 200 OK\r\n", b"HTTP/1.0 200 OK\r\n\r\n"])
def test_add_data_slow_server(trickle, project, start):
    with pytest.raises(DownloadError, match="was abandoned"):
        add_file(project, "toy", trickle(start), cache=Path("c"), set_name="a", timeout=0.5)
    assert list(Path("c").iterdir()) == []


@pytest.mark.fault("download")
def test_add_data_sigterm(trickle, project):
    url = trickle(b"HTTP/1.0 200 OK\r\n\r\n")
    command = "from everycell.cli.entry import main; main()"
    process = subprocess.Popen([sys.executable, "-c", command, "paper", "add-data", "toy", url])
    cache = project / "resources"
    while not list(cache.glob(".added-*/raw")) and process.poll() is None:
        time.sleep(0.05)
    process.terminate()
    assert process.wait(20) == 128 + signal.SIGTERM
    assert list(cache.iterdir()) == []


def test_add_data_failed(project, server, tmp_path):
    host, _ = server
    (tmp_path / "empty.run").touch()
    (tmp_path / "no.run.gz").write_bytes(RUN)
    for source, message in {
        f"{host}/page.run": "returned an HTML page instead of data",
        f"{host}/mark.run": "returned an HTML page instead of data",
        f"{host}/comment.run": "returned an HTML page instead of data",
        f"{host}/length.run": "length.run",
        f"{host}/bomb.run.gz": "cannot be unpacked",
        f"{host}/none.run": "returned 404",
        "http://127.0.0.1:9/a.run": "could not be fetched",
        "nowhere.run": "nowhere.run does not exist",
        "empty.run": "is empty",
        "no.run.gz": "cannot be unpacked",
    }.items():
        assert message in refused("paper", "add-data", "toy", source)
    assert "create the paper first: everycell paper new none" in refused(
        "paper", "add-data", "none", "a.run"
    )
    (tmp_path / "a.run").write_bytes(RUN)
    assert "`sets.My_Set.[key]` is 'My_Set'" in refused(
        "paper", "add-data", "toy", "a.run", "--set", "My_Set"
    )
    assert not (project / "published/toy/registry.yaml").exists()
    files = [path.name for path in (project / "resources").rglob("*") if path.is_file()]
    assert files == [".records.lock"]
    (project / "published/toy/sets.yaml").touch()
    message = "is generated from the sets.yaml in the same folder"
    assert message in refused("paper", "add-data", "toy", "a.run")


def test_new_paper_complete(project):
    before = (project / "Snakefile").read_text()
    code, out, err = call("paper", "new", "smith2026")
    assert (code, err) == (0, "") and "Add this line to the Snakefile" in out
    assert (project / "Snakefile").read_text() == before
    papers = load_papers(project / "published")
    assert check_records({"smith2026": papers["smith2026"]}) == []
    # Output of its script by input.
    folder = project / "resources/smith2026-data"
    assert {path.name for path in folder.iterdir() if path.suffix} == {
        path.name for path in EXAMPLE.iterdir() if path.suffix != ".csv"
    }
    qrels = read_qrels(folder / "qrels.txt")
    means = {
        system: evaluate(read_run(folder / f"{name}.run"), qrels, ["MAP", "nDCG@10"]).mean()
        for name, system in {"first": "First", "second": "Second"}.items()
    }
    rebuilt = pd.concat(means).round(2).tolist()
    cells = papers["smith2026"].artefacts["table_1"].cells
    assert [float(value) for value in cells["value"]] == rebuilt
    description = load_registry(project).sets["smith2026-data"].paper
    (project / "my.run").write_bytes(RUN)
    call("paper", "add-data", "smith2026", "my.run", "--as", "first.run", "--replace")
    now = load_registry(project).sets["smith2026-data"]
    assert description == "synthetic example files" and now.paper == "Title of the paper"
    # Nobody looked for a licence, so that a deposit is refused until somebody has.
    assert now.licence in PLACEHOLDERS.values()
    missing = "The files of smith2026 already exist. Snakefile: the rules of smith2026 are "
    assert missing in refused("paper", "new", "smith2026")
    assert "Snakefile: the rules of smith2026 are not included; add" in refused("make", "smith2026")
    assert call("paper", "new", "smith2026", "--yes")[0] == 0
    assert 'include: "workflow/papers/smith2026/ch1.smk"' in (project / "Snakefile").read_text()
    assert "The key smith2026 is taken" in refused("paper", "new", "smith2026")
    for key in ("Smith 2026", "class", "page", "../a2026"):
        assert "is not a valid key; use lower-case letters and a year" in refused(
            "paper", "new", key
        )
    assert "choose another, such as smith2026b" in refused("paper", "new", "seed")
    assert call("paper", "new", "smith2026b")[0] == 0


@pytest.mark.parametrize(
    "file",
    [
        *(f"published/smith2026/{name}" for name in ("table_1.csv", "registry.yaml")),
        *("data/smith2026-data/first.run", "resources/smith2026-data/first.run"),
        "workflow/papers/smith2026/ch1.smk",
    ],
)
def test_new_paper_existing_file(project, file):
    (project / "data").mkdir()
    path = project / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine: {}\n")
    before = sorted(project.rglob("*"))
    refused("paper", "new", "smith2026")
    assert path.read_text() == "mine: {}\n" and sorted(project.rglob("*")) == before


@pytest.mark.parametrize("part", ["add_file", "_replace"])
def test_new_paper_failed(project, monkeypatch, part):
    before = {path for path in project.rglob("*") if path.is_file()}
    name = f"everycell.cli.new_paper.{part}"
    original, calls = pkgutil.resolve_name(name.replace("paper.", "paper:", 1)), []

    def interrupted(*arguments, **options):
        calls.append(arguments)
        if len(calls) == 2:
            raise OSError(28, "No space left on device", "x")
        return original(*arguments, **options)

    monkeypatch.setattr(name, interrupted)
    assert "No space left" in refused("paper", "new", "smith2026")
    assert {path for path in project.rglob("*") if path.is_file()} == before
    monkeypatch.undo()
    monkeypatch.chdir(project)
    assert call("paper", "new", "smith2026")[0] == 0
    Path("a.csv").write_text("metric,value\nAP,0.5\n")
    assert "already exist; choose another key" in refused(
        "paper", "new", "smith2026", "--yes", "--values", "a.csv", "--table", "a.csv"
    )


def test_new_paper_include_order(project):
    assert call("paper", "new", "smith2026", "--yes")[0] == 0
    line = 'include: "workflow/papers/smith2026/ch1.smk"\n'
    expected = f'include: "a.smk"\n{line}{LAST}include: "z.smk"\n'
    assert (project / "Snakefile").read_text() == expected
    assert (REPOSITORY / "Snakefile").read_text().count(LAST) == 1


def test_page_pattern_linear_time():
    """A license header of fifty lines took days."""
    from everycell.sources.additions import _PAGE

    assert not _PAGE.match(b"<!-- line -->\n" * 50 + b"<data>")
    assert _PAGE.match(b"<!-- line -->\n" * 50 + b"<html>")


def test_add_data_url_replaces_an_own_file(project, server, tmp_path):
    """A local file would take precedence over the URL that replaces it."""
    host, _ = server
    (project / OWN_DATA).mkdir(parents=True)
    (tmp_path / "a.run").write_bytes(RUN * 2)
    command = ["paper", "add-data", "toy", "--set", "toy-runs"]
    assert call(*command, tmp_path / "a.run")[0] == 0
    own = project / OWN_DATA / "toy-runs/a.run"
    assert own.read_bytes() == RUN * 2
    assert call(*command, f"{host}/a.run", "--replace")[0] == 0
    assert not own.exists()


@pytest.mark.parametrize(
    ("function", "first", "second"),
    [
        ("cli.new_paper._temporary_folder", "init a2026 new", "init b2026 new"),
        ("cli.new_paper._temporary_folder", "init a2026 empty", "init b2026 empty"),
        ("cli.new_paper._temporary_folder", "paper new c2026", "paper new c2026"),
        ("sources.additions._form", "paper add-data toy a/x.txt", "paper add-data toy b/x.txt"),
    ],
)
def test_two_commands_one_name(project, monkeypatch, function, first, second):
    """Another command takes the same name meanwhile: its files stay, and the first one refuses."""
    for name in ("a", "b", "empty"):
        (project / name).mkdir()
    for name in ("a", "b"):
        (project / name / "x.txt").write_text(name)
    state = {}

    def run_second() -> None:
        assert call(*second.split())[0] == 0
        state.update(contents(project))

    before_call(monkeypatch, f"everycell.{function}", run_second)
    assert "already" in refused(*first.split())
    assert contents(project) == state


def test_two_commands_two_names(project, monkeypatch):
    """Commands that add to one file at once: neither entry is lost."""
    for name in ("a.txt", "b.txt"):
        (project / name).write_text(name)
    command = ("paper", "add-data", "toy")
    function = "everycell.sources.additions._form"
    before_call(monkeypatch, function, lambda: call(*command, "b.txt"))
    assert call(*command, "a.txt")[0] == 0
    assert {"toy-data/a.txt", "toy-data/b.txt"} <= load_registry(project).files.keys()


def contents(folder: Path) -> dict[Path, bytes]:
    """Files of a project, without those of a command that still runs."""
    return {
        path: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "/.added-" not in str(path)
    }


def before_call(monkeypatch, function: str, action: Callable[[], object]) -> None:
    """Run an action before the first call of a function."""
    module, _, name = function.rpartition(".")
    original, actions = pkgutil.resolve_name(f"{module}:{name}"), [action]

    def wrapper(*arguments, **options):
        if actions:
            actions.pop()()
        return original(*arguments, **options)

    monkeypatch.setattr(function, wrapper)

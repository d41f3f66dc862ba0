"""Which released files can be fetched, and why not."""

import pytest

from everycell.records.registry import Registry
from everycell.sources import availability
from everycell.sources.availability import obstacle
from everycell.sources.settings import FetchSettings

KEY = "toy/ratings.csv"
SHA = "0" * 64
ORIGIN = {"path": "ratings.csv", "size": 30_000_000, "sha256": SHA, "url": "https://a.org/r.csv"}


def registry(**entry) -> Registry:
    facts = {"authors": "N. N.", "paper": "Toy", "licence": "MIT"}
    return Registry.model_validate({"sets": {"toy": facts}, "files": {KEY: entry}})


@pytest.fixture
def settings(tmp_path, monkeypatch) -> FetchSettings:
    monkeypatch.delenv("EVERYCELL_MIRROR", raising=False)
    monkeypatch.setattr(availability, "_answers", lambda address: "a.org" in address)
    return FetchSettings(cache=str(tmp_path / "cache"), mirror=str(tmp_path / "mirror"))


def reason(settings: FetchSettings, megabytes: float = 100, **entry) -> str | None:
    return obstacle([KEY], settings, registry(**entry), megabytes=megabytes)


@pytest.mark.parametrize("folder", ["cache", "mirror"])
def test_obstacle_file_on_disk(settings, tmp_path, folder):
    file = tmp_path / folder / KEY
    file.parent.mkdir(parents=True)
    file.touch()
    mirror = {"path": KEY, "size": 1, "sha256": SHA}
    assert reason(settings, mirror=mirror, note="only here") is None


def test_obstacle_packed_in_mirror(settings, tmp_path):
    (tmp_path / "mirror/toy").mkdir(parents=True)
    (tmp_path / "mirror/toy/ratings.csv.gz").touch()
    form = {"path": f"{KEY}.gz", "size": 1, "sha256": SHA, "packed": "gzip", "content_sha256": SHA}
    assert reason(settings, mirror=form, note="only here") is None


@pytest.mark.parametrize(
    ("entry", "network", "words"),
    [
        ({"mirror": {"path": KEY, "size": 1, "sha256": SHA}, "note": "x"}, True, "mirror"),
        ({"origin": ORIGIN}, False, "network"),
        ({"origin": ORIGIN | {"url": "https://b.org/r.csv"}}, True, "b.org"),
        (
            {
                "wheel": {
                    "distribution": "no-such-package",
                    "version": "1",
                    "path": "a",
                    "size": 1,
                    "sha256": SHA,
                }
            },
            True,
            "no-such-package",
        ),
    ],
)
def test_obstacle_unavailable(settings, entry, network, words):
    settings = settings.model_copy(update={"network": network})
    assert words in (reason(settings, **entry) or "")


@pytest.mark.parametrize(("megabytes", "is_small"), [(29, False), (30, True)])
def test_obstacle_size(settings, megabytes, is_small):
    assert (reason(settings, megabytes, origin=ORIGIN) is None) == is_small


@pytest.mark.parametrize("port_is_open", [True, False])
def test_answers(port_is_open):
    from socket import create_server
    from threading import Thread

    with create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}/"
        if port_is_open:

            def answer():
                connection, _ = server.accept()
                with connection:
                    connection.recv(1000)
                    connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")

            Thread(target=answer, daemon=True).start()
        else:
            server.close()
        assert availability._answers.__wrapped__(address) == port_is_open


@pytest.mark.fault("download")
def test_answers_endless_headers(endless_headers, monkeypatch):
    monkeypatch.setattr(availability, "PATIENCE", 0.4)
    assert not availability._answers(endless_headers)

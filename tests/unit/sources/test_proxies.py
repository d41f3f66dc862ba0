"""Malformed addresses of proxies, which may contain a password."""

import pytest

from everycell.base.errors import DataError
from everycell.cli.full_machine import connection_fault
from everycell.language_models.settings import EndpointSettings
from everycell.sources.additions import _download as download_addition
from everycell.sources.availability import _answers
from everycell.sources.download import download_file
from everycell.sources.proxies import check_proxies
from everycell.sources.published_files import PublishedFile
from everycell.sources.published_files import _download as download_published

PASSWORD = "hunter2"
MALFORMED = [
    "http://user:hunter2@",
    "user:hunter2@",
    "http://user:hunter2@:8080",
    "http://user:hunter2@host:port",
    "http://user:hunter2@host:99999",
    "http://user:hunter2@host:0",
    "http://user:hunter2@[::1",
    "http://user:hunter2@ho st:8080",
    "http://user:hunter2@host:8080\n",
    "http://user:hunter2\u20ac@host:8080",
    "http://user:hunt/er2@host:8080",
    "http://user:hunt#er2@host:8080",
    "http:/user:hunter2@host:8080",
    "ftp://user:hunter2@host:8080",
    "http://",
    "://",
]
VALID = [
    "proxy:8080",
    "proxy.example.org",
    "http://proxy:8080",
    "http://user:hunter2@proxy:8080/",
    "http://user:hunt%2Fer2@127.0.0.1:1",
    "https://[::1]:8080",
    "socks5h://proxy:1080",
    "",
]


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch):
    for kind in ("http", "https", "all"):
        for name in (f"{kind}_proxy", f"{kind}_proxy".upper()):
            monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("variable", ["http_proxy", "HTTPS_PROXY", "all_proxy"])
@pytest.mark.parametrize("address", MALFORMED)
def test_check_proxies_malformed(monkeypatch, variable, address):
    monkeypatch.setenv(variable, address)
    with pytest.raises(DataError) as error:
        check_proxies()
    assert error.value.column.endswith(variable.lower())
    assert "hunt" not in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("address", VALID)
def test_check_proxies_valid(monkeypatch, address):
    monkeypatch.setenv("http_proxy", address)
    check_proxies()


def request_endpoint(folder):
    from everycell.language_models.endpoint import Endpoint

    settings = EndpointSettings(url="https://127.0.0.1:9/v1", model="m", version="1")
    return Endpoint(settings)._client


def download_model(folder):
    return pytest.importorskip("everycell.learning.models").download_model("a/b")


#: Everything that opens a connection.
REQUESTS = [
    lambda folder: download_file("a", "http://127.0.0.1:9/a", folder / "a", None, 1.0),
    lambda folder: download_addition("http://127.0.0.1:9/a", folder / "a", 1.0),
    lambda folder: download_published(
        PublishedFile("http://127.0.0.1:9/a", None, 0, folder / "b"), folder / "a"
    ),
    lambda folder: _answers("http://127.0.0.1:9"),
    request_endpoint,
    download_model,
]


@pytest.mark.parametrize("request_url", REQUESTS)
def test_requests_malformed_proxy(monkeypatch, tmp_path, request_url):
    monkeypatch.setenv("http_proxy", MALFORMED[0])
    with pytest.raises(DataError) as error:
        request_url(tmp_path)
    assert PASSWORD not in str(error.value)


def test_connection_fault_malformed_proxy(monkeypatch):
    monkeypatch.setenv("http_proxy", MALFORMED[0])
    fault = connection_fault("http://127.0.0.1:9")
    assert "http_proxy" in fault and PASSWORD not in fault

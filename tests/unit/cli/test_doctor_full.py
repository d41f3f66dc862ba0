"""`everycell doctor --full`: one row for each thing that a full tier needs, and one last line."""

import http.server
import json
import os
import socket
import threading

import ir_datasets  # noqa: F401 - imported before the machine of the tests is made up
import pytest
import yaml
from command_line import call, refused
from corpus_server import CorpusServer

from everycell.cli import full_machine, full_tier
from everycell.config import Config
from everycell.language_models.endpoint import Endpoint
from everycell.language_models.requirements import requirements


@pytest.fixture
def project(tmp_path, repository, monkeypatch):
    """Project folder with all records, on a machine with a GPU, a network and no cluster."""
    (tmp_path / "published").symlink_to(repository / "published")
    (tmp_path / "config.yaml").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    monkeypatch.setenv("HF_TOKEN", "hf_never_shown")
    for name in ("HF_ENDPOINT", "HF_HUB_CACHE", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(full_machine, "gpus", lambda: [("Toy", 96.0)])
    monkeypatch.setattr(full_machine, "connection_fault", lambda url: "")
    monkeypatch.setattr(Endpoint, "alternative_models", lambda self: [])
    monkeypatch.setattr(full_tier, "hub_fault", lambda name: "")
    monkeypatch.setattr(full_machine.shutil, "which", lambda name: None)
    monkeypatch.setattr(full_machine.metadata, "version", lambda name: "1.0")
    monkeypatch.setattr(full_machine.os, "sysconf", lambda name: 2**18)
    usage = full_machine.shutil.disk_usage("/")._replace(free=10**12)
    monkeypatch.setattr(full_machine.shutil, "disk_usage", lambda path: usage)
    return tmp_path


def name_citations(project, **changed):
    """A configuration with all that chapter 5 of heuss2025 waits for."""
    endpoint = {"url": "https://models.example.org/v1", "model": "command-r", "key": "TOY_KEY"}
    settings = {
        "citation_faithfulness": {"full": {"models": {"mine": "spans"}, "data": "cited"}},
        "language_models": {"endpoints": {"mine": endpoint | changed}},
    }
    (project / "config.yaml").write_text(json.dumps(settings))
    (project / "cited").mkdir()
    for name in ("questions.jsonl", "passages.jsonl", "retrieved.run"):
        (project / "cited" / name).touch()


def doctor(*arguments):
    code, out, err = call("doctor", "--full", *arguments, "--format", "json")
    assert out, err
    report = json.loads(out)
    assert code == (0 if report["can_start"] else 1)
    return report


def states(report):
    return {row["what"].partition(":")[0]: row["state"] for row in report["rows"]}


@pytest.mark.parametrize(
    "name", ["heuss2025_ch5", "full_heuss2025_ch5", "heuss2025/ch5", "heuss2025/table_5_2"]
)
def test_doctor_full_missing_keys(project, name):
    code, out, _ = call("doctor", "--full", name)
    assert code == 1
    target = "full_heuss2025_" + ("table_5_2" if "table" in name else "ch5")
    assert out.splitlines()[-1] == (
        f"{target} cannot start: set citation_faithfulness.full.models and "
        "(citation_faithfulness.full.data or citation_faithfulness.full.kilt.pages)."
    )


def test_doctor_full_cost(project, monkeypatch):
    monkeypatch.setenv("TOY_KEY", "sk-never-shown")
    name_citations(project, prices={"prompt": 2.5, "answer": 10.0})
    code, out, _ = call("doctor", "--full", "heuss2025_ch5")
    assert code == 0 and out.splitlines()[-1] == "full_heuss2025_ch5 can start."
    assert "TOY_KEY is set" in out and os.environ["TOY_KEY"] not in out
    # 12,944 requests of 787 and 256 tokens: 10.187 x 2.5 + 3.314 x 10.
    assert "about 58.60 USD at the configured prices" in out
    # A model behind an endpoint needs no GPU here.
    assert "ok      network to models.example.org: reachable" in out
    assert "GPU" not in states(doctor("heuss2025_ch5"))
    assert "CC BY-SA 3.0" in out and "0.2 GB" in out


def test_doctor_full_missing_requirement(project, monkeypatch):
    monkeypatch.delenv("TOY_KEY", raising=False)
    monkeypatch.setattr(full_machine, "connection_fault", lambda url: "timed out")
    monkeypatch.setattr(full_machine.os, "sysconf", lambda name: 2**15)
    usage = full_machine.shutil.disk_usage("/")._replace(free=10**8)
    monkeypatch.setattr(full_machine.shutil, "disk_usage", lambda path: usage)
    name_citations(project)
    (project / "cited/retrieved.run").unlink()
    report = doctor("heuss2025_ch5")
    assert report["ending"] == (
        "full_heuss2025_ch5 cannot start: put retrieved.run into cited "
        "(docs/citation-faithfulness.md), export TOY_KEY, free 0.9 GB here, use a machine with 24 "
        "GB of memory, connect this machine to models.example.org."
    )
    assert states(report)["cost of mine"] == "unknown"


def test_doctor_full_model_missing_on_server(project, monkeypatch):
    monkeypatch.setenv("TOY_KEY", "sk-never-shown")
    name_citations(project)
    listed = ["command-r-plus", "command-a"]
    monkeypatch.setattr(Endpoint, "alternative_models", lambda self: listed)
    assert doctor("heuss2025_ch5")["ending"] == (
        "full_heuss2025_ch5 cannot start: set language_models.endpoints.mine.model to one of "
        "command-r-plus, command-a."
    )


def test_local_models_require_a_gpu_and_the_hub(project, monkeypatch):
    report = doctor("abolghasemi2026_ch3")
    assert report["can_start"] and states(report)["GPU"] == "ok"
    assert states(report)["network to huggingface.co"] == "ok"
    disk = next(row for row in report["rows"] if row["what"].startswith("disk"))
    # Two models of 7B, a BERT twice, and 96 trained models.
    assert disk["what"] == "disk: 75 GB here"
    monkeypatch.setattr(full_machine, "gpus", lambda: [("Small", 8.0)])
    report = doctor("abolghasemi2026_ch3")
    size = requirements("zephyr", Config().language_models).gpu_gb
    # Tables 3.3 to 3.5 are not configured.
    advice = "; for the other 3, set counterfactuals.full.labels."
    assert report["ending"].endswith(
        f"cannot start: use a machine with a GPU of {size:.0f} GB{advice}"
    )
    monkeypatch.setattr(full_machine.metadata, "version", lambda name: "2.13.0+cpu")
    assert "install torch for your GPU" in doctor("abolghasemi2026_ch3")["ending"]
    monkeypatch.setattr(full_machine, "gpus", lambda: None)
    assert states(doctor("abolghasemi2026_ch3"))["GPU"] == "unknown"
    # A login node may lack the GPU of the other nodes.
    monkeypatch.setattr(full_machine.shutil, "which", lambda name: name)
    monkeypatch.setattr(full_machine, "gpus", lambda: [])
    report = doctor("abolghasemi2026_ch3")
    assert report["can_start"] and states(report)["GPU"] == "unknown"


def test_doctor_full_offline_hub(project, monkeypatch):
    (project / "config.yaml").write_text("network: false\n")
    assert "cannot start: set network: true;" in doctor("abolghasemi2026_ch3")["ending"]
    (project / "config.yaml").write_text("")
    monkeypatch.setenv("HF_ENDPOINT", "http://mirror.example.org")
    assert states(doctor("abolghasemi2026_ch3"))["network to mirror.example.org"] == "ok"
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert "unset HF_HUB_OFFLINE" in doctor("abolghasemi2026_ch3")["ending"]


def test_doctor_full_gated_model(project, monkeypatch):
    output = call("doctor", "--full", "abolghasemi2026_ch3")[1]
    assert "language model zephyr" in output and os.environ["HF_TOKEN"] not in output
    monkeypatch.delenv("HF_TOKEN")
    ending = doctor("abolghasemi2026_ch3")["ending"]
    assert "v0.2 on the hub and export HF_TOKEN;" in ending
    (project / "hub").mkdir()
    (project / "hub/token").touch()
    assert doctor("abolghasemi2026_ch3")["can_start"]


def test_doctor_full_missing_files(project, monkeypatch, repository):
    (project / "config.yaml").write_text((repository / "config.yaml").read_text())
    names = Config().term_fairness.msmarco.encoders
    faults = {
        names.ance: "the hub has it only as a pickle",
        names.unicoil: "the hub has it only as a pickle",
        names.sbert: "it is neither a folder nor a model on the hub",
    }
    monkeypatch.setattr(full_tier, "hub_fault", lambda name: faults.get(name, ""))
    marco = project / "marco"
    marco.mkdir()
    settings = {"term_fairness": {"msmarco": {"folder": "marco"}}}
    (project / "mine.yaml").write_text(json.dumps(settings))
    ending = doctor("abolghasemi2026_ch4", "--configfile", "mine.yaml")["ending"]
    for part in (
        "put collection.tsv into marco",
        "put qrels.dev.tsv into marco",
        f"run `everycell data convert-weights {names.ance} data/models/ance-msmarco-passage` and "
        "set term_fairness.msmarco.encoders.ance to data/models/ance-msmarco-passage",
        "set term_fairness.msmarco.encoders.unicoil to data/models/unicoil-msmarco-passage",
        "set term_fairness.msmarco.encoders.sbert to another model of the hub, or to a folder",
    ):
        assert part in ending


def test_doctor_full_model_missing_on_hub(project, monkeypatch):
    source = "HuggingFaceH4/zephyr-7b-beta"
    message = f"{source} is neither a folder nor a model on the hub"
    monkeypatch.setattr(full_tier, "hub_fault", lambda name: message if name == source else "")
    assert (
        "cannot start: set language_models.local.zephyr.source to another model of the hub, or to "
        "a folder;"
    ) in doctor("abolghasemi2026_ch3")["ending"]


def test_doctor_full_files_before_keys(project, monkeypatch):
    """A key that is not set hides no other fault of the chapter."""
    monkeypatch.setattr(full_machine.os, "sysconf", lambda name: 2**15)
    name_citations(project)
    settings = json.loads((project / "config.yaml").read_text())
    settings["citation_faithfulness"]["full"]["data"] = None
    (project / "config.yaml").write_text(json.dumps(settings))
    monkeypatch.delenv("TOY_KEY", raising=False)
    assert doctor("heuss2025_ch5")["ending"] == (
        "full_heuss2025_ch5 cannot start: set citation_faithfulness.full.data or "
        "citation_faithfulness.full.kilt.pages, export TOY_KEY, use a machine with 24 GB of memory."
    )


def test_doctor_full_hub_error(monkeypatch):
    with CorpusServer() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        weights = {"config.json": b"{}", "model.safetensors": b"x"}
        server.add_repository("org/safe", weights | {"vocab.txt": b"a"})
        server.add_repository("org/mute", weights)
        commit = server.add_repository("org/pickle", {"pytorch_model.bin": b"x"})
        assert full_machine.hub_fault("org/safe") == ""
        assert "only as a pickle" in full_machine.hub_fault("org/pickle")
        assert "only as a pickle" in full_machine.hub_fault(f"org/pickle@{commit}")
        assert "without a tokenizer" in full_machine.hub_fault("org/mute")
        server.fault("org/safe", "gated", times=1)
        assert "terms" in full_machine.hub_fault("org/safe")
        for unknown in ("org/none", "org/safe@v9"):
            message = f"{unknown} is neither a folder nor a model on the hub"
            assert full_machine.hub_fault(unknown) == message
    assert full_machine.hub_fault("org/pickle") == ""


def test_doctor_full_optional_material(project, repository):
    (project / "config.yaml").write_text((repository / "config.yaml").read_text())
    full = {"model": "smollm2", "judges": {"smollm2": "GPT4o"}}
    for more, rows in (({"duo": None}, 0), ({}, 1), ({"duo": "org/duo", "trec_rag": "rag"}, 2)):
        settings = {"ginger": {"full": full | more}}
        (project / "mine.yaml").write_text(json.dumps(settings))
        report = doctor("lajewska2025_ch6", "--configfile", "mine.yaml")
        message = [
            row for row in report["rows"] if "duoT5" in row["what"] or "TREC RAG" in row["what"]
        ]
        assert len(message) == rows
    assert {row["state"] for row in message} == {"ok", "missing"}
    assert "set ginger.full.trec_rag (docs/grounded-responses.md)" in report["ending"]


def test_doctor_full_disks_of_fetched_corpus(project, repository, monkeypatch):
    (project / "config.yaml").write_text((repository / "config.yaml").read_text())
    settings = {
        "query_by_example": {
            "scidocs": {"folder": "fetch"}, "encoders": {"bert": "a", "scibert": "b"}
        }
    }  # fmt: skip
    (project / "mine.yaml").write_text(json.dumps(settings))
    requests = {}
    monkeypatch.setattr(
        full_tier,
        "check_disks",
        lambda sizes, root: (
            requests.update({position.absolute(): gb for position, gb in sizes.items()}) or []
        ),
    )
    monkeypatch.setattr(full_tier, "corpus_cache", lambda: project / "downloads")
    doctor("abolghasemi2026_ch2", "--configfile", "mine.yaml")
    # 0.52 GB as published; what is unpacked or copied lies in the project, beside what is made.
    assert requests[project / "downloads"] == pytest.approx(0.52)
    assert requests[project / "work/corpora"] == 1
    assert requests[full_machine.hub_cache()] == 0.9 and requests[project] == pytest.approx(
        46 + 0.9
    )


def test_models_in_the_cache_of_the_hub_need_no_network(project):
    for name in (
        "bert-base-uncased",
        "HuggingFaceH4--zephyr-7b-beta",
        "mistralai--Mistral-7B-Instruct-v0.2",
    ):
        folder = project / "hub/hub" / f"models--{name}" / "snapshots/0"
        folder.mkdir(parents=True)
        (folder / "model.safetensors").touch()
    report = doctor("abolghasemi2026_ch3")
    assert not [row for row in report["rows"] if row["what"].startswith("network")]
    assert report["can_start"]


def test_doctor_full_hosts_of_corpus(project, repository):
    settings = {"answerability": {"full": {"squad": "fetch", "squad_dev": "fetch"}}}
    (project / "config.yaml").write_text((repository / "config.yaml").read_text())
    (project / "mine.yaml").write_text(json.dumps(settings))
    requests = ("lajewska2025_chB", "--configfile", "mine.yaml")
    report = doctor(*requests)
    assert report["can_start"] and states(report)["package ir-datasets"] == "ok"
    assert states(report)["network to rajpurkar.github.io"] == "ok"
    folder = project / "work/corpora/squad"
    folder.mkdir(parents=True)
    (folder / "SOURCE.json").touch()
    rows = doctor(*requests)["rows"]
    assert not [row for row in rows if row["what"].startswith(("network", "package"))]


def test_doctor_full_partly_configured(project):
    (project / "config.yaml").write_text(json.dumps({"cast_systems": {"organisers_run": "a.run"}}))
    (project / "a.run").touch()
    report = doctor("lajewska2025_ch3")
    assert report["artefacts"] == ["lajewska2025/text_3_5"]
    (row,) = [row for row in report["rows"] if row["what"].startswith("The organisers' run")]
    assert row["state"] == "ok" and row["finding"].startswith("a.run; identified by: no known")
    collections = (
        "cast_systems.collection_2020 and cast_systems.collection_2021 and "
        "(cast_systems.qrecc or cast_systems.rewriters.qrecc), "
    )
    start, _, alternatives = report["ending"].partition(collections)
    assert start == "full_lajewska2025_ch3 can start with 1 of 7 artefacts; for the other 6, set "
    assert alternatives.startswith("(cast_systems.runs_2020 or cast_systems.collection_2020) and ")
    (project / "a.run").unlink()
    start, _, _ = doctor("lajewska2025_ch3")["ending"].partition(collections)
    assert start == (
        "full_lajewska2025_ch3 cannot start: set cast_systems.organisers_run "
        "(docs/papers/lajewska2025.md); for the other 6, set "
    )


def test_doctor_full_gzipped_runs(project, repository):
    (project / "config.yaml").write_text(json.dumps({"cast_systems": {"runs_2020": "runs"}}))
    declared = yaml.safe_load((repository / "published/full.yaml").read_text())
    names = [item.split("|") for item in declared["materials"]["cast_runs_2020"]["holds"]]
    # As the authors' repository lists them for 2020 (data/runs/2020 and its folder ance).
    assert len(names) == 8 and all(name.endswith("_2020.trec") for name, _ in names)
    (project / "runs").mkdir()
    for name, _ in names:
        (project / "runs" / f"{name}.tar.gz").touch()
    assert (
        f"put {names[0][0]} or {names[0][0]}.gz into runs" in doctor("lajewska2025_ch3")["ending"]
    )
    for number, item in enumerate(names):
        (project / "runs" / item[number % 2]).touch()
    assert doctor("lajewska2025_ch3")["can_start"]


def test_doctor_full_without_name(project):
    report = doctor()
    assert report["target"] == "full" and len(report["artefacts"]) == 5
    assert report["ending"].startswith("full can start with 5 of ")


def test_doctor_full_unknown_name(project):
    assert "did you mean heuss2025_ch5" in refused("doctor", "--full", "heuss2025_ch55")
    assert "has no full tier that can be run" in refused("doctor", "--full", "sakai2023")
    assert "add it" in refused("doctor", "heuss2025_ch5")


def test_connection_fault_any_status():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    # This server refuses HEAD.
    assert full_machine.connection_fault(url) == ""
    server.shutdown()
    server.server_close()
    assert full_machine.connection_fault(url) == "Connection refused"


def test_connection_fault_endless_headers(endless_headers, monkeypatch):
    monkeypatch.setattr(full_machine, "TIMEOUT", 0.4)
    assert "0.8 s" in full_machine.connection_fault(endless_headers)


def test_connection_fault_without_http():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            connection, _ = server.accept()
            connection.recv(1000)
            connection.sendall(b"SSH-2.0-toy\r\n")
            connection.close()

        threading.Thread(target=greet, daemon=True).start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        assert full_machine.connection_fault(url) == "SSH-2.0-toy"
    assert full_machine.connection_fault("hub.example.org") == "unknown url type: 'hub.example.org'"


def test_gpus_unknown_memory(tmp_path, monkeypatch):
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 'GB10, [N/A]'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert full_machine.gpus() is None
    program.write_text("#!/bin/sh\necho 'A100, 81920'\n")
    assert full_machine.gpus() == [("A100", pytest.approx(85.9, abs=0.01))]


@pytest.mark.parametrize("triples", [None, "triples.tsv"])
def test_doctor_full_run_only_if_configured(project, triples):
    (project / "scores.csv").touch()
    training = {"runs": {}, "scores": "scores.csv", "training": {"triples": triples}}
    (project / "triples.tsv").touch()
    (project / "marco").mkdir()
    settings = {
        "term_fairness": {"msmarco": {"folder": "marco"}},
        "uncertain_ranking": {"msmarco": training},
    }
    (project / "config.yaml").write_text(json.dumps(settings))
    names = states(doctor("heuss2025_ch3"))
    assert ("Pre-trained BERT-Mini in safetensors" in names) == (triples is not None)

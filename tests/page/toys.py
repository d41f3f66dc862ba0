"""A made-up paper with made-up verdicts: one cell of each kind, and text that tries to be HTML."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd

from everycell.receipts.provenance import NAME, write_jobs
from everycell.records.papers import Artefact, Paper, load_papers
from everycell.records.tables import Record
from everycell.render.figure_files import save_figure
from everycell.render.figures import bar_panels
from everycell.verdicts.reports import CAUSE_NAMES, Report, Result

EVIL = "<script>document.title='taken'</script>"
#: Texts that try to escape from a text, an attribute, a style, a script, a template or a link.
HOSTILE = " ".join(
    [
        EVIL,
        "<img src=x onerror=\"document.title='taken'\">",
        '"><svg onload="document.title=\'taken\'">',
        "' onfocus='document.title=1' autofocus x='",
        "</style></script></title></textarea>--><iframe src=javascript:top.document.title=1>",
        "<a href=\"javascript:document.title='taken'\">here</a>",
        "{{ 7 * 7 }} {% raw %} &lt;b&gt; \\u003cscript\\u003e \u202e\u0007",
    ]
)
#: Keys of a report and fields of a record whose text may be anything.
FREE = {"claim", "detail", "evidence", "explanation", "finding", "key", "markers", "name", "needs",
        "published", "reproduced", "source", "test", "title", "why"}  # fmt: skip
PAPER = """
title: Toys & <script>document.title=1</script>
authors: N. N.
year: 2026
kind: thesis
reference: none
publication:
  doi: 10.1000/toys_1
  url: https://toys.example/thesis
  school: University of <b>Toys</b>
  origins: {"1": {published: Proceedings of <b>Toys</b>, arxiv: "2601.00001"}}
  code: [{url: "https://code.example/toys", holds: <b>code</b> of the runs}]
"""
CHAPTER = """
chapter: "1"
title: Toys
artefacts:
  table_1:
    kind: table
    title: "Scores <b>of</b> two runs"
    source: § 1 from p. 3, L1
    tiers:
      embedded: {state: surrogate, needs: nothing, name: made-up runs}
      released: {state: reproduced, needs: the runs}
      full: {state: not run, needs: a zeppelin}
    layout: {rows: [run], columns: [set, metric]}
    decimals: {MAP: 3, size: text}
    supplements: {by_length: Scores by length}
    claims:
      - {id: a_wins, claim: Run a is better than run b., source: "§ 1.1 from p. 4, L2",
         supported_if: [{cells: {run: a, set: x, metric: MAP}, op: ">", other: {run: b}}]}
    errata:
      - {id: swapped, cause: published, cells: [{run: b, set: y, metric: MAP}],
         finding: The two values of the last row are swapped., evidence: Their sum is printed.}
  figure_1: {kind: figure, title: Bars of the two runs, source: L3,
    tiers: {released: {state: reproduced, needs: the runs}}}
  table_2: {kind: table, title: A table that needs too much, source: L4,
    tiers: {full: {state: not run, needs: ten thousand crowd workers}}}
  figure_2: {kind: drawing, title: A drawing of a duck, source: L5,
    tiers: {embedded: {state: drawing, needs: nothing}}}
untested:
  - {source: L20, claim: Ducks prefer run a., reason: There are no ducks here.,
     missing: [{kind: file, name: answers of ducks}]}
  - {source: L9, claim: Geese prefer run b., reason: There are no geese here.,
     missing: [{kind: file, name: answers of geese}]}
"""
#: The job behind the table, which reads a file that the registry of the engine has.
RELEASED = "transparent-cis/input_data.csv"
LINEAGE = {"rule": "runs", "outputs": ["work/toy2026/table_1.parquet"],
           "inputs": [f"resources/{RELEASED}"], "parameters": {}, "hashes": {}}  # fmt: skip
#: run, set, metric, printed, rebuilt, verdict, why
CELLS = [
    ("a", "x", "MAP", "0.301", 0.30142, "equal", None),
    ("a", "x", "size", "S", "S", "equal", None),
    ("a", "y", "MAP", "0.5", 0.5007, "within tolerance", "another version of the tool"),
    ("a", "y", "size", "12", None, "quoted", "taken from elsewhere"),
    ("b", "x", "MAP", "0.250", 0.21, "different", None),
    ("b", "x", "size", "M", None, "not run", "needs the lost runs"),
    ("b", "y", "MAP", "0.4", 0.1, "explained", "The two values of the last row are swapped."),
    ("c", "x", "MAP", "0.2", 0.35, "too noisy to judge", "another seed"),
    ("c", "x", "size", "7", "7", "consistent", "the sum of two printed sizes"),
    ("c", "y", "size", "8", "9", "inconsistent", "the sum of two printed sizes"),
]  # fmt: skip


def published(folder: Path) -> dict[str, Paper]:
    """Write the toy paper and read it."""
    home = folder / "toy2026"
    home.mkdir(parents=True)
    (home / "paper.yaml").write_text(PAPER)
    (home / "ch1.yaml").write_text(CHAPTER)
    rows = "\n".join(",".join(row[:4]) for row in CELLS)
    (home / "table_1.csv").write_text(f"run,set,metric,value\n{rows}\n")
    (home / "table_2.csv").write_text(f"row,metric,value\nq,P,0.75\nr,P,{EVIL}\n")
    return load_papers(folder)


def poisoned(value: Any, *, free: bool = False) -> Any:
    """A report or record with `HOSTILE` in each text that is free."""
    if isinstance(value, dict):
        return {
            # Cells are shown by metric with its decimals, so its name stays.
            key: poisoned(part, free=(free or key in FREE) and key != "metric")
            for key, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [poisoned(part, free=free) for part in value]
    # Of a cell, `source` is one of a few words.
    if free and isinstance(value, str) and value not in CAUSE_NAMES:
        return f"{value} {HOSTILE}"
    return value


def hostile(folder: Path, results: Path) -> list[Result]:
    """The toy results with markup in every text of records, reports, tables, markers and faults."""
    toys = toy_results(folder, results)
    home = folder / "toy2026"
    tables = ("released/toy2026/table_1.by_length.csv", "embedded/toy2026/table_1.csv")
    for path in (home / "table_2.csv", *(results / name for name in tables)):
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        texts = [name for name in table if name not in ("metric", "length")]
        table[texts] = table[texts].map(lambda text: f"{text} {HOSTILE}")
        table.to_csv(path, index=False)
    result = []
    for toy in toys:
        record = toy.artefact.record.model_dump()
        record = Record.model_validate(
            poisoned(record) | {"supplements": poisoned(record["supplements"], free=True)}
        )
        artefact = toy.artefact.model_copy(update={"record": record})
        result.append(
            Result(
                artefact,
                toy.tier,
                Report.model_validate(poisoned(toy.report.model_dump())),
                tuple(poisoned(toy.faults, free=True)),
            )
        )
    return result


def report(artefact: Artefact, tier: str, state: str, **more: Any) -> Report:
    """The report of a toy, empty but for what `more` gives."""
    claims = [
        {"id": one.id, "claim": one.claim, "source": one.source, "test": None,
         "on_published": "supported", "on_reproduced": "inconclusive", "detail": "printed: 1 of 1"}
        for one in artefact.record.claims
    ]  # fmt: skip
    errata = [
        {"id": one.id, "cause": one.cause, "finding": one.finding, "evidence": one.evidence,
         "source": None, "audit": {"name": "audit_sum", "holds": True, "detail": "0.5 = 0.1 + 0.4"}}
        for one in artefact.record.errata
    ]  # fmt: skip
    content = {
        "artefact": artefact.id, "tier": tier, "state": state, "cells": [],
        "claims": claims, "errata": errata, "files": [], **more,
        "verdicts": dict(Counter(cell["verdict"] for cell in more.get("cells", []))),
    }  # fmt: skip
    return Report.model_validate(content)


def toy_results(folder: Path, results: Path) -> list[Result]:
    """Toy results of the toy paper, with the files that the page reads or links."""
    artefacts = published(folder)["toy2026"].artefacts
    table, figure = artefacts["table_1"], artefacts["figure_1"]
    cells = [
        {"key": dict(zip(("run", "set", "metric"), row[:3], strict=True)), "published": row[3],
         "reproduced": row[4], "verdict": row[5], "why": row[6]}
        for row in CELLS
    ]  # fmt: skip
    cells[4]["unit"] = 0.001
    cells[6]["source"] = "published"
    cells[7]["tolerance"] = 0.2
    cells[2]["markers"] = {"published": "b<", "reproduced": ""}
    failing = [one.model_copy(update={"on_reproduced": "contradicted", "detail": "0 of 1"})
               for one in report(table, "embedded", "surrogate").claims]  # fmt: skip
    home = results / "released" / "toy2026"
    home.mkdir(parents=True)
    for name in ("table_1", "figure_1"):
        inputs = [{"path": f"work/toy2026/{name}.parquet"}, {"path": f"published/{name}.csv"}]
        receipt = {"inputs": inputs, "code": {}, "execution": {"seconds": 1.25}}
        (home / f"{name}.receipt.json").write_text(json.dumps(receipt))
    write_jobs(results / NAME, [LINEAGE])
    (home / "table_1.by_length.csv").write_text(
        "length,run,metric,value,marker\nshort,a,MAP,0.123456,b&\nlong,a,MAP,0.2,\nall,a,MAP,12553.0,\n"
    )
    standing = results / "embedded" / "toy2026"
    standing.mkdir(parents=True)
    (standing / "table_1.csv").write_text(
        "run,set,metric,value\nz,x,MAP,0.1\nb,x,MAP,0.28351\na,x,MAP,0.31234\n"
    )
    (standing / "table_1.receipt.json").write_text(
        json.dumps({"inputs": [], "code": {}, "execution": {"seconds": 0.5}})
    )
    frame = table.cells.query("metric == 'MAP' and set == 'x'").astype({"value": float})
    save_figure(bar_panels(frame, group="run"), home / "figure_1")
    return [
        Result(table, "embedded", report(table, "embedded", "surrogate", claims=failing,
                                      files=["table_1.csv"])),
        Result(table, "released", report(table, "released", "reproduced", cells=cells,
                                      files=["table_1.by_length.csv", "table_1.csv"])),
        Result(table, "full", report(table, "full", "not run")),
        Result(figure, "released", report(figure, "released", "reproduced",
                                       files=["figure_1.csv", "figure_1.svg"])),
        Result(artefacts["table_2"], "full", report(artefacts["table_2"], "full", "not run"),
            ("figure_9.csv differs from its hash in",)),
        Result(artefacts["figure_2"], "embedded",
            report(artefacts["figure_2"], "embedded", "drawing")),
    ]  # fmt: skip

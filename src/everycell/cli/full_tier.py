"""Whether the full tier of what is asked for can start here: one row for each thing it needs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from everycell.cli.full_machine import (
    HUB,
    PATIENCE,
    Row,
    corpus_cache,
    disk,
    from_hub,
    hub_cache,
    hub_fault,
    hub_login,
    in_hub_cache,
    index_cache,
    machine,
    mirrored,
    network,
    packages,
)
from everycell.cli.names import Names
from everycell.engine.artefacts import Artefact, Paper, all_artefacts
from everycell.engine.full_runs import (
    FETCH,
    HUB_NAME,
    NOTHING_KNOWN,
    FullRun,
    FullTier,
    Material,
    corpora_without,
    number,
    required_files,
    runs_in_full,
    setting,
    tokens,
    unset,
)
from everycell.engine.published_cells import CardError
from everycell.language_models.endpoint import Endpoint
from everycell.language_models.generation import LanguageModelError
from everycell.language_models.presets import requirements
from everycell.language_models.settings import EndpointSettings, LanguageModels
from everycell.sources.corpora import CORPORA, EXTRA_DOWNLOADS, SOURCE
from everycell.sources.published_files import PublishedFile, find_published_file, read_dictionary


def select_full(papers: Mapping[str, Paper], name: str) -> tuple[str, list[Artefact]]:
    """Target and artefacts of the full tier behind the name of a paper, chapter or artefact."""
    selection = Names(papers).find(name)
    artefacts = [
        artefact
        for artefact in all_artefacts(papers)
        if selection.has(artefact) and runs_in_full(artefact)
    ]
    if not artefacts:
        raise CardError(f"{name!r} has no full tier that runs; `everycell show` says why.")
    return "full" if selection.kind == "tier" else f"full_{selection.target}", artefacts


def check(settings: Any, tier: FullTier, artefacts: list[Artefact], root: Path) -> list[Row]:
    """Rows for all that these artefacts need, whose settings are all there."""
    ids = [artefact.id for artefact in artefacts]
    runs, materials = tier.of(ids), tier.materials_of(ids).values()
    without = {
        material.title: f"made without, since `{material.settings[0]}` is not set"
        for artefact in artefacts
        if not unset(settings, artefact)
        for material in corpora_without(settings, tier, artefact)
    }
    rows = [Row("ok", title, finding) for title, finding in without.items()]
    hosts: set[str] = set()
    needed = {root: sum(run.work_gb for run in runs.values())}

    def add_size(folder: Path, size: float) -> None:
        needed[folder] = needed.get(folder, 0.0) + size

    caches = {"model": hub_cache(), "index": index_cache(), "corpus": corpus_cache()}
    brings = {name for material in materials for name in material.packages}
    for material in materials:
        # Of two that do the same only one may be named.
        if not any(setting(settings, key) for key in material.settings):
            continue
        row, material_hosts = _material(settings, material)
        rows.append(row)
        if material_hosts:
            # What is fetched lies in a cache, and as a run reads it: unpacked, or copied.
            add_size(caches.get(material.kind, root), _packed_gb(settings, material))
            if material.corpus:
                add_size(Path(settings.corpora.folder), material.gb)
            elif material.kind == "model":
                add_size(root, material.gb)
            hosts |= material_hosts
            brings |= {"ir-datasets"} if material.corpus else set()
    names = {key: _model_names(settings, key) for run in runs.values() for key in run.models}
    all_names = sorted({name for of_key in names.values() for name in of_key})
    rows += _language_models(settings.language_models, all_names, settings.network)
    rows += _money(settings, runs.values(), names)
    models = settings.language_models
    needs = {name: requirements(name, models) for name in all_names if name in _names(models)}
    weights = {
        need.source: need.disk_gb or 0.0
        for need in needs.values()
        if need.kind == "local" and from_hub(need.source)
    }
    add_size(hub_cache(), sum(weights.values()))
    hosts |= {need.source for need in needs.values() if need.kind == "endpoint"}
    hosts |= {mirrored(HUB)} if weights else set()
    rows += disk(needed, root)
    rows += machine(runs.values(), needs)
    rows += packages(brings)
    return rows + list(network(hosts, allowed=settings.network))


def _material(settings: Any, material: Material) -> tuple[Row, set[str]]:
    """Row of a corpus or model, and the hosts that a run would fetch it from."""
    what = f"{material.title}: {number(material.gb)} GB; licence: {material.licence}"
    values = {key: setting(settings, key) for key in material.settings}
    values = {key: str(value) for key, value in values.items() if value}
    if material.corpus and FETCH in values.values():
        return _corpus(settings, what, material.corpus)
    missing, not_local = [], {}
    for key, value in values.items():
        path = Path(value)
        if not path.exists():
            not_local[key] = value
            continue
        for pattern in required_files(settings, material) if path.is_dir() else ():
            names = pattern.split("|")
            if not any(any(path.glob(name)) for name in names):
                missing_names = " or ".join(names)
                do = f"put {missing_names} into {value} (docs/{material.page})"
                missing.append((f"`{key}` is {value!r}, which has no {missing_names}", do))
    hosts: set[str] = set()
    cached, fetched = [], []
    for key, value in not_local.items():
        is_folder = material.kind == "model" and not re.fullmatch(HUB_NAME, value)
        if is_folder or not material.hosts:
            do = f"set {key} (docs/{material.page})"
            missing.append((f"`{key}` is {value!r}, which is missing", do))
        elif material.kind == "model" and in_hub_cache(value):
            cached.append(value)
        elif material.kind == "model" and settings.network and (fault := hub_fault(value)):
            missing.append((fault, _mend(fault, value, key)))
        else:
            fetched.append(value)
            hosts = set(map(mirrored, material.hosts))
    if missing:
        findings, do = zip(*missing, strict=True)
        return Row("missing", what, "; ".join(findings), ", ".join(do)), hosts
    if fetched:
        return Row("ok", what, f"is fetched: {', '.join(fetched)}"), hosts
    if cached:
        return Row("ok", what, f"in the hub's cache: {', '.join(cached)}"), hosts
    unknown = f"; identified by: {NOTHING_KNOWN}" * material.nothing_known
    return Row("ok", what, ", ".join(values.values()) + unknown), hosts


def _mend(fault: str, model: str, key: str) -> str:
    """What to do about a model that the hub does not give as it is named."""
    if "terms" in fault:
        return f"accept the terms of {model} on the hub and export HF_TOKEN"
    if "pickle" in fault:
        folder = f"data/models/{model.partition('@')[0].rpartition('/')[2]}"
        return f"run `everycell data convert-weights {model} {folder}` and set {key} to {folder}"
    return f"set {key} to another model of the hub, or to a folder"


def _published(settings: Any, name: str) -> list[PublishedFile]:
    """Files of a corpus where the configuration has them fetched from."""
    downloads = settings.corpora.downloads
    path = None if downloads is None else Path(downloads)
    published = {} if path is None else read_dictionary(path)
    return [
        find_published_file(part.location, EXTRA_DOWNLOADS, published, path)
        for part in CORPORA[name].parts
    ]


def _packed_gb(settings: Any, material: Material) -> float:
    """GB that a material takes in a cache as it is downloaded."""
    if material.corpus is None:
        return material.disk_gb
    return sum(file.size for file in _published(settings, material.corpus)) / 1e9


def _corpus(settings: Any, what: str, name: str) -> tuple[Row, set[str]]:
    """Row of a corpus that is downloaded automatically, and the hosts of its files."""
    if (Path(settings.corpora.folder) / name / SOURCE).is_file():
        return Row("ok", what, f"was fetched into {settings.corpora.folder}/{name}"), set()
    hosts = {
        urlsplit(file.url)._replace(path="", query="").geturl()
        for file in _published(settings, name)
    }
    return Row("ok", what, f"is fetched: the corpus {name}"), hosts


def _model_names(settings: Any, key: str) -> list[str]:
    """Names of the language models under a key, which holds one, several, or labels by name."""
    value = setting(settings, key)
    return [value] if isinstance(value, str) else list(value or ())


def _names(models: LanguageModels) -> set[str]:
    return {*models.local, *models.endpoints}


def _listed_instead(endpoint: EndpointSettings) -> list[str]:
    """Models of a server that does not list its own; none where it does, or gives no list."""
    brief = endpoint.model_copy(update={"timeout": PATIENCE})
    try:
        return Endpoint(brief).listed_instead()[:20]
    # That it cannot be reached is a row of its own.
    except LanguageModelError:
        return []


def _language_models(models: LanguageModels, names: list[str], network: bool) -> Iterator[Row]:
    for name in names:
        what = f"language model {name}"
        if name not in _names(models):
            yield Row("missing", what, "is not among `language_models`", f"add {name} to them")
            continue
        need = requirements(name, models)
        if need.kind == "endpoint":
            finding = f"{models.endpoints[name].model} at {urlsplit(need.source).netloc}"
            if need.key is not None and not os.environ.get(need.key):
                yield Row(
                    "missing", what, f"{finding}; {need.key} is not set", f"export {need.key}"
                )
            elif network and (listed := _listed_instead(models.endpoints[name])):
                do = f"set language_models.endpoints.{name}.model to one of {', '.join(listed)}"
                yield Row("missing", what, f"{finding}, which does not list this model", do)
            else:
                keyed = f"; {need.key} is set" if need.key else ", without a key"
                yield Row("ok", what, finding + keyed)
            continue
        size = f"{number(need.disk_gb)} GB" if need.disk_gb else "of unknown size"
        finding = f"{need.source}: {size}; licence: {need.licence or 'see its page'}"
        if not from_hub(need.source):
            yield Row("ok", what, f"{finding}; is on this machine")
        elif need.gated and not hub_login():
            do = f"accept the licence of {need.source} on the hub and export HF_TOKEN"
            yield Row("missing", what, f"{finding}; the hub wants a login, HF_TOKEN is not set", do)
        elif network and (fault := hub_fault(need.source)):
            key = f"language_models.local.{name}.source"
            yield Row("missing", what, f"{finding}; {fault}", _mend(fault, need.source, key))
        else:
            yield Row("ok" if need.disk_gb else "unknown", what, f"{finding}; is fetched")


def _money(settings: Any, runs: Iterable[FullRun], names: dict[str, list[str]]) -> Iterator[Row]:
    runs_by_model: dict[str, list[FullRun]] = {}
    for run in runs:
        for name in dict.fromkeys(name for key in run.models for name in names[key]):
            runs_by_model.setdefault(name, []).append(run)
    for name, askers in runs_by_model.items():
        endpoint = settings.language_models.endpoints.get(name)
        if endpoint is None:
            continue
        prompt, answer = tokens(askers, "prompt") / 1e6, tokens(askers, "answer") / 1e6
        what = (
            f"money for {name}: {sum(run.requests for run in askers):,} requests, {number(prompt)} "
            f"million tokens of prompts, {number(answer)} of answers"
        )
        prices = endpoint.prices
        if prices.known:
            cost = prompt * prices.prompt + answer * prices.answer
            yield Row("ok", what, f"about {cost:,.2f} {prices.currency} at the prices named")
        else:
            yield Row(
                "unknown",
                what,
                "no `prices` are named",
                f"name language_models.endpoints.{name}.prices",
            )

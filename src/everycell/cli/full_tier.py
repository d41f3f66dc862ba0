"""Requirements of the full tier on this machine, one row each."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from everycell.cli.full_machine import (
    HUB,
    TIMEOUT,
    Row,
    check_disks,
    check_machine,
    check_network,
    check_packages,
    corpus_cache,
    has_hub_login,
    hub_cache,
    hub_fault,
    hub_or_mirror,
    in_hub_cache,
    index_cache,
    needs_download,
)
from everycell.cli.names import Names
from everycell.language_models.generation import LanguageModelError
from everycell.language_models.requirements import requirements
from everycell.language_models.settings import EndpointSettings, LanguageModels
from everycell.records.cells import RecordError
from everycell.records.full_runs import (
    FETCH,
    HUB_NAME,
    NOTHING_KNOWN,
    FullRun,
    FullTier,
    Material,
    format_number,
    missing_settings,
    required_files,
    runs_in_full,
    setting_value,
    tokens,
    unconfigured_corpora,
)
from everycell.records.papers import Artefact, Paper, all_artefacts
from everycell.sources.corpora import CORPORA, EXTRA_DOWNLOADS, SOURCE
from everycell.sources.published_files import PublishedFile, find_published_file, read_dictionary


def select_full(papers: Mapping[str, Paper], name: str) -> tuple[str, list[Artefact]]:
    """Target and artefacts of the full tier, for the name of a paper, chapter or artefact."""
    selection = Names(papers).find(name)
    artefacts = [
        artefact
        for artefact in all_artefacts(papers)
        if selection.has(artefact) and runs_in_full(artefact)
    ]
    if not artefacts:
        raise RecordError(f"{name!r} has no full tier that can be run; `everycell show` says why.")
    return "full" if selection.kind == "tier" else f"full_{selection.target}", artefacts


def check_requirements(
    settings: Any, tier: FullTier, artefacts: list[Artefact], root: Path
) -> list[Row]:
    """Check everything that a run of these artefacts needs; their settings must be complete."""
    ids = [artefact.id for artefact in artefacts]
    runs = {
        name: run
        for name, run in tier.of(ids).items()
        if run.only_if is None or setting_value(settings, run.only_if)
    }
    materials = {
        name: tier.materials[name] for run in runs.values() for name in run.materials
    }.values()
    omissions = {
        material.title: f"left out, because `{material.settings[0]}` is not set"
        for artefact in artefacts
        if not missing_settings(settings, artefact)
        for material in unconfigured_corpora(settings, tier, artefact)
    }
    rows = [Row("ok", title, finding) for title, finding in omissions.items()]
    hosts: set[str] = set()
    sizes = {root: sum(run.work_gb for run in runs.values())}

    def add_size(folder: Path, size: float) -> None:
        sizes[folder] = sizes.get(folder, 0.0) + size

    caches = {"model": hub_cache(), "index": index_cache(), "corpus": corpus_cache()}
    package_names = {name for material in materials for name in material.packages}
    for material in materials:
        # Some materials are alternatives, and only one of them is configured.
        if not any(setting_value(settings, key) for key in material.settings):
            continue
        row, material_hosts = _check_material(settings, material)
        rows.append(row)
        if material_hosts:
            # A download is stored in a cache and again for the run, unpacked or copied.
            add_size(caches.get(material.kind, root), _packed_gb(settings, material))
            if material.corpus:
                add_size(Path(settings.corpora.folder), material.gb)
            elif material.kind == "model":
                add_size(root, material.gb)
            hosts |= material_hosts
            package_names |= {"ir-datasets"} if material.corpus else set()
    names = {key: _model_names(settings, key) for run in runs.values() for key in run.models}
    all_names = sorted({name for names_of_key in names.values() for name in names_of_key})
    rows += _check_language_models(settings.language_models, all_names, settings.network)
    rows += _estimate_costs(settings, runs.values(), names)
    models = settings.language_models
    configured_names = _configured_names(models)
    needs = {name: requirements(name, models) for name in all_names if name in configured_names}
    weights = {
        need.source: need.disk_gb or 0.0
        for need in needs.values()
        if need.kind == "local" and needs_download(need.source)
    }
    add_size(hub_cache(), sum(weights.values()))
    hosts |= {need.source for need in needs.values() if need.kind == "endpoint"}
    hosts |= {hub_or_mirror(HUB)} if weights else set()
    rows += check_disks(sizes, root)
    rows += check_machine(runs.values(), needs)
    rows += check_packages(package_names)
    return rows + list(check_network(hosts, allowed=settings.network))


def _check_material(settings: Any, material: Material) -> tuple[Row, set[str]]:
    """Row of a corpus or model, and the hosts that a run would download it from."""
    what = f"{material.title}: {format_number(material.gb)} GB; licence: {material.licence}"
    values = {key: setting_value(settings, key) for key in material.settings}
    values = {key: str(value) for key, value in values.items() if value}
    if material.corpus and FETCH in values.values():
        return _check_corpus(settings, what, material.corpus)
    problems, remote_values = [], {}
    for key, value in values.items():
        path = Path(value)
        if not path.exists():
            remote_values[key] = value
            continue
        for pattern in required_files(settings, material) if path.is_dir() else ():
            names = pattern.split("|")
            if not any(any(path.glob(name)) for name in names):
                missing_names = " or ".join(names)
                do = f"put {missing_names} into {value} (docs/{material.page})"
                problems.append((f"`{key}` is {value!r}, which lacks {missing_names}", do))
    hosts: set[str] = set()
    cached_models, downloads = [], []
    for key, value in remote_values.items():
        is_folder = material.kind == "model" and not re.fullmatch(HUB_NAME, value)
        if is_folder or not material.hosts:
            do = f"set {key} (docs/{material.page})"
            problems.append((f"`{key}` is {value!r}, which does not exist", do))
        elif material.kind == "model" and in_hub_cache(value):
            cached_models.append(value)
        elif material.kind == "model" and settings.network and (fault := hub_fault(value)):
            problems.append((fault, _advice(fault, value, key)))
        else:
            downloads.append(value)
            hosts = set(map(hub_or_mirror, material.hosts))
    if problems:
        findings, advice = zip(*problems, strict=True)
        return Row("missing", what, "; ".join(findings), ", ".join(advice)), hosts
    if downloads:
        return Row("ok", what, f"will be downloaded: {', '.join(downloads)}"), hosts
    if cached_models:
        return Row("ok", what, f"in the hub's cache: {', '.join(cached_models)}"), hosts
    unknown = f"; identified by: {NOTHING_KNOWN}" * material.nothing_known
    return Row("ok", what, ", ".join(values.values()) + unknown), hosts


def _advice(fault: str, model: str, key: str) -> str:
    """Advice on a model that cannot be downloaded from the hub."""
    if "terms" in fault:
        return f"accept the terms of {model} on the hub and export HF_TOKEN"
    if "pickle" in fault:
        folder = f"data/models/{model.partition('@')[0].rpartition('/')[2]}"
        return f"run `everycell data convert-weights {model} {folder}` and set {key} to {folder}"
    return f"set {key} to another model of the hub, or to a folder"


def _published(settings: Any, name: str) -> list[PublishedFile]:
    """Files of a corpus, at their configured addresses."""
    downloads = settings.corpora.downloads
    path = None if downloads is None else Path(downloads)
    published = {} if path is None else read_dictionary(path)
    return [
        find_published_file(part.location, EXTRA_DOWNLOADS, published, path)
        for part in CORPORA[name].parts
    ]


def _packed_gb(settings: Any, material: Material) -> float:
    """Size of a download in the cache, in GB."""
    if material.corpus is None:
        return material.disk_gb
    return sum(file.size for file in _published(settings, material.corpus)) / 1e9


def _check_corpus(settings: Any, what: str, name: str) -> tuple[Row, set[str]]:
    """Row of a corpus that is downloaded automatically, and the hosts of its files."""
    if (Path(settings.corpora.folder) / name / SOURCE).is_file():
        return Row("ok", what, f"already in {settings.corpora.folder}/{name}"), set()
    hosts = {
        urlsplit(file.url)._replace(path="", query="").geturl()
        for file in _published(settings, name)
    }
    return Row("ok", what, f"will be downloaded: corpus {name}"), hosts


def _model_names(settings: Any, key: str) -> list[str]:
    """Names of the language models in a setting: one name, a list, or the keys of a mapping."""
    value = setting_value(settings, key)
    return [value] if isinstance(value, str) else list(value or ())


def _configured_names(models: LanguageModels) -> set[str]:
    return {*models.local, *models.endpoints}


def _alternatives(endpoint: EndpointSettings) -> list[str]:
    """Models that a server lists; empty if the configured model is among them."""
    # A light installation has no HTTP client, and needs none for other checks.
    from everycell.language_models.endpoint import Endpoint

    settings = endpoint.model_copy(update={"timeout": TIMEOUT})
    try:
        return Endpoint(settings).alternative_models()[:20]
    # Another row reports that the server cannot be reached.
    except LanguageModelError:
        return []


def _check_language_models(
    models: LanguageModels, names: list[str], network: bool
) -> Iterator[Row]:
    """Rows for language models: those behind endpoints, on this machine, or on the hub."""
    for name in names:
        what = f"language model {name}"
        if name not in _configured_names(models):
            do = f"add {name} to `language_models`"
            yield Row("missing", what, "is not configured in `language_models`", do)
            continue
        need = requirements(name, models)
        if need.kind == "endpoint":
            finding = f"{models.endpoints[name].model} at {urlsplit(need.source).netloc}"
            if need.key is not None and not os.environ.get(need.key):
                yield Row(
                    "missing", what, f"{finding}; {need.key} is not set", f"export {need.key}"
                )
            elif network and (alternatives := _alternatives(models.endpoints[name])):
                choice = ", ".join(alternatives)
                do = f"set language_models.endpoints.{name}.model to one of {choice}"
                yield Row("missing", what, f"{finding}, which does not list this model", do)
            else:
                note = f"; {need.key} is set" if need.key else ", without a key"
                yield Row("ok", what, finding + note)
            continue
        size = f"{format_number(need.disk_gb)} GB" if need.disk_gb else "of unknown size"
        finding = f"{need.source}: {size}; licence: {need.licence or 'see its page'}"
        if not needs_download(need.source):
            yield Row("ok", what, f"{finding}; already on this machine")
        elif need.gated and not has_hub_login():
            do = f"accept the licence of {need.source} on the hub and export HF_TOKEN"
            fault = "the hub requires a login, but HF_TOKEN is not set"
            yield Row("missing", what, f"{finding}; {fault}", do)
        elif network and (fault := hub_fault(need.source)):
            key = f"language_models.local.{name}.source"
            yield Row("missing", what, f"{finding}; {fault}", _advice(fault, need.source, key))
        else:
            yield Row("ok" if need.disk_gb else "unknown", what, f"{finding}; will be downloaded")


def _estimate_costs(
    settings: Any, runs: Iterable[FullRun], names: dict[str, list[str]]
) -> Iterator[Row]:
    """Rows for the costs of language models behind endpoints."""
    runs_by_model: dict[str, list[FullRun]] = {}
    for run in runs:
        for name in dict.fromkeys(name for key in run.models for name in names[key]):
            runs_by_model.setdefault(name, []).append(run)
    for name, model_runs in runs_by_model.items():
        endpoint = settings.language_models.endpoints.get(name)
        if endpoint is None:
            continue
        prompt, answer = tokens(model_runs, "prompt") / 1e6, tokens(model_runs, "answer") / 1e6
        requests = sum(run.requests for run in model_runs)
        what = (
            f"cost of {name}: {requests:,} requests, {format_number(prompt)} million prompt "
            f"tokens, {format_number(answer)} million answer tokens"
        )
        prices = endpoint.prices
        if prices.known:
            cost = prompt * prices.prompt + answer * prices.answer
            yield Row("ok", what, f"about {cost:,.2f} {prices.currency} at the configured prices")
        else:
            do = f"set language_models.endpoints.{name}.prices"
            yield Row("unknown", what, "`prices` is not set", do)

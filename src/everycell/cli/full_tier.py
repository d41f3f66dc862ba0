"""Whether the full tier of what is asked for can start here: one row for each thing it needs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
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
from everycell.engine.artefacts import Artefact, Paper, all_artefacts
from everycell.engine.full_runs import (
    FETCH,
    NOTHING_KNOWN,
    FullRun,
    FullTier,
    Material,
    corpora_without,
    held,
    number,
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
from everycell.sources.corpora import CORPORA, OWN, SOURCE
from everycell.sources.published_files import Published, entry_of, read_dictionary


def asked_for(papers: Mapping[str, Paper], name: str) -> tuple[str, list[Artefact]]:
    """Target and artefacts behind the name of a work, a chapter or an artefact."""
    groups: dict[str, list[Artefact]] = {"full": []}
    known = {"full"}
    for artefact in all_artefacts(papers):
        names = (
            "full",
            f"full_{artefact.paper}",
            f"full_{artefact.paper}_ch{artefact.chapter}",
            f"full_{artefact.paper}_{artefact.name}",
        )
        known.update(names)
        if runs_in_full(artefact):
            for target in names:
                groups.setdefault(target, []).append(artefact)
    target = name.replace("/", "_")
    target = target if target in known else f"full_{target}"
    if target not in known:
        near = get_close_matches(target, sorted(known), n=3, cutoff=0.3) or ["full_heuss2025_ch5"]
        nearest = ", ".join(each.removeprefix("full_") for each in near)
        raise CardError(
            f"{name!r} is not a paper, chapter or artefact; the nearest names are {nearest}."
        )
    if target not in groups:
        raise CardError(
            f"{name!r} has no full tier that runs; `everycell show` says of an artefact why."
        )
    return target, groups[target]


def check(settings: Any, tier: FullTier, artefacts: list[Artefact], root: Path) -> list[Row]:
    """Rows for all that these artefacts need, whose settings are all there."""
    ids = [artefact.id for artefact in artefacts]
    runs, materials = tier.of(ids), tier.materials_of(ids).values()
    without = {
        material.title: f"made without, since `{material.settings[0]}` is not set"
        for each in artefacts
        if not unset(settings, each)
        for material in corpora_without(settings, tier, each)
    }
    rows = [Row("ok", title, found) for title, found in without.items()]
    hosts: set[str] = set()
    needed = {root: sum(run.work_gb for run in runs.values())}

    def take(place: Path, size: float) -> None:
        needed[place] = needed.get(place, 0.0) + size

    places = {"model": hub_cache(), "index": index_cache(), "corpus": corpus_cache()}
    brings = {name for material in materials for name in material.packages}
    for material in materials:
        # Of two that do the same only one may be named.
        if not any(setting(settings, key) for key in material.settings):
            continue
        row, asked_hosts = _material(settings, material)
        rows.append(row)
        if asked_hosts:
            # What is fetched lies in a cache, and as a run reads it: unpacked, or copied.
            take(places.get(material.kind, root), _packed_gb(settings, material))
            if material.corpus:
                take(Path(settings.corpora.folder), material.gb)
            elif material.kind == "model":
                take(root, material.gb)
            hosts |= asked_hosts
            brings |= {"ir-datasets"} if material.corpus else set()
    names = {key: _model_names(settings, key) for run in runs.values() for key in run.models}
    asked = sorted({name for each in names.values() for name in each})
    rows += _language_models(settings.language_models, asked, settings.network)
    rows += _money(settings, runs.values(), names)
    models = settings.language_models
    needs = {name: requirements(name, models) for name in asked if name in _names(models)}
    weights = {
        need.source: need.disk_gb or 0.0
        for need in needs.values()
        if need.kind == "local" and from_hub(need.source)
    }
    take(hub_cache(), sum(weights.values()))
    hosts |= {need.source for need in needs.values() if need.kind == "endpoint"}
    hosts |= {mirrored(HUB)} if weights else set()
    rows += disk(needed, root)
    rows += machine(runs.values(), needs)
    rows += packages(brings)
    return rows + list(network(hosts, allowed=settings.network))


def _material(settings: Any, material: Material) -> tuple[Row, set[str]]:
    """Row of a corpus or model, and the hosts that a run would fetch it from."""
    what = f"{material.title}: {number(material.gb)} GB; licence: {material.licence}"
    named = {key: setting(settings, key) for key in material.settings}
    named = {key: str(value) for key, value in named.items() if value}
    if material.corpus and FETCH in named.values():
        return _corpus(settings, what, material.corpus)
    missing, elsewhere = [], {}
    for key, value in named.items():
        path = Path(value)
        if not path.exists():
            elsewhere[key] = value
            continue
        for pattern in held(settings, material) if path.is_dir() else ():
            names = pattern.split("|")
            if not any(any(path.glob(name)) for name in names):
                wanted = " or ".join(names)
                do = f"put {wanted} into {value} (docs/{material.page})"
                missing.append((f"`{key}` is {value!r}, which has no {wanted}", do))
    hosts: set[str] = set()
    kept, fetched = [], []
    for key, value in elsewhere.items():
        if not material.hosts:
            do = f"set {key} (docs/{material.page})"
            missing.append((f"`{key}` is {value!r}, which is not there", do))
        elif material.kind == "model" and in_hub_cache(value):
            kept.append(value)
        elif material.kind == "model" and settings.network and (fault := hub_fault(value)):
            missing.append((fault, _mend(fault, value, key)))
        else:
            fetched.append(value)
            hosts = set(map(mirrored, material.hosts))
    if missing:
        found, do = zip(*missing, strict=True)
        return Row("missing", what, "; ".join(found), ", ".join(do)), hosts
    if fetched:
        return Row("ok", what, f"is fetched: {', '.join(fetched)}"), hosts
    if kept:
        return Row("ok", what, f"in the hub's cache: {', '.join(kept)}"), hosts
    unknown = f"; identified by: {NOTHING_KNOWN}" * material.nothing_known
    return Row("ok", what, ", ".join(named.values()) + unknown), hosts


def _mend(fault: str, model: str, key: str) -> str:
    """What to do about a model that the hub does not give as it is named."""
    if "terms" in fault:
        return f"accept the terms of {model} on the hub and export HF_TOKEN"
    if "pickle" in fault:
        folder = f"models/{model.partition('@')[0].rpartition('/')[2]}"
        return f"run `everycell data convert-weights {model} {folder}` and set {key} to {folder}"
    return f"set {key} to another model of the hub, or to a folder"


def _published(settings: Any, name: str) -> list[Published]:
    """Files of a corpus where the configuration has them fetched from."""
    downloads = settings.corpora.downloads
    path = None if downloads is None else Path(downloads)
    chosen = {} if path is None else read_dictionary(path)
    return [entry_of(part.location, OWN, chosen, path) for part in CORPORA[name].parts]


def _packed_gb(settings: Any, material: Material) -> float:
    """GB that a material takes in a cache as it is downloaded."""
    if material.corpus is None:
        return material.disk_gb
    return sum(file.size for file in _published(settings, material.corpus)) / 1e9


def _corpus(settings: Any, what: str, name: str) -> tuple[Row, set[str]]:
    """Row of a corpus that comes by itself, and the hosts of its files."""
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
            found = f"{models.endpoints[name].model} at {urlsplit(need.source).netloc}"
            if need.key is not None and not os.environ.get(need.key):
                yield Row("missing", what, f"{found}; {need.key} is not set", f"export {need.key}")
            elif network and (listed := _listed_instead(models.endpoints[name])):
                do = f"set language_models.endpoints.{name}.model to one of {', '.join(listed)}"
                yield Row("missing", what, f"{found}, which does not list this model", do)
            else:
                keyed = f"; {need.key} is set" if need.key else ", without a key"
                yield Row("ok", what, found + keyed)
            continue
        size = f"{number(need.disk_gb)} GB" if need.disk_gb else "of unknown size"
        found = f"{need.source}: {size}; licence: {need.licence or 'see its page'}"
        if not from_hub(need.source):
            yield Row("ok", what, f"{found}; is on this machine")
        elif need.gated and not hub_login():
            do = f"accept the licence of {need.source} on the hub and export HF_TOKEN"
            yield Row("missing", what, f"{found}; the hub wants a login, HF_TOKEN is not set", do)
        elif network and (fault := hub_fault(need.source)):
            key = f"language_models.local.{name}.source"
            yield Row("missing", what, f"{found}; {fault}", _mend(fault, need.source, key))
        else:
            yield Row("ok" if need.disk_gb else "unknown", what, f"{found}; is fetched")


def _money(settings: Any, runs: Iterable[FullRun], names: dict[str, list[str]]) -> Iterator[Row]:
    asking: dict[str, list[FullRun]] = {}
    for run in runs:
        for name in dict.fromkeys(name for key in run.models for name in names[key]):
            asking.setdefault(name, []).append(run)
    for name, asked in asking.items():
        endpoint = settings.language_models.endpoints.get(name)
        if endpoint is None:
            continue
        prompt, answer = tokens(asked, "prompt") / 1e6, tokens(asked, "answer") / 1e6
        what = (
            f"money for {name}: {sum(run.requests for run in asked):,} requests, {number(prompt)} "
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

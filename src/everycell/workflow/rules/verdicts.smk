# Each published cell against its reproduced value; claims and errata of the record.


include: "verdicts_inputs.smk"


use rule step as verdicts with:
    input:
        rebuilt="results/{tier}/{paper}/{artefact}.csv",
        receipt="results/{tier}/{paper}/{artefact}.receipt.json",
        card=card_file,
        cells=printed_cells,
        beside=receipts_of_tables_beside,
        identities=identities,
    output:
        verdicts="results/{tier}/{paper}/{artefact}.verdicts.json",
    pathvars:
        job="verdicts/{tier}/{paper}/{artefact}",
    wildcard_constraints:
        tier="|".join(TIERS),
        artefact=r"(table|figure|text)_\w+",
    params:
        **runs("verdicts"),
        audits=code_of_audits,
        notes=notes_on_materials,
    message:
        "Verdicts of {wildcards.paper} {wildcards.artefact} ({wildcards.tier})"


# What a corpus of the full tier is, beside the facts that identify it.
use rule step as identity with:
    input:
        files_with_facts,
    output:
        identity="work/identity/{material}.json",
    pathvars:
        job="identity/{material}",
    resources:
        **needs(2000, 30),
    params:
        **runs("identity"),
        title=lambda wildcards: FULL_TIER.materials[wildcards.material].title,
        facts=facts_of_material,
    message:
        "Identifying {wildcards.material}"


# Every erratum that published numbers alone can show, checked by its audit.
use rule table as errata with:
    input:
        published=published(),
    pathvars:
        result="embedded/errata",
    params:
        **runs("errata"),
        audits=code_of_all_audits,
    message:
        "Checking errata against published values"

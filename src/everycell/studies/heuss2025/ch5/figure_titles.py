"""Parameters and titles of the tables and figures of chapter 5."""

from __future__ import annotations

#: Counts in Figure 5.6.
FORGED = {
    "of": "instances",
    "metrics": {"recovered": "recovered", "cites the forged document": "forged one cited"},
}

#: Tier -> figure -> panel -> title. Simulated readers write statements, not sentences.
SIZE_TITLES = {
    tier: {
        "3": {
            unit: f"{unit.capitalize()} of an answer",
            "citations": "Citations of an answer",
            "words": "Words of a cited statement",
        },
        "4": {
            "documents": "Documents that an answer cites",
            "places": "Position of a cited document",
        },
    }
    for tier, unit in (("embedded", "statements"), ("full", "sentences"))
}
#: Claims that do not apply to models that are given the answer.
CLAIMS_ON_OWN_ANSWERS = [
    "random document: statements recovered",
    "statements recovered, lowest share",
    "statements recovered, highest share",
    "answers that cite nothing",
    "answers that cite what was not predicted to be cited",
]

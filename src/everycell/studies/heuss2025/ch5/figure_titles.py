"""What the tables and figures of chapter 5 show of each tier."""

from __future__ import annotations

#: What Figure 5.6 shows.
FORGED = {
    "of": "instances",
    "metrics": {"recovered": "recovered", "cites the forged document": "forged one cited"},
}

#: Titles of Figures 5.3 and 5.4; answers of simulated readers have statements and no sentences.
SIZE_TITLES = {
    tier: {
        "3": {
            unit: f"{unit.capitalize()} of an answer",
            "citations": "Citations of an answer",
            "words": "Words of a cited statement",
        },
        "4": {
            "documents": "Documents that an answer cites",
            "places": "Place of a cited document",
        },
    }
    for tier, unit in (("embedded", "statements"), ("full", "sentences"))
}
#: Claims of which a model that is told the answer says nothing.
TOLD_NOTHING_OF = [
    "random document: statements recovered",
    "statements recovered, lowest share",
    "statements recovered, highest share",
    "answers that cite nothing",
    "answers that cite what was not predicted to be cited",
]

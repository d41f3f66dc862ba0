"""Synthetic dialogues for chapter 3 of abolghasemi2026, with known user satisfaction.

As in abolghasemi2026, section 3.5.4, a label is the satisfaction after a system turn and before the
next user turn. The texts and faults are our own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from everycell.collections.satisfaction_samples import Sample

#: Possible faults of a system turn.
FAULTS: Mapping[str, str] = {
    "contradiction": "the correct turn with one of the user's values replaced",
    "no answer": "the system is unable to help or does not know",
    "asked again": "the system asks for a value that the user has already given",
    "beside the point": "the system changes the subject",
}
#: Number of times that a user repeats a request before moving on.
RETRIES = 2

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_TIMES = ("11:15", "12:45", "13:30", "17:00", "18:30", "19:45")
_AREAS = ("north", "south", "east", "west", "centre")
_PRICES = ("cheap", "moderate", "expensive")
_COUNTS = tuple("2345678")
_TOWNS = ("Elmford", "Norwick", "Ashbury", "Port Leven", "Saltmere", "Hollin")


@dataclass(frozen=True)
class _Step:
    """Wordings of a request and of correct system turns, and the slots that the user states."""

    user: tuple[str, ...]
    correct: tuple[str, ...]
    stated_slots: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Domain:
    values: Mapping[str, tuple[str, ...]]
    slot_questions: Mapping[str, str]
    steps: tuple[_Step, ...]


_THANKS = _Step(
    ("Thank you, that is all.", "Great, thanks for your help.", "Thanks, bye."),
    ("You are welcome, goodbye.", "My pleasure. Have a good day!", "Glad to help. Enjoy!"),
)
_DOMAINS: Mapping[str, _Domain] = {
    "restaurant": _Domain(
        {
            "food": ("Thai", "Greek", "Lebanese", "Polish", "Korean", "Basque"),
            "area": _AREAS,
            "price": _PRICES,
            "day": _DAYS,
            "people": _COUNTS,
            "time": _TIMES,
            "name": ("Blue Kettle", "Olive Yard", "Old Granary", "Red Plum", "Salt House"),
            "ask": ("a terrace", "a vegan menu", "high chairs", "live music"),
        },
        {
            "food": "What kind of food would you like?",
            "area": "Which part of town do you have in mind?",
            "price": "What price range are you looking for?",
            "day": "On which day shall I book?",
            "people": "For how many people is that?",
            "time": "At what time would you like the table?",
        },
        (
            _Step(
                (
                    "I am looking for a place that serves {food} food in the {area}.",
                    "Can you find me a {food} restaurant in the {area} of town?",
                ),
                (
                    "There are some {food} places in the {area}. Any price range?",
                    "Sure, {food} food in the {area}. What would you like to spend?",
                ),
                ("food", "area"),
            ),
            _Step(
                ("It should be {price}.", "In the {price} range, please."),
                (
                    "{name} is a {price} {food} restaurant in the {area}. Shall I book a table?",
                    "How about {name}? It is {price} and in the {area}.",
                ),
                ("price",),
            ),
            _Step(
                ("Does it have {ask}?", "Do you know whether they have {ask}?"),
                ("Yes, {name} has {ask}.", "They do have {ask}. Anything else about {name}?"),
            ),
            _Step(
                (
                    "Please book a table for {people} people on {day} at {time}.",
                    "I would like a table on {day} at {time}, {people} people.",
                ),
                (
                    "Done: {name}, {day} at {time}, {people} people. Your reference is {code}.",
                    "Your table for {people} at {name} is booked for {day}, {time}. It is {code}.",
                ),
                ("people", "day", "time"),
            ),
            _THANKS,
        ),
    ),
    "hotel": _Domain(
        {
            "area": _AREAS,
            "price": _PRICES,
            "stars": ("two", "three", "four", "five"),
            "day": _DAYS,
            "people": _COUNTS,
            "nights": _COUNTS,
            "name": ("Linden Court", "Harbour Inn", "Mill Lodge", "Swan Rooms", "Castle View"),
            "ask": ("free parking", "wireless internet", "a lift", "a pool"),
        },
        {
            "area": "Where in town would you like to stay?",
            "price": "Do you have a price range in mind?",
            "stars": "How many stars should it have?",
            "day": "From which day would you like the room?",
            "people": "How many guests will there be?",
            "nights": "How many nights will you stay?",
        },
        (
            _Step(
                (
                    "I need a {price} hotel in the {area}.",
                    "We want to stay in the {area} of town, somewhere {price}.",
                ),
                (
                    "I have several {price} hotels in the {area}. How many stars?",
                    "In the {area} there is a choice of {price} ones. Does the rating matter?",
                ),
                ("price", "area"),
            ),
            _Step(
                ("A {stars} star one.", "It should have {stars} stars."),
                (
                    "{name} has {stars} stars, is {price} and lies in the {area}.",
                    "I can offer {name}, {stars} stars, in the {area}. Would you like a room?",
                ),
                ("stars",),
            ),
            _Step(
                ("Is there {ask}?", "Does this hotel have {ask}?"),
                ("Yes, there is {ask} at {name}.", "{name} has {ask}. May I book it for you?"),
            ),
            _Step(
                (
                    "Book it for {people} people and {nights} nights from {day}.",
                    "Yes, a room from {day}, {nights} nights, for {people} of us.",
                ),
                (
                    "It is booked: {nights} nights from {day} for {people} people. Code {code}.",
                    "{name} expects {people} guests on {day} for {nights} nights, code {code}.",
                ),
                ("people", "nights", "day"),
            ),
            _THANKS,
        ),
    ),
    "train": _Domain(
        {
            "start": _TOWNS,
            "goal": _TOWNS,
            "day": _DAYS,
            "time": _TIMES,
            "people": _COUNTS,
            "name": ("EX204", "EX317", "RB88", "RB151", "IC905"),
            "ask": ("a dining car", "room for bicycles", "power sockets", "a quiet coach"),
        },
        {
            "start": "Where do you leave from?",
            "goal": "Where would you like to go?",
            "day": "On which day will you travel?",
            "time": "When do you want to leave?",
            "people": "How many tickets do you need?",
        },
        (
            _Step(
                (
                    "I want to go by train from {start} to {goal}.",
                    "Which trains run from {start} to {goal}?",
                ),
                (
                    "Many trains run from {start} to {goal}. Which day and time suit you?",
                    "From {start} to {goal}, gladly. When will that be?",
                ),
                ("start", "goal"),
            ),
            _Step(
                ("On {day}, after {time}.", "{day}, and I cannot leave before {time}."),
                (
                    "{name} leaves {start} on {day} just after {time}. Do you want a ticket?",
                    "On {day} there is {name}, a little later than {time}.",
                ),
                ("day", "time"),
            ),
            _Step(
                ("Does it have {ask}?", "And is there {ask} on board?"),
                ("Yes, {name} has {ask}.", "There is {ask} on {name}. Shall I book?"),
            ),
            _Step(
                ("{people} tickets, please.", "Please book seats for {people} people."),
                (
                    "{people} tickets for {name} on {day} are yours, reference {code}.",
                    "I have booked {people} seats from {start} to {goal}. Your code is {code}.",
                ),
                ("people",),
            ),
            _THANKS,
        ),
    ),
}
_NO_ANSWER = (
    "I am afraid I cannot do that at the moment.",
    "Sorry, I have no information on that.",
    "Something went wrong with my search, please try later.",
    "I could not find anything like that.",
)
_OFF_TOPIC = (
    "The museum opens at ten and is free on Sundays.",
    "Your taxi will be a white van.",
    "There are three cinemas in town. Which films do you like?",
    "The weather is fine all week.",
)
_COMPLAINTS = (
    "That is not what I asked. {said}",
    "No. {said}",
    "Please listen: {said}",
    "Once more: {said}",
)


@dataclass(frozen=True)
class PlantedDialogues:
    """Samples with noisy labels, and the true satisfaction of each."""

    samples: tuple[Sample, ...]
    truth: pd.DataFrame


def plant_dialogues(
    dialogues: int = 100,
    *,
    dissatisfied: float = 0.1,
    noise: float = 0.0,
    seed: int = 0,
    benchmark: str = "planted",
) -> PlantedDialogues:
    """Generate dialogues with known satisfaction."""
    # The noise has its own random stream, so that it does not change the texts.
    draw, flips = (np.random.default_rng([seed, stream]) for stream in (0, 1))
    samples, rows = [], []
    for number in range(1, dialogues + 1):
        turns: list[tuple[str, str]] = []
        for turn, (user, system, fault) in enumerate(_dialogue(dissatisfied, draw), start=1):
            turns += [("USER", user), ("SYSTEM", system)]
            key = f"{benchmark}/{number:04}/{turn}"
            satisfied = not fault
            observed = satisfied != bool(flips.random() < noise)
            samples.append(Sample(key, benchmark, tuple(turns), observed))
            rows.append((key, f"{benchmark}/{number:04}", turn, satisfied, fault))
    columns = ["id", "dialogue", "turn", "satisfied", "fault"]
    return PlantedDialogues(tuple(samples), pd.DataFrame(rows, columns=columns))


def _dialogue(dissatisfied: float, draw: np.random.Generator) -> list[tuple[str, str, str]]:
    """Generate the exchanges of a dialogue: user turn, system turn, fault or ""."""
    domain = _DOMAINS[_pick(tuple(_DOMAINS), draw)]
    wishes = {slot: _pick(values, draw) for slot, values in domain.values.items()}
    if "goal" in wishes:
        wishes["goal"] = _pick_other(domain.values["goal"], wishes["start"], draw)
    wishes["code"] = "".join(str(digit) for digit in draw.integers(0, 10, 6))
    exchanges: list[tuple[str, str, str]] = []
    known_slots: list[str] = []
    for step in domain.steps:
        request = _pick(step.user, draw).format(**wishes)
        known_slots += step.stated_slots
        for attempt in range(1 + RETRIES):
            user = request if attempt == 0 else _pick(_COMPLAINTS, draw).format(said=request)
            template = _pick(step.correct, draw)
            is_faulty = bool(draw.random() < dissatisfied)
            system, fault = (
                _faulty_turn(template, wishes, known_slots, domain, draw)
                if is_faulty
                else (template.format(**wishes), "")
            )
            exchanges.append((user, system, fault))
            if not fault:
                break
    return exchanges


def _faulty_turn(
    template: str,
    wishes: Mapping[str, str],
    known_slots: list[str],
    domain: _Domain,
    draw: np.random.Generator,
) -> tuple[str, str]:
    """Generate a system turn with one of the faults that are possible here."""
    slots = [slot for slot in known_slots if f"{{{slot}}}" in template]
    fault = _pick([name for name in FAULTS if name != "contradiction" or slots], draw)
    if fault == "contradiction":
        slot = _pick(slots, draw)
        wrong_value = _pick_other(domain.values[slot], wishes[slot], draw)
        return template.format(**{**wishes, slot: wrong_value}), fault
    if fault == "asked again":
        return domain.slot_questions[_pick(known_slots, draw)], fault
    return _pick(_NO_ANSWER if fault == "no answer" else _OFF_TOPIC, draw), fault


def _pick(choices, draw: np.random.Generator):
    return choices[int(draw.integers(len(choices)))]


def _pick_other(values: tuple[str, ...], excluded: str, draw: np.random.Generator) -> str:
    return _pick([value for value in values if value != excluded], draw)

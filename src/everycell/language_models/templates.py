"""Prompt templates: texts with named slots, divided into the messages of a conversation.

Slots are written ``$name`` or ``${name}``, and ``$$`` is a dollar sign. Lines ``### system``,
``### user`` and ``### assistant`` start messages; a template without them is one user message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from string import Template

from everycell.base.errors import DataError
from everycell.base.text_files import read_text_file
from everycell.language_models.generation import Message

#: Slots of a kind of template: name -> content, and whether the slot is required.
Slots = Mapping[str, tuple[str, bool]]


def read_template(path: Path, slots: Slots, *, last: str) -> Template:
    """Read a prompt template."""
    return parse_template(template_text(path), path, slots, last=last)


def parse_template(text: str, path: Path, slots: Slots, *, last: str) -> Template:
    """Parse the text of a template file; its last message must have the slot `last`."""
    template = Template(text)
    check_slots(template, path, slots)
    final = _messages(template.template)[-1]
    if final.role != "user" or last not in Template(final.content).get_identifiers():
        problem = f"lacks ${last}" if final.role == "user" else f"has the role {final.role}"
        raise DataError(
            path,
            column="last message",
            fault=problem,
            fix=f"end the template with a user message that contains ${last}",
        )
    return template


def template_text(path: Path) -> str:
    """Text of a template file."""
    try:
        return read_text_file(path)
    except OSError as error:
        raise DataError(
            path,
            fault=f"cannot be read ({error.strerror})",
            fix="give the path of a template, or omit it",
        ) from None


def check_slots(template: Template, path: Path, slots: Slots) -> None:
    """Reject a template with an unknown slot, or without a required one."""
    allowed = ", ".join(f"${name}" for name in slots)
    if not template.is_valid():
        raise DataError(
            path,
            column="dollar sign",
            fault="does not start a slot",
            expected=f"one of {allowed}",
            fix="write $$ for a dollar sign",
        )
    identifiers = template.get_identifiers()
    for name in identifiers:
        if name not in slots:
            raise DataError(
                path, column="slot", value=f"${name}", fault="which is unknown", expected=allowed
            )
    for name, (meaning, needed) in slots.items():
        if needed and name not in identifiers:
            raise DataError(path, fault=f"lacks the slot ${name} ({meaning})", fix="add it")


def _messages(text: str) -> tuple[Message, ...]:
    """Split a text into messages at the lines that name a role."""
    before, *parts = re.split(r"^### (system|user|assistant)[ \t]*$", text, flags=re.MULTILINE)
    if not parts:
        return (Message(role="user", content=before.strip()),)
    roles, contents = parts[::2], parts[1::2]
    return tuple(
        Message(role=role, content=content.strip())  # type: ignore[arg-type]
        for role, content in zip(roles, contents, strict=True)
    )


def fill(template: Template, **values: str) -> tuple[Message, ...]:
    """Messages of a template with its slots filled.

    The template is split first, so that no line of a value can start a message.
    """
    return tuple(
        message.model_copy(update={"content": Template(message.content).substitute(values)})
        for message in _messages(template.template)
    )

"""Decisions as files: what `--emit=decisions` writes and `--decisions` reads back.

A file holds a YAML document for each region, in the order of the regions: a list of decisions, each with its question
(`decide`), the statements that it is about (`of`; without it: the region), which of several alike it is (`number`), and
its answer (`take`). Comments name what else could be taken. A document may leave out what the model is to decide.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from scopt.diagnostics import InputError, Location
from scopt.ir.decisions import Alternative, Decision
from scopt.options import Options
from scopt.scheduler.decisions.decider import Chance, Decider, Given, NoSuchAnswer, Place
from scopt.tell.wording import some
from scopt.yaml_reader import YamlReader, is_kind, is_nothing, yaml_documents, yaml_text

if TYPE_CHECKING:
    import yaml

# In place of a file: any legal decisions.
RANDOM = "random"
_KEYS = ("decide", "of", "number", "take")


class DecisionDocument(Struct, frozen=True):
    """Decisions of the user's. locations: where each stands in the file."""

    answers: Mapping[Place, str]
    locations: Mapping[Place, Location]

    def error(self, fault: NoSuchAnswer) -> InputError:
        return InputError(f"{self.locations[fault.place]}: error: {fault}")


def decider_of(options: Options, document: DecisionDocument | None, number: int) -> Decider:
    """Who decides about a region, the number-th of its file."""
    if options.decisions == RANDOM:
        return Decider(Chance(f"{options.seed} {number}"), options.tell_decisions)
    return Decider(Given(document.answers) if document is not None else None, options.tell_decisions)


# --- writing ----------------------------------------------------------------------------------------------------------


def decision_text(
    location: Location, made: Iterable[Decision], statements: Iterable[str] = (), cycles: float | None = None
) -> str:
    """One document. location: of the region. statements: a line each about what their names stand for. cycles: of the
    region, by the model."""
    listed = [_line(one) for one in made]
    whole = f": some {_number(cycles)} cycles by the model" if cycles is not None else ""
    comments = [f"# {location}{whole}", *(f"#   {line}" for line in statements)]
    return "\n".join([*comments, "---", *(listed or ["[]"])]) + "\n"


def nothing_decided(location: Location) -> str:
    """A document of a region that stays as it was."""
    return f"# {location}: left as it was\n---\n"


def _line(one: Decision) -> str:
    entries = [f"decide: {one.question}", *([f"of: {json.dumps(one.of)}"] if one.of else [])]
    entries += [f"number: {one.number}"] if one.number > 1 else []
    taken = next(each for each in one.alternatives if each.name == one.taken)
    rest = ", ".join(_told(each) for each in one.alternatives if each.name != one.taken)
    cycles = f"{_number(taken.cycles)} cycles; " if taken.cycles is not None else ""
    return f"- {{{', '.join([*entries, f'take: {json.dumps(one.taken)}'])}}}  # {cycles}or {rest}"


def _told(one: Alternative) -> str:
    return one.name if one.cycles is None else f"{one.name} ({_number(one.cycles)})"


def _number(cycles: float) -> str:
    return f"{cycles:.3g}".replace("e+0", "e").replace("e+", "e")


# --- reading ----------------------------------------------------------------------------------------------------------


def read_decisions(path: str, regions: int) -> tuple[DecisionDocument | None, ...]:
    """The documents of a file, one for each of so many regions; None leaves a region to the model. Raises
    InputError."""
    documents = parse_decisions(yaml_text(path), path)
    if len(documents) != regions:
        raise InputError(
            f"{path}: error: {some(len(documents), 'list')} of decisions for {some(regions, 'region')} "
            "(a document for each region, in their order; an empty one leaves its region to the model)"
        )
    return documents


def parse_decisions(text: str, file: str) -> tuple[DecisionDocument | None, ...]:
    """The documents of a file's text. Raises InputError with the place of what is wrong."""
    reader = YamlReader(file, "a decision (a mapping such as `{decide: …, take: …}`)")
    return tuple(_document(reader, node) for node in yaml_documents(text, file))


def _document(reader: YamlReader, node: yaml.Node) -> DecisionDocument | None:
    if is_nothing(node):
        return None
    if not is_kind(node, "sequence"):
        raise reader.error(node, "not a list of decisions (`- {decide: …, take: …}`)")
    answers: dict[Place, str] = {}
    locations: dict[Place, Location] = {}
    for item in node.value:
        place, answer = _decision(reader, item)
        if place in answers:
            raise reader.error(item, f"this was decided before, at {locations[place]}")
        answers[place], locations[place] = answer, reader.location(item)
    return DecisionDocument(answers, locations)


def _decision(reader: YamlReader, node: yaml.Node) -> tuple[Place, str]:
    entries = reader.entries(node)
    for key, (at, value) in entries.items():
        if key not in _KEYS:
            raise reader.error(at, f"unknown key `{key}` (known: {', '.join(_KEYS)})")
        if not is_kind(value, "scalar"):
            raise reader.error(value, f"`{key}` is a word or a number")
    for key in ("decide", "take"):
        if key not in entries:
            raise reader.error(node, f"a decision has a `{key}`")
    number = entries["number"][1] if "number" in entries else None
    if number is not None and not (number.value.isdecimal() and int(number.value) > 0):
        raise reader.error(number, "`number` counts from 1")
    of = entries["of"][1].value if "of" in entries else ""
    place = entries["decide"][1].value, of, int(number.value) if number is not None else 1
    return place, entries["take"][1].value

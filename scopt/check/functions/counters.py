"""Whether the functions that count guards count them, and tell the numbers in the end."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product
from typing import Any

from msgspec import Struct, field

from scopt.check.functions.conversions import Signature
from scopt.check.functions.faults import Fault
from scopt.check.functions.helper_functions import declared
from scopt.check.functions.values import Opaque, Pointer, Value, Void, Whole
from scopt.check.functions.workshop import Workshop, forms, run, translated
from scopt.diagnostics import Location

TOLD = "scopt_guard_told"
COUNTER = re.compile(r"scopt_guard_\d+_\d+$")
_INCLUDE = "#include <stdio.h>"
_STRING, _FILE, _INT, _NUMBER = Opaque("char *"), Opaque("FILE *"), Whole("int"), Whole("unsigned long")
_FORMAT = "%s: guard: held %lu, failed %lu\n"
_TELL = Signature((_STRING, _NUMBER, _NUMBER), Void())
_LIBRARY = {
    "getenv": Signature((_STRING,), _STRING),
    "fopen": Signature((_STRING, _STRING), _FILE),
    "fclose": Signature((_FILE,), _INT),
    "fprintf": Signature((_FILE, _STRING), _INT, variadic=True),
}
_ATOMIC = {"__atomic_fetch_add": Signature((Pointer(_NUMBER, False), _NUMBER, _INT), _NUMBER), TOLD: _TELL}


def check_told(workshop: Workshop, text: str) -> None:
    """Raise Fault unless the text's function appends numbers that aren't all zero to the file that the environment
    names, or to what is told.
    """
    if _INCLUDE not in text.splitlines():
        raise Fault("functions of C's library that aren't declared")
    for form in forms(text):
        made = translated(
            workshop,
            form.source,
            declared,
            externals=_LIBRARY,
            variables={"stderr": Value("stderr", _FILE, atomic=True)},
        )
        if set(made.functions) != {TOLD} or made.arrays:
            raise Fault(f"other functions than '{TOLD}'")
        if made.declared != {"getenv": _LIBRARY["getenv"]}:
            raise Fault("functions of C's library that aren't declared")
        for named, opened, held, failed in product(("", "names"), ("", "file"), (0, 1, 3), (0, 1, 4)):
            events: list[tuple[object, ...]] = []
            functions = run(made, form.source, _library(events, named, opened))
            functions[TOLD]("place", held, failed)
            target = opened if named else "stderr"
            meant: list[tuple[object, ...]] = [("getenv", "SCOPT_GUARDS"), *([("fopen", named, "a")] if named else [])]
            meant += [("fprintf", target, _FORMAT, "place", held, failed)] if target and held + failed else []
            meant += [("fclose", target)] if target and named else []
            if events != meant:
                raise Fault(f"'{TOLD}' calls {events}, not {meant}")


def _library(events: list[tuple[object, ...]], named: str, opened: str) -> dict[str, Any]:
    """Functions that note what they are given. named: the environment's answer; opened: the file, if it can be had."""

    def noted(name: str, result: object) -> Any:
        def called(*given: object) -> object:
            events.append((name, *given))
            return result

        return called

    results: Mapping[str, object] = {"getenv": named, "fopen": opened, "fclose": 0, "fprintf": 1}
    return {**{name: noted(name, result) for name, result in results.items()}, "stderr": "stderr"}


def check_counter(workshop: Workshop, text: str, location: Location) -> None:
    """Raise Fault unless the text counts how often a condition holds and fails, gives it back, and tells both numbers
    when the program ends.
    """
    relaxed = {"__ATOMIC_RELAXED": Value("0", _INT, 0, atomic=True)}
    for form in forms(text):
        made = translated(workshop, form.source, declared, externals=_ATOMIC, variables=relaxed)
        name = next((one for one in made.functions if COUNTER.match(one)), "")
        if set(made.functions) != {name, f"{name}_told"} or set(made.arrays) != {f"{name}_count"}:
            raise Fault("other functions than of a counter")
        if not re.search(rf"__attribute__\(\(destructor\)\) static void {name}_told\(", text):
            raise Fault(f"'{name}_told' isn't called when the program ends")
        counts = [0] * made.arrays[f"{name}_count"]
        told = _Calls()
        outside = {f"_{name}_count": counts, "__atomic_fetch_add": _added, TOLD: told}
        functions = run(made, form.source, outside)
        for holds in (1, 0, 1, 1, 0):
            if functions[name](holds) != holds:
                raise Fault(f"'{name}' changes the condition")
        functions[f"{name}_told"]()
        if told.calls != [(str(location), 3, 2)]:
            raise Fault(f"'{name}_told' tells {told.calls}")


class _Calls(Struct, eq=False):
    """A function that notes what it is given."""

    calls: list[tuple[object, ...]] = field(default_factory=list)

    def __call__(self, *given: object) -> None:
        self.calls.append(given)


def _added(place: tuple[list[int], int], value: int, order: int) -> int:
    memory, offset = place
    if not 0 <= offset < len(memory):
        raise Fault(f"writes element {offset} of {len(memory)}")
    memory[offset] += value
    return memory[offset] - value

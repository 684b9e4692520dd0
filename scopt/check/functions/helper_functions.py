"""Whether small helper functions compute what the loops that call them rely on."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

from scopt import ir
from scopt.astgen.allocation import MALLOC
from scopt.astgen.emit.c_expr import (
    ALL_HELPERS,
    APART,
    AROUND,
    BLEND,
    DISTANCES,
    LANES,
    MASKED,
    PICKS,
    PRODUCTS,
    QUOTIENTS,
    SCALAR,
    SHORT,
    SIZE,
    THREADS as HOW_MANY,
    WIDENED,
    WRAPPED,
    helper_name,
    lane_type,
)
from scopt.astgen.emit.distance_texts import distance_text
from scopt.astgen.emit.helper_texts import BITS, calm_threads, divided, masked_numbers, most_threads, widened
from scopt.check.functions.conversions import Signature
from scopt.check.functions.faults import Fault
from scopt.check.functions.translated_statements import Functions
from scopt.check.functions.values import FLOATING, Element, Opaque, Void, Whole
from scopt.check.functions.workshop import Form, Workshop, declared_signature, forms, run, translated
from scopt.ir.library_names import ALIGNED, MOST_THREADS, THREADS as OPENMP

MEMORY = re.compile(r"scopt_rows_\d+$")
THREADS = re.compile(r"scopt_thread(?:s_\d+_most|_\d+)$")
# The first version of C with memory that is aligned.
_C11 = 201112
# Bytes of a pointer, which memory is aligned to at least.
_POINTER = 8
_MEANT: dict[str, Callable[[int, int], int]] = {
    "scopt_floord": lambda n, d: n // d,
    "scopt_mod": lambda n, d: n % d,
    "scopt_min": min,
    "scopt_max": max,
}
_INT_BITS = 32
_SOME_THREADS = 5
_DIVISIONS = ("scopt_floord", "scopt_mod")
_FAR = (-(2**63), -(2**63) + 1, -(2**32), 2**31, 2**32 + 5, 2**63 - 2, 2**63 - 1)
_NUMBERS = (*range(-19, 20), *_FAR)
_INTS = (*range(-19, 20), 2**31 - 1, -(2**31) + 1, -(2**31))
_SHORTS = (*range(-19, 20), 2**15 - 1, -(2**15))
_DIVISORS = (*range(1, 9), 16, 2**31, 2**63 - 1)
_SIZES = (1, 2, 7, 8, 62, 63, 64, 65, 127, 128, 129, 4096, 10**9 + 1, 2**40 + 1)


def check_helpers(workshop: Workshop, text: str, long_type: str, reserved: frozenset[str]) -> None:
    """Raise Fault unless each function of the text is a helper, by its name among the file's identifiers, and computes
    what it has to.

    Divisors are positive. Any number of threads is right, so that of a function which asks the system's clocks only
    its text matters, which reads nothing of the program's and writes nothing but variables of its own. Likewise what
    takes the bits of one floating-point number where a mask is all bits, and those of another one where it is none, and
    what divides ints by means of floating-point numbers (`divided` says why that is right), what has a variable of its
    own that nothing writes, which is 0 (`widened`), and what adds up absolute differences of bytes (`distance_text`
    does).
    """
    name = helper_name(HOW_MANY, reserved)
    text = text.replace("".join(calm_threads(name)), "".join(most_threads(name)))
    by_mask = "  return mask == 0 ? other : mask == -1 ? one : one + other;\n"
    for ctype in BITS:
        text = text.replace("".join(masked_numbers(ctype)), by_mask)
    for number in (*BITS, "any"):
        text = text.replace("".join(divided(number)), "  const int quotient = other == 0 ? one : one / other;\n")
    for alike in WIDENED:
        text = text.replace("".join(widened(alike)), "  return x;\n")
    for columns, own in DISTANCES.items():
        text = text.replace("".join(distance_text(columns, helper_name(own, reserved), long_type)), "")
    for form in forms(text):
        made = translated(workshop, form.source, declared, externals={})
        threads = _SOME_THREADS if form.configuration.get("_OPENMP") is not None else 1
        if made.declared and (made.declared != {MOST_THREADS: Signature((), Whole("int"))} or threads == 1):
            raise Fault(f"functions that aren't known: {', '.join(sorted(made.declared))}")
        functions = run(made, form.source, dict.fromkeys(made.declared, lambda: _SOME_THREADS))
        names = {helper_name(helper, reserved): helper for helper in ALL_HELPERS}
        for name, tree in made.functions.items():
            helper = names.get(name)
            if helper is None:
                raise Fault(f"'{name}' is no helper")
            signature = _signature(workshop, form, tree)
            if helper == HOW_MANY:
                if signature != Signature((), Whole("int")) or functions[name]() != threads:
                    raise Fault(f"'{name}' doesn't say how many threads there are")
                continue
            _check_helper(name, helper, functions, signature, long_type, workshop)


def _check_helper(
    name: str, helper: str, functions: Mapping[str, Any], signature: Signature, long_type: str, workshop: Workshop
) -> None:
    long = Whole(long_type)
    if helper in _MEANT:
        if signature != Signature((long, long), long):
            raise Fault(f"'{name}' isn't a function of two of the type '{long_type}'")
        for pair in product(_NUMBERS, _DIVISORS if helper in _DIVISIONS else _NUMBERS):
            found, meant = functions[name](*pair), _MEANT[helper](*pair)
            if found != meant:
                raise Fault(f"{name}({pair[0]}, {pair[1]}) is {found}, not {meant}")
    elif helper in (APART, AROUND, SCALAR):
        if signature != Signature((), Void()):
            raise Fault(f"'{name}' takes or gives a value")
    elif helper == SIZE:
        right = signature == Signature((Whole("int"),), long)
        if not right or any(functions[name](one) != abs(one) for one in _INTS):
            raise Fault(f"'{name}' doesn't give an int's magnitude")
    elif helper in (SHORT, *WIDENED.values()):
        right = signature == Signature((Whole("short"),), Whole("short"))
        if not right or any(functions[name](one) != one for one in _SHORTS):
            raise Fault(f"'{name}' gives another value than it is given")
    elif helper in MASKED.values():
        _check_masked(name, helper, functions, signature)
    elif helper in PICKS.values():
        _check_pick(workshop, name, next(key for key, other in PICKS.items() if other == helper), functions, signature)
    elif helper == BLEND:
        _check_blend(name, functions, signature)
    elif helper in WRAPPED.values():
        _check_wrapped(name, next(key for key, other in WRAPPED.items() if other == helper), functions, signature)
    elif helper in QUOTIENTS.values():
        operator = next(key for key, other in QUOTIENTS.items() if other == helper)[0]
        _check_quotient(name, operator, functions, signature)
    elif helper in LANES.values():
        _check_lane(
            workshop,
            name,
            lane_type(next(key for key, other in LANES.items() if other == helper)),
            functions,
            signature,
        )
    else:
        number = Element(next(ctype for ctype, product_name in PRODUCTS.items() if product_name == helper))
        value = workshop.terms.leaf("product")
        if signature != Signature((number,), number) or functions[name](value) != value:
            raise Fault(f"'{name}' gives another value than it is given")


def _check_lane(workshop: Workshop, name: str, ctype: str, functions: Mapping[str, Any], signature: Signature) -> None:
    """What it is given, of this type."""
    value = workshop.terms.leaf("lane")
    number = Element(ctype) if ctype in FLOATING else Whole(ctype)
    if signature != Signature((number,), number) or any(functions[name](one) != one for one in (value, -1, 0, 7)):
        raise Fault(f"'{name}' gives another value than it is given")


def _check_pick(workshop: Workshop, name: str, ctype: str, functions: Mapping[str, Any], signature: Signature) -> None:
    """The second operand, or the last one where the first one is 0."""
    one, other = workshop.terms.leaf("one"), workshop.terms.leaf("other")
    number = Element(ctype) if ctype in FLOATING else Whole(ctype)
    if signature != Signature((Whole("int"), number, number), number):
        raise Fault(f"'{name}' isn't a function of an int and two of the type '{ctype}'")
    for holds in (0, 1, 2, -1):
        if functions[name](holds, one, other) != (one if holds else other):
            raise Fault(f"'{name}' gives another value than the one that is asked for")


def _check_blend(name: str, functions: Mapping[str, Any], signature: Signature) -> None:
    """The same of ints."""
    number = Whole("int")
    if signature != Signature((number, number, number), number):
        raise Fault(f"'{name}' isn't a function of three ints")
    for holds, one, other in product((0, 1, 2, -1), _INTS, _INTS):
        if functions[name](holds, one, other) != (one if holds else other):
            raise Fault(f"'{name}' gives another value than the one that is asked for")


def _check_wrapped(name: str, operator: str, functions: Mapping[str, Any], signature: Signature) -> None:
    """A sum, a difference or a product of two ints; its lowest bits where it is none."""
    if signature != Signature((Whole("int"),) * 2, Whole("int")):
        raise Fault(f"'{name}' isn't a function of two ints")
    compute = {"+": int.__add__, "-": int.__sub__, "*": int.__mul__}[operator]
    for one, other in product(_INTS, _INTS):
        meant = (compute(one, other) - min(_INTS)) % (1 << _INT_BITS) + min(_INTS)
        if functions[name](one, other) != meant:
            raise Fault(f"{name}({one}, {other}) is {functions[name](one, other)}, not {meant}")


def _check_quotient(name: str, operator: str, functions: Mapping[str, Any], signature: Signature) -> None:
    """C's quotient or remainder of two ints, but of the least int by -1; if the divisor is 0, what is divided."""
    if signature != Signature((Whole("int"),) * 2, Whole("int")):
        raise Fault(f"'{name}' isn't a function of two ints")
    for one, other in product(_INTS, _INTS):
        if one != min(_INTS) or other != -1:
            quotient = abs(one) // abs(other or 1) * (1 if (one < 0) == (other < 0) else -1)
            quotient = quotient if other else one
            meant = quotient if operator == "/" else one - quotient * other
            if functions[name](one, other) != meant:
                raise Fault(f"{name}({one}, {other}) is {functions[name](one, other)}, not {meant}")


def _check_masked(name: str, helper: str, functions: Mapping[str, Any], signature: Signature) -> None:
    """An extremum of the first operand and the last one, or the first one where the one between is 0 and not 1, and so
    is the last one (as in the calls that `scopt.check.masks` allows)."""
    operator, width, signed = next(key for key, other in MASKED.items() if other == helper)
    number = Whole(f"{'' if signed else 'unsigned '}{'int' if width == _INT_BITS else 'long long'}")
    if signature != Signature((number,) * 3, number):
        raise Fault(f"'{name}' isn't a function of three of the type '{number.name}'")
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
    numbers = sorted({low, low + 1, -2, -1, 0, 1, 2, 5, 1 << width // 2, high // 2, high - 1, high})
    numbers = [one for one in numbers if low <= one <= high]
    for best, (holds, value) in product(numbers, [(0, 0), *((1, one) for one in numbers)]):
        meant = (max if operator == "max" else min)(best, value) if holds else best
        found = functions[name](best, holds, value)
        if found != meant:
            raise Fault(f"{name}({best}, {holds}, {value}) is {found}, not {meant}")


def check_memory(workshop: Workshop, text: str, taken: frozenset[str]) -> None:
    """Raise Fault unless the text's function finds as much memory as it is asked for, in whole lines where it is
    aligned. taken: names that don't lead to the library's functions.
    """
    size, memory = Whole("unsigned long"), Opaque("void *")
    externals = {MALLOC: Signature((size,), memory)}
    aligned = {} if ALIGNED in taken else {ALIGNED: Signature((size, size), memory)}
    for form in forms(text):
        made = translated(workshop, form.source, declared, externals=externals)
        (name,) = _only(made.functions, MEMORY, 1)
        if _signature(workshop, form, made.functions[name]) != Signature((size,), memory):
            raise Fault(f"'{name}' isn't given a size")
        if made.declared and made.declared != aligned:
            raise Fault(f"functions that aren't known: {', '.join(sorted(made.declared))}")
        asked: list[tuple[int, ...]] = []
        functions = run(made, form.source, dict.fromkeys((*externals, *made.declared), _noted(asked)))
        for bytes_ in _SIZES:
            asked.clear()
            functions[name](bytes_)
            if len(asked) == 1 and _whole(*asked[0], needed=bytes_):
                if (form.configuration.get("__STDC_VERSION__") or 0) < _C11:
                    raise Fault(f"'{name}' asks for aligned memory where there is none (with {form})")
            elif asked != [(bytes_,)]:
                raise Fault(f"'{name}' asks for {asked} where {bytes_} bytes are needed (with {form})")


def _whole(line: int, given: int = 0, *, needed: int) -> bool:
    """Whether memory is aligned as it can be, to a power of two that holds a pointer, and is as much as is needed, to a
    whole multiple of that."""
    return line > 0 and line & (line - 1) == 0 and line % _POINTER == 0 and given == -(-needed // line) * line


def _noted(calls: list[tuple[int, ...]]) -> Callable[..., None]:
    return lambda *given: calls.append(given)


def check_threads(workshop: Workshop, text: str) -> None:
    """Raise Fault unless the text's functions tell how many threads there may be, and a number below that for each, its
    own if it has one.
    """
    for form in forms(text):
        made = translated(workshop, form.source, declared, externals={})
        most, own = sorted(_only(made.functions, THREADS, 2), key=lambda name: not name.endswith("_most"))
        number = Whole("int")
        if _signature(workshop, form, made.functions[most]) != Signature((), number):
            raise Fault(f"'{most}' takes or gives another type")
        if _signature(workshop, form, made.functions[own]) != Signature((number,), number):
            raise Fault(f"'{own}' takes or gives another type")
        parallel = form.configuration.get("_OPENMP") is not None
        if made.declared and (not parallel or made.declared != dict.fromkeys(OPENMP, Signature((), number))):
            raise Fault("functions of OpenMP where there are none")
        for threads, thread in product(range(1, 6), range(8)):
            calls = (
                {"omp_get_max_threads": lambda n=threads: n, "omp_get_thread_num": lambda n=thread: n}
                if parallel
                else {}
            )
            functions = run(made, form.source, calls)
            if functions[most]() != (threads if parallel else 1):
                raise Fault(f"'{most}' is {functions[most]()} where there are {threads} threads (with {form})")
            found, meant = functions[own](threads), thread if thread < threads and parallel else 0
            if found != meant:
                raise Fault(f"'{own}' is {found}, not {meant}, for thread {thread} of {threads} (with {form})")


def declared(functions: Functions, declaration: ir.Decl) -> Signature | None:
    """Functions are given what they say."""
    return None


def _signature(workshop: Workshop, form: Form, tree: ir.FuncDef) -> Signature:
    return declared_signature(Functions(workshop.terms, form.source.vectors, {}, {}, {}, True), tree.decl)


def _only(functions: Mapping[str, ir.FuncDef], names: re.Pattern[str], count: int) -> list[str]:
    """The functions' names. Raises Fault unless there are so many, all of this kind."""
    if len(functions) != count or not all(map(names.match, functions)):
        raise Fault(f"other functions than are known: {', '.join(functions)}")
    return list(functions)

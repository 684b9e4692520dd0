"""The small functions that texts call, as C."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scopt.astgen.emit.c_expr import (
    APART,
    AROUND,
    BLEND,
    DISTANCES,
    HELPERS,
    LANES,
    MASKED,
    PICKS,
    PRODUCTS,
    QUOTIENTS,
    SCALAR,
    SHORT,
    SIZE,
    THREADS,
    WIDENED,
    WRAPPED,
    helper_name,
    lane_type,
)
from scopt.astgen.emit.distance_texts import distance_text

# What names of the functions that update register tiles begin with.
KERNEL = "scopt_tile_"
# Integers of the sizes of floating-point types.
BITS = {"float": "int", "double": "long long"}


def helper_definitions(helpers: Sequence[str], long_type: str, reserved: frozenset[str]) -> str:
    """The definitions of helper functions, one a line, for a place at file scope;
    `reserved` as in the SCoP that was printed."""
    bodies = {
        "scopt_floord": ("n", "d", "n / d - (n % d < 0)"),
        "scopt_mod": ("n", "d", "n % d < 0 ? n % d + d : n % d"),
        "scopt_min": ("a", "b", "a < b ? a : b"),
        "scopt_max": ("a", "b", "a > b ? a : b"),
    }
    lines = []
    for helper in HELPERS:
        if helper in helpers:
            x, y, body = bodies[helper]
            name = helper_name(helper, reserved)
            lines.append(f"static inline {long_type} {name}({long_type} {x}, {long_type} {y}) {{ return {body}; }}\n")
    for helper, clobbered in ((APART, ' ::: "memory"'), (SCALAR, "")):
        if helper in helpers:
            name = helper_name(helper, reserved)
            lines += [
                f"static inline void {name}(void) {{\n",
                "#ifdef __clang__\n",
                f'  __asm__ volatile (""{clobbered});\n',
                "#endif\n",
                "}\n",
            ]
    if AROUND in helpers:
        lines += _around(helper_name(AROUND, reserved))
    if THREADS in helpers:
        lines += _threads(helper_name(THREADS, reserved))
    size, short = (helper_name(one, reserved) for one in (SIZE, SHORT))
    if SIZE in helpers:
        lines.append(f"static inline {long_type} {size}(int x) {{ return x < 0 ? -({long_type})x : x; }}\n")
    if SHORT in helpers:
        lines.append(f"static inline short {short}(short x) {{ volatile short y = x; return y; }}\n")
    for alike, helper in WIDENED.items():
        if helper in helpers:
            lines += [f"static inline short {helper_name(helper, reserved)}(short x)\n{{\n", *widened(alike), "}\n"]
    for ctype, helper in PRODUCTS.items():
        if helper in helpers:
            lines.append(f"static inline {ctype} {helper_name(helper, reserved)}({ctype} x) {{ return x; }}\n")
    for ctype, helper in PICKS.items():
        if helper in helpers:
            lines += _pick(ctype, helper_name(helper, reserved))
    if BLEND in helpers:
        lines += _blend(helper_name(BLEND, reserved))
    lines += [_wrapping(key, helper_name(helper, reserved)) for key, helper in WRAPPED.items() if helper in helpers]
    for (operator, number), helper in QUOTIENTS.items():
        if helper in helpers:
            lines += _quotient(operator, number, helper_name(helper, reserved))
    for key, helper in LANES.items():
        if helper in helpers:
            lines += _lane(lane_type(key), helper_name(helper, reserved))
    lines += [line for key, helper in MASKED.items() if helper in helpers for line in _masking(*key, reserved)]
    lines += _distances(helpers, long_type, reserved)
    return "".join(lines)


def _around(name: str) -> list[str]:
    """A function that does nothing, and keeps gcc from a vector loop around it."""
    return [
        f"static inline void {name}(void) {{\n",
        "#ifdef __GNUC__\n",
        "#ifndef __clang__\n",
        '  __asm__ volatile ("");\n',
        "#endif\n",
        "#endif\n",
        "}\n",
    ]


def _distances(helpers: Sequence[str], long_type: str, reserved: frozenset[str]) -> Iterator[str]:
    for columns, helper in DISTANCES.items():
        if helper in helpers:
            yield from distance_text(columns, helper_name(helper, reserved), long_type)


def _threads(name: str) -> list[str]:
    """A function that says how many threads there may be; SCOPT_THREADS as in `strip_statements.definitions`.

    One where the cores are busy with other programs, which it tells by what this one got: a thread that goes on alone
    whenever others wait has a core's time at least. Loops that fork for microseconds would have each of their threads
    wait for its turn, ten times as long as one thread takes.
    """
    return [
        "#if defined(_OPENMP) || defined(SCOPT_THREADS)\n",
        "int (omp_get_max_threads)(void);\n",
        *calm_threads(name),
        "#else\n",
        f"static inline int {name}(void) {{ return 1; }}\n",
        "#endif\n",
    ]


def calm_threads(name: str) -> list[str]:
    """The function where there are threads, of two kinds. It asks the system's clocks where these are known (Linux, 64
    bits): the first one is the time, the second one what all threads of the process have had of the cores. Windows last
    10 ms; in one of more than half a second, or without a sixteenth of a core, the program has slept."""
    clock = f"{name}_clock"
    return [
        "#if defined(__linux__) && defined(__LP64__)\n",
        "/* all there are; one, where other programs took the cores in the last 10 ms */\n",
        f'int {clock}(int, long *) __asm__("clock_gettime");\n',
        f"static inline int {name}(void)\n",
        "{\n",
        "  static __thread long begun, had, busy;\n",
        "  long now[2], used[2];\n",
        "  const int most = (omp_get_max_threads)();\n",
        f"  if (most < 2 || {clock}(1, now) != 0)\n",
        "    return most;\n",
        "  const long passed = now[0] * 1000000000 + now[1] - begun;\n",
        f"  if (passed > 10000000 && {clock}(2, used) == 0) {{\n",
        "    const long share = used[0] * 1000000000 + used[1] - had;\n",
        "    busy = passed < 500000000 && share < passed - passed / 4 && share > passed / 16;\n",
        "    begun += passed;\n",
        "    had += share;\n",
        "  }\n",
        "  return busy ? 1 : most;\n",
        "}\n",
        "#else\n",
        *most_threads(name),
        "#endif\n",
    ]


def most_threads(name: str) -> list[str]:
    """The function where there are threads, and nothing is known of other programs."""
    return [f"static inline int {name}(void) {{ return (omp_get_max_threads)(); }}\n"]


def _pick(ctype: str, name: str) -> list[str]:
    """A function that gives its second operand, or its last one where the first one is 0. Floating-point numbers by
    masks for gcc: for a choice, it would compute each operand behind a branch, and it makes no vectors of those that
    compute such numbers (these might trap, tree-if-conv.cc). Vectors of narrow cells are faster by choices."""
    signature = f"static inline {ctype} {name}(int holds, {ctype} one, {ctype} other)"
    chosen = "return holds ? one : other;"
    if ctype not in BITS:
        return [f"{signature} {{ {chosen} }}\n"]
    bits = BITS[ctype]
    return [
        f"{signature}\n",
        "{\n",
        "#if defined(__GNUC__) && !defined(__clang__)\n",
        f"  const {bits} mask = -({bits})(holds != 0);\n",
        *masked_numbers(ctype),
        "#else\n",
        f"  {chosen}\n",
        "#endif\n",
        "}\n",
    ]


def _blend(name: str) -> list[str]:
    """The same of ints, by masks for gcc."""
    return [
        f"static inline int {name}(int holds, int one, int other)\n",
        "{\n",
        "#if defined(__GNUC__) && !defined(__clang__)\n",
        "  return (one & -(holds != 0)) | (other & -(holds == 0));\n",
        "#else\n",
        "  return holds ? one : other;\n",
        "#endif\n",
        "}\n",
    ]


def masked_numbers(ctype: str) -> list[str]:
    """One of two floating-point numbers, bit by bit: as an integer of their size. mask: all bits, or none."""
    return [
        f"  union {{ {ctype} value; {BITS[ctype]} bits; }} first = {{one}}, second = {{other}};\n",
        "  first.bits = (first.bits & mask) | (second.bits & ~mask);\n",
        "  return first.value;\n",
    ]


def widened(alike: bool) -> list[str]:
    """What a function returns a short by that gcc doesn't see to be a byte: the variable might be written elsewhere, as
    far as it knows. alike: both factors are signed, or both aren't; for others some processors have an instruction."""
    others = "" if alike else " && !defined(__AVX512VNNI__) && !defined(__AVXVNNI__)"
    return [
        f"#if defined(__GNUC__) && !defined(__clang__) && defined(__SSE2__) && !defined(__AVXVNNIINT8__){others}\n",
        "  static short zero __attribute__((used));\n",
        "  return (short)(x ^ zero);\n",
        "#else\n",
        "  return x;\n",
        "#endif\n",
    ]


def _wrapping(operator: str, name: str) -> str:
    """A function that computes with ints by the numbers of their bits, which wrap around."""
    value = f"(int)((unsigned)one {operator} (unsigned)other)"
    return f"static inline int {name}(int one, int other) {{ return {value}; }}\n"


def _quotient(operator: str, number: str, name: str) -> list[str]:
    """A function that divides ints, for vectors. number: as in `divided`."""
    result = "quotient" if operator == "/" else "one - quotient * other"
    return [
        f"static inline int {name}(int one, int other)\n",
        "{\n",
        "#ifdef __GNUC__\n",
        *divided(number),
        "#else\n",
        f"  {_DIVIDED}\n",
        "#endif\n",
        f"  return {result};\n",
        "}\n",
    ]


_DIVIDED = "const int quotient = other == 0 ? one : one / other;"


def divided(number: str) -> list[str]:
    """A quotient of ints as C has it, cut off to an integer, and what is divided if the divisor is 0, where a type
    has both ints, and halves.

    Of a and b > 0 (signs go the same way), (a + 1/2) / b is 1 / 2b away from the next integers at least. A product with
    a reciprocal is off by a few units in the last place, (a + 1/2) / b times 2^-51 for doubles, even if compilers make
    a quotient of it again: less than that for a < 2^49. For floats, whose reciprocals may be estimates of 22 bits under
    -ffast-math, a is to be at most 2^20.

    number: "any" for doubles where the least int may be divided by -1, which gives some int.
    """
    if number == "float":
        return [
            "  const float more = (float)one + __builtin_copysignf(0.5f, (float)one);\n",
            "  const int quotient = (int)(more * (1.0f / (float)(other + (other == 0))));\n",
        ]
    whole = "more * (1.0 / (double)(other + (other == 0)))"
    more = "  const double more = (double)one + __builtin_copysign(0.5, (double)one);\n"
    if number == "double":
        return [more, f"  const int quotient = (int)({whole});\n"]
    return [
        more,
        f"  const double whole = {whole};\n",
        "  const int quotient = (int)(whole < 2147483648.0 ? whole : 2147483647.0);\n",
    ]


def _lane(ctype: str, name: str) -> list[str]:
    """A function that returns what it is given."""
    return [
        f"static inline {ctype} {name}({ctype} x) {{\n",
        "#if !defined(__clang__) && __GNUC__ >= 12\n",
        "  return __builtin_assoc_barrier(x);\n",
        "#else\n",
        "  return x;\n",
        "#endif\n",
        "}\n",
    ]


def _masking(operator: str, bits: int, signed: bool, reserved: frozenset[str]) -> list[str]:
    """A function that takes an extremum where a condition, 0 or 1, holds, of a value that is 0 where it doesn't. (gcc
    branches for a choice, and so it does where a value goes on as it is, or as 0, which is never larger.)"""
    ctype, suffix = {32: ("int", ""), 64: ("long long", "ll")}[bits]
    largest = f"{2 ** (bits - 1) - 1}{suffix}"
    if signed:
        none = f"({largest if operator == 'min' else f'(-{largest} - 1)'} & (holds - 1))"
    else:
        ctype, none = f"unsigned {ctype}", "(holds - 1)" if operator == "min" else ""
    name = helper_name(MASKED[operator, bits, signed], reserved)
    return [
        f"static inline {ctype} {name}({ctype} best, {ctype} holds, {ctype} value) {{\n",
        f"  value = value | {none};\n" if none else "  value = (value | (holds - 1)) + (1 - holds);\n",
        f"  return value {'>' if operator == 'max' else '<'} best ? value : best;\n",
        "}\n",
    ]

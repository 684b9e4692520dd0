"""C text whose parallel and vector loops tell `race.c` what they do."""

from __future__ import annotations

import re

from tests.mutate.texts import clauses

DECLARATIONS = (
    "void race_begin(int, char *); void race_iteration(void); void race_own(void *, long); void race_end(void);\n"
    "void *memset(void *, int, unsigned long);\n"
)

# Pragmas in two forms, and those of one compiler alone: it is gcc that compiles this.
_FORMS = re.compile(
    r"[ \t]*#if(?:def __clang__| defined\(__clang__\)[^\n]*)\n(?:[ \t]*#pragma[^\n]*\n)+"
    r"(?:[ \t]*#else\n((?:[ \t]*#pragma[^\n]*\n)+))?[ \t]*#endif\n"
)


class Unreadable(Exception):
    """A loop isn't printed as all others are."""


def told(text: str) -> str:
    """The text, its marked loops one iteration after the other, each with private copies that hold nothing of use.
    Raises Unreadable."""
    lines = _FORMS.sub(lambda match: match[1] or "", text).split("\n")
    return DECLARATIONS + "\n".join(_block(lines))


def _block(lines: list[str]) -> list[str]:
    found: list[str] = []
    k = 0
    while k < len(lines):
        if not re.match(r"\s*#pragma omp\b", lines[k]):
            found.append(lines[k])
            k += 1
            continue
        end = _end(lines, k + 1)
        found += _loop(lines[k], lines[k + 1 : end])
        k = end
    return found


def _end(lines: list[str], start: int) -> int:
    """The line behind the loop that starts in a line: all that is indented more, and its closing brace."""
    head = lines[start]
    indent = len(head) - len(head.lstrip())
    if not head.lstrip().startswith("for ("):
        raise Unreadable("a pragma without a loop")
    end = start + 1
    while end < len(lines) and (not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > indent):
        end += 1
    if head.rstrip().endswith("{"):
        if end == len(lines) or lines[end].strip() != "}":
            raise Unreadable("a loop that doesn't end")
        end += 1
    return end


def _loop(pragma: str, lines: list[str]) -> list[str]:
    head = lines[0].rstrip()
    braces = head.endswith("{")
    body = _block(lines[1:-1] if braces else lines[1:])
    private, reduced = list[str](), list[str]()
    for name, start, end in clauses(pragma):
        content = pragma[pragma.index("(", start) + 1 : end - 1]
        if name == "private":
            private += content.split(", ")
        elif name == "reduction":
            reduced += content.partition(":")[2].strip().split(", ")
    own = [
        f"__typeof__({name}) {name}; memset(&{name}, 0x5A, sizeof {name}); race_own(&{name}, sizeof {name});"
        for name in private
    ]
    own += [f"race_own((void *)&{name}, sizeof {name});" for name in reduced]
    parallel = int("parallel" in pragma)
    return [
        f"{{ race_begin({parallel}, __builtin_frame_address(0));",
        f"{head.removesuffix('{')} {{ race_iteration(); {' '.join(own)}",
        *body,
        "}",
        "race_end(); }",
    ]

"""Rewrites GNU C into what pycparser reads, line for line, and columns where it can.

What is only advice to the compiler is blanked; what has a meaning that can't be said in C becomes a call of `OPAQUE`
whose argument lists the words inside, so that whoever reads the tree knows which variables may be read and written
there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from scopt.ir.effects import OPAQUE

OPAQUE_TYPE = "__scopt_opaque_type"
# What stands for types that only the compiler tells, from an expression or a value.
UNKNOWN_TYPES = frozenset({OPAQUE_TYPE, "__auto_type"})
# Types of the compiler itself: by another name where C has one of the same format. What is rounded in another way, and
# has no name of C's, is opaque: a variable of a wider or a narrower type can't stand for it.
PREAMBLE = (
    f"typedef struct {OPAQUE_TYPE} {OPAQUE_TYPE};"
    f" typedef {OPAQUE_TYPE} __builtin_va_list, __builtin_ms_va_list, __auto_type;"
    " typedef float _Float32; typedef double _Float64, _Float32x; typedef long double _Float64x, __float80;"
    f" typedef {OPAQUE_TYPE} _Float16, __fp16, __bf16, _Float128, __float128, __ibm128;"
    f" typedef {OPAQUE_TYPE} _Decimal32, _Decimal64, _Decimal128;"
    " typedef __int128 __int128_t; typedef unsigned __int128 __uint128_t;"
)
_RENAMED = {
    "__restrict": "restrict",
    "__restrict__": "restrict",
    "__inline": "inline",
    "__inline__": "inline",
    "__const": "const",
    "__const__": "const",
    "__volatile__": "volatile",
    "__volatile": "volatile",
    "__signed__": "signed",
    "__signed": "signed",
    "__complex__": "_Complex",
    "__complex": "_Complex",
    "__thread": "_Thread_local",
    "__alignof__": "_Alignof",
    "__alignof": "_Alignof",
    "__builtin_offsetof": "offsetof",
    "thread_local": "_Thread_local",
}
# pycparser takes _Complex only beside keywords.
_COMPLEX_PARTS = {
    "_Float16": OPAQUE_TYPE,
    "_Float32": "float",
    "_Float64": "double",
    "_Float32x": "double",
    "_Float64x": "long double",
    "_Float128": OPAQUE_TYPE,
    "__float128": OPAQUE_TYPE,
    "__float80": "long double",
}
_COMPLEX = re.compile(r"\s*(?:_Complex|__complex__|__complex)\b")
_COMPLEX_BEFORE = re.compile(r"_Complex(?=\s*\Z)")
_ATTRIBUTES = frozenset({"__attribute__", "__attribute", "__declspec"})
_ASM = frozenset({"__asm__", "__asm", "asm"})
_TYPEOF = frozenset({"__typeof__", "__typeof", "typeof", "__typeof_unqual__", "typeof_unqual"})
_TYPE_ARGUMENTS = frozenset({"__builtin_types_compatible_p", "__builtin_convertvector", "__builtin_tgmath"})
_ASSERT = frozenset({"_Static_assert", "static_assert"})
_WORDS = (
    frozenset(_RENAMED)
    | _ATTRIBUTES
    | _ASM
    | _TYPEOF
    | _TYPE_ARGUMENTS
    | _ASSERT
    | frozenset(_COMPLEX_PARTS)
    | {"__extension__", "__label__"}
)
_STRING = r'"(?:\\[\s\S]|[^"\\\n])*"|\'(?:\\[\s\S]|[^\'\\\n])*\''
_INTERESTING = re.compile(
    rf"(?P<string>{_STRING})|(?P<pragma>^[ \t]*#[^\n]*)"
    rf"|(?P<word>\b(?:{'|'.join(sorted(_WORDS, key=len, reverse=True))})\b)"
    r"|(?P<block>\((?=\s*\{))|(?P<c23>\[\s*\[)",
    re.MULTILINE,
)
_CHECK = re.compile(r"\(\s*\{\s*if\s*")
_OTHERWISE = re.compile(r"\s*;\s*else\s+(?!(?:if|for|while|switch|return)\b)(?=\w+\s*\()")
_CHECKED = re.compile(r"\s*;\s*\}\s*\)")
_BALANCE = re.compile(rf"{_STRING}|[()\[\]{{}}]")
_WORD = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)
# With these a declaration means something else than without: it is better not understood.
_MEANINGFUL = re.compile(r"\b_*(?:cleanup|alias|ifunc)_*\b")
_OPAQUE_TYPES = re.compile(r"\b_*(?:vector_size|mode|ext_vector_type|neon_vector_type)_*\b")
_PURITY = re.compile(r"\b_*(const|pure)_*\b")
_MAY_ALIAS = re.compile(r"\b_*may_alias_*\b|no-strict-aliasing")


class Cleaned(Struct, frozen=True):
    """Cleaned text. purity: ``const`` or ``pure`` if an attribute says so. opaque: an attribute makes it a type that C
    has no words for. may_alias: objects of another type may be read and written by what it declares."""

    text: str
    purity: str = ""
    opaque: bool = False
    may_alias: bool = False


def clean(text: str) -> Cleaned:
    """Rewrite one external declaration (or any other text); lines stay lines."""
    if not _INTERESTING.search(text):
        return Cleaned(text)
    return _Cleaner(text).run()


class _Cleaner:
    """One pass over a text: `out` holds what is done, `position` is where the rest begins."""

    def __init__(self, text: str) -> None:
        self.text, self.out, self.position, self.depth = text, [""], 0, 0
        self.purity, self.opaque, self.may_alias = "", False, False

    def run(self) -> Cleaned:
        while (match := _INTERESTING.search(self.text, self.position)) is not None:
            self.copy(match.start())
            kind, value = match.lastgroup, match.group()
            if kind in ("string", "pragma"):
                self.may_alias = self.may_alias or (kind == "pragma" and bool(_MAY_ALIAS.search(value)))
                self.copy(match.end())
            elif kind == "block":
                self.block(match.start(), closing(self.text, match.start()))
            elif kind == "c23":
                self.advice(match.start(), closing(self.text, match.start()))
            else:
                self.word(value, match.end())
        self.copy(len(self.text))
        return Cleaned("".join(self.out), self.purity, self.opaque, self.may_alias and not self.opaque)

    def word(self, word: str, end: int) -> None:
        if word in _RENAMED:
            if word == "thread_local" and not re.match(
                r"\s*(?:static|extern|const|volatile|[A-Za-z_])", self.text[end:]
            ):
                self.copy(end)
                return
            self.position = end
            self.out.append(_RENAMED[word].ljust(len(word)))
        elif word in _COMPLEX_PARTS:
            self.part(_COMPLEX_PARTS[word], end)
        elif word == "__extension__":
            self.blank(end)
        elif word == "__label__":
            self.blank(self.find(";", end))
        elif word in _ATTRIBUTES:
            self.attribute(end)
        elif word in _ASM:
            self.asm(word, end)
        elif (after := arguments(self.text, end)) is None:
            self.copy(end)
        elif word in _TYPEOF:
            self.replace(OPAQUE_TYPE, after)
        elif word in _ASSERT:
            self.blank(after)
        else:
            self.replace_opaque(self.position, after)

    def block(self, start: int, end: int) -> None:
        """``({ if (a) ; else fail(); })``, as assertions are, in words of C's own; others are opaque."""
        plain = _plain_check(re.sub(r"\s*\n\s*", " ", self.text[start:end]))
        if plain is None:
            self.replace_opaque(start, end)
        else:
            self.replace(clean(plain).text, end)

    def attribute(self, end: int) -> None:
        after = arguments(self.text, end)
        if after is None:
            self.copy(end)
            return
        purity = _PURITY.search(self.text[end:after])
        if purity is not None and self.text.count("{", 0, end) == 0 and not self.inside_parentheses(end):
            self.purity = "const" if "const" in (self.purity, purity.group(1)) else "pure"
        self.advice(end, after)

    def advice(self, start: int, after: int) -> None:
        """Blank attributes that mean nothing to the reader of a tree, or only what is noted here."""
        content = self.text[start:after]
        if _MEANINGFUL.search(content):
            self.copy(after)
            return
        self.opaque = self.opaque or bool(_OPAQUE_TYPES.search(content))
        self.may_alias = self.may_alias or bool(_MAY_ALIAS.search(content))
        self.blank(after)

    def part(self, part: str, end: int) -> None:
        """A type of the compiler's, also where numbers of that type are the parts of complex ones."""
        if part != OPAQUE_TYPE:
            if "omplex" in self.text:
                self.replace(part, end)
            self.copy(end)
            return
        behind = _COMPLEX.match(self.text, end)
        before = "".join(self.out)
        blanked = _COMPLEX_BEFORE.sub(" " * len("_Complex"), before)
        if behind is None and blanked == before:
            self.copy(end)
            return
        self.out = [blanked]
        self.replace(part, behind.end() if behind is not None else end)

    def inside_parentheses(self, end: int) -> bool:
        before = re.sub(_STRING, "", self.text[:end])
        return before.count("(") > before.count(")")

    def asm(self, word: str, end: int) -> None:
        """A label of a function's declaration is blanked; a statement becomes opaque;
        other uses stay and don't parse."""
        qualifiers = re.compile(
            r"(?:\s*\b(?:__volatile__|__volatile|volatile|__inline__|__inline|inline|goto)\b)*"
        ).match(self.text, end)
        assert qualifiers is not None
        after = arguments(self.text, qualifiers.end())
        if after is None:
            self.copy(end)
            return
        before = re.sub(r"^[ \t]*#.*", ";", "".join(self.out), flags=re.MULTILINE).rstrip()
        in_body = before.count("{") > before.count("}")
        if not in_body and (not before.strip() or before.endswith(")")):
            self.blank(after)
        elif before.endswith((";", "{", "}", ")", ":")) or re.search(r"\b(?:else|do)\Z", before):
            control = "goto " if "goto" in qualifiers.group() else ""
            self.replace_opaque(self.position, after, control)
        else:
            self.copy(end)

    # --- output -------------------------------------------------------------------------------------------------------

    def copy(self, end: int) -> None:
        self.out.append(self.text[self.position : end])
        self.position = end

    def blank(self, end: int) -> None:
        self.out.append(re.sub(r"[^\n]", " ", self.text[self.position : end]))
        self.position = end

    def replace(self, replacement: str, end: int) -> None:
        """Put a replacement for the text up to `end`, keeping its length if it can, its newlines always."""
        old = self.text[self.position : end]
        newlines = old.count("\n")
        self.out.append(replacement + "\n" * newlines if newlines else replacement.ljust(len(old)))
        self.position = end

    def replace_opaque(self, start: int, end: int, extra: str = "") -> None:
        content = re.sub(_STRING, " ", self.text[start:end])
        words = dict.fromkeys(_operands(content))
        self.replace(f'{OPAQUE}("{extra}{" ".join(words)}")', end)

    def find(self, character: str, start: int) -> int:
        position = self.text.find(character, start)
        return position if position >= 0 else len(self.text)


def _plain_check(text: str) -> str | None:
    """A check of the form of glibc's assertions as a choice; None if it is another block."""
    head = _CHECK.match(text)
    end = arguments(text, head.end()) if head is not None else None
    otherwise = _OTHERWISE.match(text, end) if end is not None else None
    if head is None or otherwise is None:
        return None
    called = arguments(text, text.index("(", otherwise.end()))
    if called is None or _CHECKED.fullmatch(text, called) is None:
        return None
    return f"({text[head.end() : end]} ? (void) 0 : {text[otherwise.end() : called]})"


def _operands(content: str) -> Iterator[str]:
    for match in _WORD.finditer(content):
        before = content[: match.start()].rstrip(" \t\n(")
        takes_address = before.endswith("&") and not before.endswith("&&") and not re.search(r"[\w)\]]\s*&\Z", before)
        yield f"&{match.group()}" if takes_address else match.group()


def arguments(text: str, position: int) -> int | None:
    """End of the parenthesized group that follows `position`, None if none does."""
    start = re.compile(r"\s*").match(text, position)
    assert start is not None
    return closing(text, start.end()) if text[start.end() : start.end() + 1] == "(" else None


def closing(text: str, start: int) -> int:
    """Offset just past the bracket that closes the one at `start`; the text's end if none does."""
    depth = 0
    for match in _BALANCE.finditer(text, start):
        character = match.group()
        depth += (character in "([{") - (character in ")]}")
        if depth == 0:
            return match.end()
    return len(text)

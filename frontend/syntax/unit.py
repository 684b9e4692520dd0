"""The data dictionary of the front end: a parsed file, and its regions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec import Struct, field

from scopt import ir
from scopt.diagnostics import Location, Remark
from scopt.frontend.syntax.openmp_loops import Openmp
from scopt.frontend.text.directives import Directive, Directives
from scopt.frontend.text.macros import Macro
from scopt.frontend.text.preprocessed import Preprocessed
from scopt.ir.ctypes import Symbol

T = TypeVar("T")


class Region(Struct, frozen=True, eq=False):
    """A stretch of one compound statement.

    items: its statements and declarations, in order, pragmas of OpenMP and the like among them. parent: the compound;
      the items are ``parent.block_items[first:stop]``.
    start, end: bytes of the source that are replaced when the region is. Of a marked region these are the lines between
      the pragmas.
    whole_lines: the bytes are whole lines. indent: white space before the first statement. newline: the line ends used
      here.
    leading, trailing: comments and blank lines before the first and after the last token, part of [start, end).
    marked: by pragmas. directives: the region has preprocessor directives besides pragmas, or text of other files.
    symbolic: integer macros that are identifiers in the tree, baked: those that were expanded, both with their values.
      types: the spelled types of identifiers that are no `int`.
    bare: it is the whole body of another statement, without braces: what stands in its place has to be one statement.
    pragmas: what the ``#pragma scopt`` before it and inside it ask for (they are not counted among `directives`).
    part: found in a marked region that can't be taken as a whole. promised: names that the marked region says lead to
      memory of their own, which they do throughout it. threads: it has a loop that the program's own
      pragmas run in threads. version: it has a number in the place of a variable. beside: names by which one thread
      reaches memory between two runs of it; None if that isn't known. exchanging: loops whose iterations exchange
      pointers may be taken as a whole. staged: it is no SCoP, but one loop over a few
      constant stages, or one whose sums can be lanes.
    """

    function: ir.FuncDef
    items: tuple[Any, ...]
    parent: ir.Compound
    first: int
    stop: int
    start: int
    end: int
    location: Location
    marked: bool
    indent: str = ""
    newline: str = "\n"
    leading: bytes = b""
    trailing: bytes = b""
    whole_lines: bool = True
    directives: bool = False
    symbolic: Mapping[str, int] = field(default_factory=dict)
    baked: Mapping[str, int] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    pragmas: Directives = field(default_factory=Directives)
    bare: bool = False
    part: bool = False
    promised: frozenset[str] = frozenset()
    threads: bool = False
    version: bool = False
    beside: frozenset[str] | None = None
    exchanging: bool = True
    staged: bool = False

    def lies_in(self, other: Region) -> bool:
        """Whether it begins in another region of the file."""
        return other.start <= self.start < other.end


class TranslationUnit(Struct, frozen=True, eq=False):
    """A parsed file.

    ast: the user's file and the declarations of headers that it needs; coordinates are those of the files.
    regions: the marked regions. pure_functions: name → ``const`` or ``pure`` by attribute. functions: those with a body
      that can be looked into. defined_functions: names of all with a body. user_functions: definitions of the user's
      file, in order.
    reserved: every identifier and macro name of the translation unit, and C's keywords. typedefs: names of types at
      file scope.
    target: the base types. long_type, long_suffix: an integer type of 64 bits and the suffix of its literals.
    remarks: on pragmas and functions that could not be used. directives: the file's ``#pragma scopt``, wherever they
      stand.
    bare: each compound that the source has no braces for (see `blocks_around_loops`). cold_functions: that are
      said to run rarely.
    structs: definitions of structures and unions by ``struct tag``.
    strict_aliasing: objects of different types don't overlap, which ``-fno-strict-aliasing`` denies, and any
      declaration that says ``may_alias``. wrapping: signed arithmetic wraps around, as ``-fwrapv`` says.
    replaceable: functions with a body that others may be put in the place of when a program is linked or loaded.
    openmp: the pragmas of OpenMP above loops, which the tree hasn't got any more, and what stays below others.
    library_functions: those of `defined_functions` whose bodies stand in headers of the system. complete: all else that
    the file has is in the tree.
    known: what `worked_out` keeps, which takes a while and isn't always needed.
    """

    source: bytes
    file: str
    ast: ir.FileAST
    regions: tuple[Region, ...]
    pure_functions: Mapping[str, str]
    functions: Mapping[str, ir.FuncDef]
    defined_functions: frozenset[str]
    user_functions: tuple[ir.FuncDef, ...]
    reserved: frozenset[str]
    typedefs: frozenset[str]
    macros: Mapping[str, Macro]
    target: Mapping[str, Symbol]
    long_type: str
    long_suffix: str
    remarks: tuple[Remark, ...]
    preprocessed: Preprocessed
    directives: tuple[Directive, ...] = ()
    bare: frozenset[ir.Node] = frozenset()
    cold_functions: frozenset[str] = frozenset()
    structs: Mapping[str, Any] = field(default_factory=dict)
    strict_aliasing: bool = True
    wrapping: bool = False
    replaceable: frozenset[str] = frozenset()
    openmp: Openmp = field(default_factory=Openmp)
    library_functions: frozenset[str] = frozenset()
    complete: bool = True
    known: dict[tuple[str, object], Any] = field(default_factory=dict)

    def worked_out(self, what: str, work: Callable[[], T], about: object = None) -> T:
        """What some work on the file finds, by its name and what it is about: done when it is first asked for."""
        if (what, about) not in self.known:
            self.known[what, about] = work()
        found: T = self.known[what, about]
        return found

"""From the bytes of a C file to a `TranslationUnit`: tree, regions, and what else is known of the file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from scopt import ir
from scopt.diagnostics import Location
from scopt.frontend.region.placement import misplaced, with_directives
from scopt.frontend.region.regions import marked_regions
from scopt.frontend.region.short_loops import with_short_loops
from scopt.frontend.syntax.direct_references import with_direct_references
from scopt.frontend.syntax.file_parser import FileParser
from scopt.frontend.syntax.openmp_loops import without_taken
from scopt.frontend.syntax.passing_statics import with_passing_statics
from scopt.frontend.syntax.purity import VALUE_FUNCTIONS, computing_functions
from scopt.frontend.syntax.replaceable import replaceable_functions
from scopt.frontend.syntax.scoping import blocks_around_loops
from scopt.frontend.syntax.structs import definitions_of
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.frontend.text.directives import Directive, read_directive
from scopt.frontend.text.preprocess import preprocess
from scopt.frontend.text.preprocessed import Preprocessed, ScoptPragma
from scopt.frontend.text.tokens import pragma_token
from scopt.ir.ctypes import target_of
from scopt.options import SCHEDULERS, Options

# C's keywords, and `main`: names that nothing of our own may have.
_C_WORDS = frozenset(
    """
    auto break case char const continue default do double else enum extern float for goto if inline int
    long register restrict return short signed sizeof static struct switch typedef union unsigned void
    volatile while _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary _Noreturn _Static_assert
    _Thread_local asm typeof bool true false nullptr alignas alignof constexpr static_assert
    thread_local typeof_unqual main
    """.split()
)


def parse(
    source: bytes,
    file: str,
    options: Options,
    *,
    symbolic: bool = True,
    unmarked: Sequence[tuple[int, int]] = (),
) -> TranslationUnit:
    """Preprocess and parse a file.

    symbolic: integer macros stay identifiers inside marked regions and the unmarked ones of these bytes, see
      `preprocess`.
    Raises InputError, with the compiler's message, if the file is not C, and where a ``#pragma scopt`` can't be
      understood.
    """
    result = preprocess(source, file, options, symbolic=symbolic, unmarked=unmarked)
    directives = _directives(result)
    unit = FileParser(result, source, options)
    ast, openmp = without_taken(with_direct_references(unit.parse()), file, result.raw, result.all_macros.keys())
    ast, bare = blocks_around_loops(ast, file) if options.autodetect else (ast, frozenset())
    replaceable, const = replaceable_functions(ast, result), _const_functions(ast, unit)
    ast = with_passing_statics(ast, {*const, *(computing := computing_functions(ast, const, replaceable))})
    in_file = _functions_of(ast, file)
    regions, remarks = marked_regions(result, file, in_file, unit.unparsed_lines)
    regions = tuple(_placed(region, directives, file) for region in regions)
    if not options.autodetect:
        remarks = (*remarks, *misplaced(_parsed(directives, unit), regions))
    target = target_of(result.macros)
    long_type = "long" if target["long"].size == 8 else "long long"
    functions = {n.decl.name: n for n in ast.ext if isinstance(n, ir.FuncDef)}
    return TranslationUnit(
        source=source,
        file=file,
        ast=ast,
        regions=regions,
        pure_functions={**dict.fromkeys(computing, "const"), **unit.pure},
        functions=functions,
        defined_functions=frozenset(functions) | unit.defined,
        user_functions=in_file,
        reserved=frozenset(re.findall(r"[A-Za-z_$][\w$]*", result.text + "\n" + result.raw.text, re.ASCII))
        | result.all_macros.keys()
        | _C_WORDS,
        typedefs=frozenset(n.name for n in ast.ext if isinstance(n, ir.Typedef)),
        macros=result.macros,
        target=target,
        long_type=long_type,
        long_suffix="L" if long_type == "long" else "LL",
        remarks=(*unit.remarks, *remarks, *(openmp.remarks if options.autodetect else ())),
        preprocessed=result,
        directives=directives,
        structs=definitions_of(ast),
        strict_aliasing="-fno-strict-aliasing" not in options.cpp_flags and not unit.may_alias,
        wrapping=not {"-fwrapv", "-fno-strict-overflow"}.isdisjoint(options.cpp_flags),
        replaceable=replaceable,
        bare=bare,
        openmp=openmp,
        cold_functions=unit.cold,
        library_functions=unit.defined,
        complete=not unit.failed,
    )


def _parsed(directives: Sequence[Directive], unit: FileParser) -> Iterator[Directive]:
    """Those in text that was parsed."""
    return (one for one in directives if not any(one.line in lines for lines in unit.unparsed_lines))


def _functions_of(ast: ir.FileAST, file: str) -> tuple[ir.FuncDef, ...]:
    return tuple(n for n in ast.ext if isinstance(n, ir.FuncDef) and n.coord is not None and n.coord.file == file)


def _const_functions(ast: ir.FileAST, unit: FileParser) -> frozenset[str]:
    """Functions of no body in the file that only compute a value from values."""
    defined = {n.decl.name for n in ast.ext if isinstance(n, ir.FuncDef)} | unit.defined
    return (VALUE_FUNCTIONS - defined) | {name for name, purity in unit.pure.items() if purity == "const"}


def _placed(region: Region, directives: Sequence[Directive], file: str) -> Region:
    """A marked region with its directives; loops that these name stay those of the file."""
    placed = with_directives(region, directives, file)
    return placed if placed.pragmas.used else with_directives(with_short_loops(region), directives, file)


def _directives(result: Preprocessed) -> tuple[Directive, ...]:
    """The ``#pragma scopt`` of the user's file. Raises InputError."""
    raw = result.raw

    def directive(pragma: ScoptPragma) -> Directive:
        token = pragma_token(raw, "scopt", pragma.line)

        def place(offset: int) -> Location:
            if token is None:  # written with _Pragma
                return Location(result.file, pragma.line)
            return Location(result.file, raw.line(token.start + offset), raw.column(token.start + offset))

        text = token.text if token is not None else pragma.text
        return read_directive(text, pragma.line, place, pragma.macros, SCHEDULERS, pragma.text)

    return tuple(directive(pragma) for pragma in result.directives)

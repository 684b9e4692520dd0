"""The command line of a C compiler: which words are flags, values and inputs, and what each of them is about.

After the manuals of GCC ("Option Summary", "Overall Options") and Clang ("Clang command line argument reference"). What
isn't known is taken for a flag without a separate value and passed on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _prefixes(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Flags whose value may follow as a word of its own, and may also be joined to the name where `_JOINED` has them.
_PREPROCESSOR_VALUES = _words("""
    -D -U -I -A -include -imacros -iquote -isystem -idirafter -iprefix -iwithprefix -iwithprefixbefore -imultilib
    -imultiarch -include-pch -cxx-isystem -isystem-after -iframework -iframeworkwithsysroot -iwithsysroot
    -ivfsoverlay -Xpreprocessor
""")
_DEPENDENCY_VALUES = _words("-MF -MT -MQ")
_OTHER_VALUES = _words("""
    -o -x -L -l -B -F -T -e -u -z -G -J -isysroot --sysroot --param -arch -target -gcc-toolchain -wrapper -specs
    --specs -aux-info -dumpbase -dumpbase-ext -dumpdir -Xlinker -Xassembler -Xclang -Xanalyzer -Xopenmp-target
    -Xarch_host -Xarch_device -Xthinlto -mllvm -MJ -serialize-diagnostics --serialize-diagnostics -working-directory
    --config -rpath -Ttext -Tdata -Tbss -framework -weak_framework -install_name -current_version
    -compatibility_version -bundle_loader -undefined -exported_symbols_list -unexported_symbols_list -force_load
    -filelist -lazy_framework -lazy_library -reexport_framework -umbrella -allowable_client -client_name -dylib_file
    -dylinker_install_name -image_base -init -keep_private_externs -multi_module -seg1addr -sub_library
    -sub_umbrella -read_only_relocs
""")
_TAKES_VALUE = _PREPROCESSOR_VALUES | _DEPENDENCY_VALUES | _OTHER_VALUES
# Longer names first: -include also starts with -i… and -I.
_JOINED = _prefixes("""
    -iwithprefixbefore -iwithprefix -idirafter -imultilib -imacros -include -isysroot -isystem -iprefix -iquote -MF
    -MT -MQ -D -U -I -A -o -x -L -l -B -F -T -e -u -z -J
""")
# Begin like a flag with a joined value, but are others.
_NOT_JOINED = _prefixes("""
    -ansi -arch -aux-info -emit- -undef -export -unexported -undefined -umbrella -Bstatic -Bdynamic
""")

# Suffixes of what is compiled, C apart.
_OTHER_SOURCES = _words("""
    i h s S sx ii m mi mm M mii cc cp cxx cpp CPP c++ C hh H hp hxx hpp HPP h++ tcc go d di dd ads adb cu hip cl bc
    ll f for ftn F FOR fpp FPP FTN f90 f95 f03 f08 F90 F95 F03 F08
""")
_LINKER_INPUTS = _words("o a so lo obj la dylib lib ld")

# With one of these nothing is compiled, or the user wants to see or measure their own text:
# the command goes straight through.
_STRAIGHT = _words("""
    -E -M -MM -fsyntax-only -### -v --version -V --help --target-help -dumpversion -dumpfullversion -dumpmachine
    -dumpspecs --analyze -analyze -coverage --coverage -fprofile-arcs -ftest-coverage -fcoverage-mapping
    -fpreprocessed -fdirectives-only -traditional -traditional-cpp -save-temps=obj -MJ -aux-info -print-search-dirs
    -emit-ast -emit-pch -include-pch -ftime-trace -frewrite-includes -arch -filelist
""")
_STRAIGHT_PREFIXES = _prefixes("""
    -print- --print- --help= -fdump-preprocessor --assemble --compile --preprocess --output --include --define-macro
    --undefine-macro --language --dependencies --user-dependencies --write- --no-integrated-cpp -no-integrated-cpp
    -aux-info --imacros --assert --comments --no-line-commands --trace-includes --save-temps --entry --for-linker
    --prefix
""")
# What only a linker looks at.
_LINKER_NAMES = _words("-l -L -T -u -e -z -Xlinker -shared -static -static-pie -pie -no-pie -rdynamic -s")
_LINKER_PREFIXES = _prefixes("-Wl, -static-lib -shared-lib -fuse-ld= -nostdlib -nodefaultlibs -nostartfiles -rpath")

# Of no use where only the preprocessor runs, or harmful: it must not write anything.
_LATER_STAGES = _words("-pipe -l -L -T -u -e -z -Xlinker -Xassembler -dumpbase -dumpbase-ext -dumpdir")
_LATER_STAGES_PREFIXES = _prefixes("-save-temps -Wa, -Wl, -fdump -fopt-info -fstack-usage -fcallgraph-info")

Kind = Literal["flag", "preprocessor", "dependencies", "warning", "mode", "output", "language", "input"]
Mode = Literal["object", "assembly", "link"]


class Argument(NamedTuple):
    """One flag or input. words: as given, one or two. name: of the flag, without its value. value: of the flag; of an
    input, its path.

    language: of an input: ``c``, ``other`` for what else is compiled, empty for what the linker takes.
    """

    words: tuple[str, ...]
    kind: Kind
    name: str
    value: str = ""
    language: str = ""

    @property
    def for_linker(self) -> bool:
        """Whether only the linker looks at it."""
        if self.kind == "input":
            return not self.language
        return self.name in _LINKER_NAMES or self.words[0].startswith(_LINKER_PREFIXES)


class Command(NamedTuple):
    """A compiler's arguments in their order, response files expanded. `straight`: nothing in it is to be optimized,
    whatever its inputs are."""

    arguments: tuple[Argument, ...]
    straight: bool

    @property
    def inputs(self) -> tuple[Argument, ...]:
        return tuple(a for a in self.arguments if a.kind == "input")

    @property
    def sources(self) -> tuple[Argument, ...]:
        """The inputs that are compiled, of any language."""
        return tuple(a for a in self.inputs if a.language)

    @property
    def output(self) -> str:
        """The value of -o, empty if there is none."""
        return next((a.value for a in reversed(self.arguments) if a.kind == "output"), "")

    @property
    def mode(self) -> Mode:
        given = {a.name for a in self.arguments if a.kind == "mode"}
        return "assembly" if "-S" in given else "object" if "-c" in given else "link"

    @property
    def flags(self) -> tuple[str, ...]:
        """All words that begin flags or are joined to them: to look for flags without values."""
        return tuple(a.words[0] for a in self.arguments if a.kind != "input")

    def has(self, *flags: str) -> bool:
        return any(flag in flags for flag in self.flags)

    def last(self, *flags: str) -> str:
        """Which of these flags is given last, empty if none is."""
        return next((flag for flag in reversed(self.flags) if flag in flags), "")

    def words(self, *kinds: Kind) -> list[str]:
        """The words of all arguments of some kinds, of all kinds if none is named."""
        return [word for a in self.arguments if a.kind in kinds or not kinds for word in a.words]

    def for_preprocessor(self, *, debugging: bool = False) -> tuple[tuple[str, ...], ...]:
        """The flags, each with its value, for a run of the preprocessor alone: paths, macros, and whatever else may
        change predefined macros.

        debugging: also those of -g, which add the working directory and definitions of macros.
        """
        taken = [
            a
            for a in self.arguments
            if a.kind == "preprocessor" or (a.kind == "flag" and not _is_for_later_stages(a, debugging))
        ]
        return tuple(words for a in taken if (words := _without_dependencies(a.words)))


def _is_for_later_stages(argument: Argument, debugging: bool) -> bool:
    word = argument.words[0]
    if word.startswith("-g") and word != "-gcc-toolchain":
        return not debugging
    return argument.name in _LATER_STAGES or word.startswith(_LATER_STAGES_PREFIXES)


def _without_dependencies(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words without the dependency flags in ``-Wp,…``; those take a file that is not to be written by the way."""
    if not words[0].startswith("-Wp,"):
        return words
    kept: list[str] = []
    parts = iter(words[0].split(",")[1:])
    for part in parts:
        if part in ("-MD", "-MMD", "-MF", "-MT", "-MQ"):
            next(parts, None)
        elif not part.startswith("-M"):
            kept.append(part)
    return ("-Wp," + ",".join(kept),) if kept else ()


def read_command(words: Iterable[str]) -> Command:
    """The arguments of a compiler, its name left out. Response files (``@file``) are read; one that can't be is an
    input, as for the compiler."""
    arguments: list[Argument] = []
    straight = False
    language = ""
    rest = iter(tuple(expanded(words)))
    for word in rest:
        if word == "-" or not word.startswith("-"):
            arguments.append(Argument((word,), "input", "", word, language or _language_of(word)))
            continue
        name, value, given = _flag(word, rest)
        straight = (
            straight
            or name in _STRAIGHT
            or word.startswith(_STRAIGHT_PREFIXES)
            or (name == "-Xpreprocessor" and value.startswith("-M"))
        )
        if name == "-x":
            language = "" if value == "none" else value
            straight = straight or language not in ("", "c")
        arguments.append(Argument(given, _kind(word, name), name, value))
    return Command(tuple(arguments), straight)


def _flag(word: str, rest: Iterator[str]) -> tuple[str, str, tuple[str, ...]]:
    """A flag's name, its value, and its words, of which the second is taken from the rest."""
    if word in _TAKES_VALUE:
        value = next(rest, None)
        return (word, "", (word,)) if value is None else (word, value, (word, value))
    if not word.startswith(_NOT_JOINED):
        for name in _JOINED:
            if word.startswith(name):
                return name, word[len(name) :], (word,)
    return word, "", (word,)


def _kind(word: str, name: str) -> Kind:
    if (
        name in _PREPROCESSOR_VALUES
        or word.startswith("-Wp,")
        or name in ("-undef", "-nostdinc", "-C", "-CC", "-P", "-H")
    ):
        return "preprocessor"
    if name in _DEPENDENCY_VALUES or name in ("-MD", "-MMD", "-MP", "-MG", "-MV"):
        return "dependencies"
    if (
        (word.startswith("-W") and not word.startswith(("-Wa,", "-Wl,")))
        or word.startswith("-pedantic")
        or word == "-w"
    ):
        return "warning"
    if name in ("-c", "-S"):
        return "mode"
    return "output" if name == "-o" else "language" if name == "-x" else "flag"


def _language_of(path: str) -> str:
    suffix = _suffix(path)
    return "c" if suffix == "c" else "other" if suffix in _OTHER_SOURCES else ""


def _suffix(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[2] if "." in name else ""


def is_input(word: str) -> bool:
    """Whether a word names a file for a compiler, by its suffix, rather than a program."""
    return bool(_language_of(word)) or _suffix(word) in _LINKER_INPUTS


# --- response files ---------------------------------------------------------------------------------------------------


def expanded(words: Iterable[str], depth: int = 0) -> Iterator[str]:
    """The words with each ``@file`` replaced by the words in that file;
    left as it is where the file can't be read, as GCC does."""
    for word in words:
        if not word.startswith("@") or depth > 16:
            yield word
            continue
        try:
            with open(word[1:], encoding="utf-8", errors="surrogateescape") as file:
                text = file.read()
        except (OSError, ValueError):
            yield word
            continue
        yield from expanded(response_words(text), depth + 1)


def response_words(text: str) -> list[str]:
    """The words of a response file: separated by white space, which quotes of both kinds keep; a backslash takes the
    next character as it is.

    As libiberty's buildargv does it: the backslash is one inside single quotes too.
    """
    words: list[str] = []
    current: list[str] | None = None
    quote = ""
    characters = iter(text)
    for character in characters:
        if character.isspace() and not quote:
            if current is not None:
                words.append("".join(current))
            current = None
            continue
        current = [] if current is None else current
        if character == "\\":
            current.append(next(characters, ""))
        elif quote:
            if character == quote:
                quote = ""
            else:
                current.append(character)
        elif character in "'\"":
            quote = character
        else:
            current.append(character)
    return [*words, "".join(current)] if current is not None else words

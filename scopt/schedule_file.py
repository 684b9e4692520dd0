"""Schedule trees as files: what `--emit=schedule` writes and `--schedule` reads back, in isl's YAML notation.

A file holds a YAML document for each region, in the order of the regions; an empty document (or `null`) leaves its
region to the scheduler. A tree has domain, band (`schedule`), `sequence`, `set` and `filter` nodes. What a band claims
(`permutable`, `coincident`) is read and ignored: it is computed from the dependences. PyYAML reads the structure, so
that errors have a place; isl reads the sets and functions in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import islpy as isl
from msgspec import Struct

from scopt.diagnostics import InputError, InternalError, Location
from scopt.ir.marked_schedule import Mark
from scopt.ir.scop import Dependences, Scop
from scopt.poly.isl_utils import block_style, maps_of, sets_of
from scopt.poly.legality import check_order
from scopt.tell.wording import instance_text, mark_text, one_line, some
from scopt.yaml_reader import YamlReader, is_kind, is_nothing, yaml_documents, yaml_text

if TYPE_CHECKING:
    import yaml

_CHILD = "child"
# The keys that make a node what it is, with those that may stand beside them. isl knows more; the band passes do not.
_NODES: dict[str, tuple[str, ...]] = {
    "schedule": ("permutable", "coincident"),
    "filter": (),
    "sequence": (),
    "set": (),
}
_FINAL_ONLY = ("mark", "options")
_FLAGS = ("permutable", "coincident")


class ScheduleDocument(Struct, frozen=True, eq=False):
    """A schedule tree that the user wrote. location: of the document, domain:
    of its domain, both in the schedule file."""

    tree: isl.Schedule
    location: Location
    domain: Location


# --- writing ----------------------------------------------------------------------------------------------------------


def document(location: Location, tree: str, statements: Iterable[str] = ()) -> str:
    """One document of a schedule file.

    location: of the region. tree: a schedule tree in any notation of isl's; empty for a region that stays as it was.
    statements: a line each about what the names in the tree stand for (see `legend`).
    """
    comments = [f"# {location}" + ("" if tree else ": left as it was"), *(f"#   {line}" for line in statements)]
    return "\n".join([*comments, "---", *([block_style(tree)] if tree else [])]) + "\n"


def legend(scop: Scop, marks: Mapping[str, Mark] | None = None) -> tuple[str, ...]:
    """What the statements are, ``S0, line 12: A[i][j] = 0;``, and what the marks of a tree mean."""
    statements = (f"{s.name}, line {s.location.line}: {one_line(s)}" for s in scop.statements)
    return (*statements, *(f"{name}: {mark_text(mark)}" for name, mark in (marks or {}).items()))


# --- reading ----------------------------------------------------------------------------------------------------------


def read_schedules(path: str, regions: int) -> tuple[ScheduleDocument | None, ...]:
    """The documents of a schedule file, one for each of so many regions;
    None leaves a region to the scheduler. Raises InputError."""
    documents = parse_schedules(yaml_text(path), path)
    if len(documents) != regions:
        raise InputError(
            f"{path}: error: {some(len(documents), 'schedule')} for {some(regions, 'region')} "
            "(a document for each region, in their order; an empty one leaves its region to the scheduler)"
        )
    return documents


def parse_schedules(text: str, file: str) -> tuple[ScheduleDocument | None, ...]:
    """The documents of a schedule file's text. Raises InputError with the place of what is wrong."""
    reader = _Reader(file, "a node of a schedule tree (a mapping such as `schedule: …`)")
    return tuple(reader.document(node) for node in yaml_documents(text, file))


class _Reader(YamlReader, frozen=True):
    """Checks the shape of a document and rewrites it in the flow style with quoted strings that isl reads."""

    def document(self, node: yaml.Node) -> ScheduleDocument | None:
        if is_nothing(node):
            return None
        entries = self.entries(node)
        if "domain" not in entries:
            raise self.error(node, "a schedule begins with its `domain`")
        for key, (at, _) in entries.items():
            if key not in ("domain", _CHILD):
                raise self.error(at, f"`{key}` beside `domain`, where only `{_CHILD}` may stand")
        domain = entries["domain"][1]
        parts = [f'"domain": {self.isl_text(domain, isl.UnionSet, "a union of sets")}', *self.child(entries)]
        try:
            tree = isl.Schedule(f"{{ {', '.join(parts)} }}")
        except isl.Error as error:
            raise self.error(node, f"isl does not take this as a schedule tree: {_isl_message(error)}") from None
        return ScheduleDocument(tree, self.location(node), self.location(domain))

    def child(self, entries: dict[str, tuple[yaml.Node, yaml.Node]]) -> list[str]:
        return [f'"{_CHILD}": {self.node(entries[_CHILD][1])}'] if _CHILD in entries else []

    def node(self, node: yaml.Node) -> str:
        """A node below the domain, and all below it."""
        entries = self.entries(node)
        kinds = [key for key in entries if key in _NODES]
        for key, (at, _) in entries.items():
            if key in _FINAL_ONLY:
                raise self.error(
                    at,
                    f"`{key}` belongs to the tree after the band passes "
                    f"(--emit=schedule-final), which is only to look at",
                )
            if key not in _NODES and key not in (_CHILD, *_FLAGS):
                raise self.error(at, f"unknown key `{key}` (known: {', '.join((*_NODES, *_FLAGS, _CHILD))})")
        if len(kinds) != 1:
            raise self.error(
                node, f"a node is one of {', '.join(_NODES)}" + (f", not {' and '.join(kinds)}" if kinds else "")
            )
        kind = kinds[0]
        value = entries[kind][1]
        if kind in ("sequence", "set"):
            if _CHILD in entries:
                raise self.error(entries[_CHILD][0], f"a `{kind}` has its children in its list, not in `{_CHILD}`")
            return f'{{ "{kind}": {self.filters(value)} }}'
        for key, (at, _) in entries.items():
            if key not in (kind, _CHILD, *_NODES[kind]):
                raise self.error(at, f"`{key}` does not belong to a `{kind}` node")
        text = self.isl_text(value, isl.UnionSet, "a union of sets") if kind == "filter" else self.band(value, entries)
        return f"{{ {', '.join([f'{json.dumps(kind)}: {text}', *self.child(entries)])} }}"

    def band(self, value: yaml.Node, entries: dict[str, tuple[yaml.Node, yaml.Node]]) -> str:
        """A band's function and its flags."""
        text = self.isl_text(value, isl.MultiUnionPwAff, "a list of functions in brackets")
        members = isl.MultiUnionPwAff(json.loads(text)).dim(isl.dim_type.out)
        if members < 1:
            raise self.error(value, "a band has at least one member")
        flags = [f'"permutable": {self.flag(entries["permutable"][1])}'] if "permutable" in entries else []
        if "coincident" in entries:
            given = entries["coincident"][1]
            if not is_kind(given, "sequence") or len(given.value) != members:
                raise self.error(given, f"`coincident` is a list of {members}, one for each member of the band")
            flags.append(f'"coincident": [ {", ".join(self.flag(flag) for flag in given.value)} ]')
        return ", ".join([text, *flags])

    def flag(self, node: yaml.Node) -> str:
        if not (is_kind(node, "scalar") and node.value in ("0", "1")):
            raise self.error(node, "neither 0 nor 1")
        return str(node.value)

    def filters(self, node: yaml.Node) -> str:
        if not is_kind(node, "sequence") or not node.value:
            raise self.error(node, "not a list of `filter` nodes")
        for item in node.value:
            if "filter" not in self.entries(item):
                raise self.error(item, "each child of a `sequence` or `set` is a `filter` node")
        return f"[ {', '.join(self.node(item) for item in node.value)} ]"

    def isl_text(self, node: yaml.Node, parse: Callable[[str], Any], what: str) -> str:
        """A string that isl can read, quoted."""
        if not is_kind(node, "scalar"):
            raise self.error(node, f"not {what} in isl's notation: it has to stand in quotes")
        try:
            parse(node.value)
        except isl.Error:
            raise self.error(
                node, f"not {what} in isl's notation (are all parameters named in front of `->`?): {node.value}"
            ) from None
        return json.dumps(" ".join(node.value.split()), ensure_ascii=False)


def _isl_message(error: isl.Error) -> str:
    """isl's words without the place in its own sources."""
    return str(error).split(" failed: ", 1)[-1].split(" in /")[0]


# --- checking ---------------------------------------------------------------------------------------------------------


def checked_tree(scop: Scop, deps: Dependences, given: ScheduleDocument) -> isl.Schedule:
    """The user's schedule tree over the SCoP's domain. Raises InputError unless it runs each statement instance once
    and in a legal order."""
    _check_domain(scop, given)
    tree = given.tree.intersect_domain(scop.domain)
    try:
        dates = tree.get_map().intersect_domain(scop.domain)
        _check_dates(scop, given, dates)
        check_order(scop, deps, dates)
    except InternalError as error:
        raise InputError(
            f"{given.location}: error: {str(error).removeprefix(f'{scop.location}: ')} (region at {scop.location})"
        ) from None
    except isl.Error as error:
        raise InputError(
            f"{given.location}: error: isl cannot work with this schedule: {_isl_message(error)}"
        ) from None
    return tree


def _check_domain(scop: Scop, given: ScheduleDocument) -> None:
    """The tree's domain is the SCoP's, as far as parameters that can occur are concerned."""

    def refuse(message: str) -> InputError:
        return InputError(f"{given.domain}: error: {message} (region at {scop.location})")

    wanted = {s.get_tuple_name(): s for s in sets_of(scop.domain)}
    known = {statement.name: statement for statement in scop.statements}
    have = {
        (s.get_tuple_name(), s.dim(isl.dim_type.set)): s
        for s in sets_of(given.tree.get_domain().intersect_params(scop.context))
    }
    for name, width in have:
        if name not in known:
            raise refuse(f"the region has no statement {name!r}, only {', '.join(known)}")
        if width != len(known[name].iterators):
            iterators = ", ".join(known[name].iterators)
            raise refuse(
                f"{name} has {some(width, 'iterator')} here and {len(known[name].iterators)} "
                f"in the region: {name}[{iterators}]"
            )
    for name, domain in wanted.items():
        statement = known[name]
        written = have.get((name, len(statement.iterators)))
        if written is None:
            raise refuse(f"the domain lacks statement {name} (line {statement.location.line}: {one_line(statement)})")
        if not (lacking := domain.subtract(written)).is_empty():
            raise refuse(f"the domain lacks instances of {name}, for one {instance_text(lacking)}")
        if not (extra := written.subtract(domain)).is_empty():
            raise refuse(
                f"the domain has instances of {name} that the region does not run, for one {instance_text(extra)}"
            )


def _check_dates(scop: Scop, given: ScheduleDocument, dates: isl.UnionMap) -> None:
    """Each instance has one date: bands are defined everywhere, filters neither overlap nor leave anything out."""
    undated = sets_of(scop.domain.subtract(dates.domain()))
    if undated:
        message = (
            f"the schedule leaves instances out (a filter or a band's function lacks "
            f"them), for one {instance_text(undated[0])}"
        )
        raise InputError(f"{given.location}: error: {message} (region at {scop.location})")
    twice = [relation for relation in maps_of(dates) if not relation.is_single_valued()]
    if twice:
        message = (
            f"the schedule runs instances of {twice[0].get_tuple_name(isl.dim_type.in_)} "
            f"more than once (filters overlap)"
        )
        raise InputError(f"{given.location}: error: {message} (region at {scop.location})")

"""Influence constraint trees as YAML: docs/influence.md shows the notation, schema.json is its JSON Schema.

A file holds one document for each region that it influences. Every error is an InputError with file, line and column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import yaml
from msgspec import Struct

from scopt.diagnostics import InputError
from scopt.ir.scop import Scop
from scopt.scheduler.influence.influence_tree import InfluenceNode, InfluenceRow, InfluenceTree
from scopt.scheduler.influence.rows import RowError, Vocabulary, format_row, parse_row

# Aliases can make a short file a huge tree.
MAX_NODES = 10_000
_ROOT_KEYS = ("scop", "branches")
_NODE_KEYS = ("name", "rows", "parallel", "permutable", "children")


def load_tree(text: str, file: str, scop: Scop, region: int = 0) -> InfluenceTree:
    """The tree that a file holds for a SCoP, the region-th of its source file (from 0); an empty tree if it holds none.

    file: what errors call the file. Raises InputError for anything wrong in the region's document, or around the
      documents.
    """
    document = _documents(text, file).get(region)
    return InfluenceTree() if document is None else _Loader(text, file, Vocabulary.of(scop)).tree(document)


def check_regions(text: str, file: str, regions: int) -> None:
    """Raises InputError if a file has a document for a region that its source file,
    with so many regions, doesn't have."""
    for region, document in _documents(text, file).items():
        if region >= regions:
            has = {0: "no regions", 1: "1 region"}.get(regions, f"{regions} regions")
            _fail(
                file,
                document.start_mark,
                f"this document is for region {region} (counted from 0), but the source has {has}",
            )


def dump_tree(tree: InfluenceTree, region: int | None = None) -> str:
    """A YAML document that `load_tree` reads as an equal tree. region: written as `scop`, if given."""
    document: dict[str, object] = {} if region is None else {"scop": region}
    document["branches"] = [_plain(node) for node in tree.branches]
    return yaml.safe_dump(document, sort_keys=False, default_flow_style=False, allow_unicode=True, width=10_000)


def _plain(node: InfluenceNode) -> dict[str, object]:
    """A node as dictionaries and lists; what has its default is left out."""
    result: dict[str, object] = {"name": node.name}
    if node.rows:
        result["rows"] = [format_row(row) for row in node.rows]
    if node.parallel:
        result["parallel"] = True
    if node.permutable:
        result["permutable"] = True
    if node.children:
        result["children"] = [_plain(child) for child in node.children]
    return result


# --- documents --------------------------------------------------------------------------------------------------------


def _documents(text: str, file: str) -> Mapping[int, yaml.Node]:
    """The documents by the region that they are for: what `scop` says,
    or else the document's place. Empty ones are left out."""
    try:
        documents = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        _fail(file, error.problem_mark or error.context_mark, _reason(error))
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        where = f"{file}:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"
        raise InputError(f"{where}: error: {error.reason}: character {error.character:#x}") from None
    except RecursionError:
        raise InputError(f"{file}:1:1: error: the tree is nested too deeply") from None
    found: dict[int, yaml.Node] = {}
    for place, document in enumerate(documents):
        if document is None or document.tag == "tag:yaml.org,2002:null":
            continue
        region, mark = _region(document, file, place)
        if region in found:
            _fail(
                file,
                mark,
                f"there already is a document for region {region}, in line {found[region].start_mark.line + 1}",
            )
        found[region] = document
    return found


def _region(document: yaml.Node, file: str, place: int) -> tuple[int, yaml.Mark]:
    """A document's region, and where it says so."""
    for key, value in _entries(document, file, _ROOT_KEYS, "a document"):
        if key == "scop":
            if not (
                isinstance(value, yaml.ScalarNode)
                and value.tag == "tag:yaml.org,2002:int"
                and value.value.isascii()
                and value.value.isdigit()
            ):
                _fail(file, value.start_mark, "scop: expected a region's number, counted from 0")
            return int(value.value[:9]), value.start_mark
    return place, document.start_mark


def _reason(error: yaml.MarkedYAMLError) -> str:
    parts = [part for part in (error.context, error.problem) if part]
    hint = "; a row inside of [ ] needs quotes" if "got '['" in (error.problem or "") else ""
    return "not YAML: " + (", ".join(parts) or "syntax error") + hint


def _entries(node: yaml.Node, file: str, keys: tuple[str, ...], what: str) -> Iterator[tuple[str, yaml.Node]]:
    """The entries of a mapping with these keys. Raises InputError for another kind of node, an unknown key, and a key
    that comes twice."""
    expected = f"expected a mapping with {', '.join(keys)}"
    if not isinstance(node, yaml.MappingNode):
        _fail(file, node.start_mark, f"{what} is {_kind(node)}: {expected}")
    seen: set[str] = set()
    for key, value in node.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else ""
        if name not in keys:
            _fail(file, key.start_mark, f"{what} has no key '{name}': {expected}")
        if name in seen:
            _fail(file, key.start_mark, f"'{name}' comes twice")
        seen.add(name)
        yield name, value


def _kind(node: yaml.Node) -> str:
    if isinstance(node, yaml.MappingNode):
        return "a mapping"
    return "a list" if isinstance(node, yaml.SequenceNode) else f"'{node.value}'" if node.value else "empty"


def _fail(file: str, mark: yaml.Mark | None, message: str, offset: int = 0) -> NoReturn:
    where = f"{file}:{mark.line + 1}:{mark.column + 1 + offset}" if mark is not None else f"{file}:1:1"
    raise InputError(f"{where}: error: {message}")


# --- one document -----------------------------------------------------------------------------------------------------


class _Loader(Struct):
    """From YAML nodes to the tree. count: nodes so far."""

    text: str
    file: str
    vocabulary: Vocabulary
    count: int = 0

    def tree(self, document: yaml.Node) -> InfluenceTree:
        entries = dict(_entries(document, self.file, _ROOT_KEYS, "a document"))
        if "branches" not in entries:
            _fail(self.file, document.start_mark, "a document needs branches")
        return InfluenceTree(self.nodes(entries["branches"], "branches", 0, "", ()))

    def nodes(
        self, listed: yaml.Node, key: str, depth: int, path: str, around: tuple[yaml.Node, ...]
    ) -> tuple[InfluenceNode, ...]:
        """The nodes of a list. path: of the node above.
        around: the YAML lists that this one is in, against aliases to them."""
        if listed in around:
            _fail(self.file, listed.start_mark, f"{key}: an alias inside of what it stands for")
        items = self.list(listed, key)
        return tuple(self.node(item, depth, f"{path}{place}", (*around, listed)) for place, item in enumerate(items))

    def node(self, node: yaml.Node, depth: int, path: str, around: tuple[yaml.Node, ...]) -> InfluenceNode:
        self.count += 1
        if self.count > MAX_NODES:
            _fail(self.file, node.start_mark, f"the tree has more than {MAX_NODES} nodes")
        entries = dict(_entries(node, self.file, _NODE_KEYS, "a node"))

        def get(key: str, read: Callable[[yaml.Node], Any], default: Any) -> Any:
            return read(entries[key]) if key in entries else default

        return InfluenceNode(
            name=get("name", self.name, path),
            rows=get("rows", lambda value: tuple(self.row(item, depth) for item in self.list(value, "rows")), ()),
            parallel=get("parallel", lambda value: self.flag(value, "parallel"), False),
            permutable=get("permutable", lambda value: self.flag(value, "permutable"), False),
            children=get("children", lambda value: self.nodes(value, "children", depth + 1, f"{path}.", around), ()),
        )

    def list(self, value: yaml.Node, key: str) -> list[yaml.Node]:
        if not isinstance(value, yaml.SequenceNode):
            _fail(self.file, value.start_mark, f"{key}: expected a list, not {_kind(value)}")
        return list(value.value)

    def name(self, value: yaml.Node) -> str:
        if not isinstance(value, yaml.ScalarNode) or value.tag != "tag:yaml.org,2002:str":
            _fail(
                self.file,
                value.start_mark,
                f"name: expected a text, not {_kind(value)}; numbers, true and the like need quotes",
            )
        return str(value.value)

    def flag(self, value: yaml.Node, key: str) -> bool:
        if not isinstance(value, yaml.ScalarNode) or value.tag != "tag:yaml.org,2002:bool":
            _fail(self.file, value.start_mark, f"{key}: expected true or false, not {_kind(value)}")
        return bool(yaml.SafeLoader.bool_values[value.value.lower()])

    def row(self, value: yaml.Node, depth: int) -> InfluenceRow:
        if not isinstance(value, yaml.ScalarNode) or value.tag != "tag:yaml.org,2002:str":
            hint = "" if isinstance(value, yaml.ScalarNode) else "; a text with brackets needs quotes in a [list]"
            _fail(self.file, value.start_mark, f"rows: expected a row such as T[S0,0,i] = 1, not {_kind(value)}{hint}")
        try:
            return parse_row(value.value, depth, self.vocabulary)
        except RowError as error:
            _fail(self.file, value.start_mark, str(error), self.shift(value, error.offset))

    def shift(self, value: yaml.ScalarNode, offset: int) -> int:
        """How far right of the scalar's start a character of its text stands; 0 where the file spells the text in
        another way (escapes, folding)."""
        quote = 1 if value.style in ("'", '"') else 0
        start = value.start_mark.index + quote
        return quote + offset if self.text[start : start + len(value.value)] == value.value else 0

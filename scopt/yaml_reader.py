"""YAML files with places: what is wrong in them has a line and a column. PyYAML reads the structure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from scopt.diagnostics import InputError, Location

if TYPE_CHECKING:
    import yaml


def yaml_text(path: str) -> str:
    """A file's text. Raises InputError."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"scopt: error: {path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: error: not UTF-8 text: {error.reason} at byte {error.start}") from None


def yaml_documents(text: str, file: str) -> list[yaml.Node]:
    """The documents of a text. Raises InputError with the place of what is wrong."""
    import yaml  # only for those who give such files

    try:
        return list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{file}:{mark.line + 1}:{mark.column + 1}" if mark else file
        raise InputError(f"{place}: error: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise InputError(f"{file}: error: {' '.join(str(error).split())}") from None


class YamlReader(Struct, frozen=True):
    """Reads nodes of a file. meant: what a mapping in it is, for messages."""

    file: str
    meant: str

    def entries(self, node: yaml.Node) -> dict[str, tuple[yaml.Node, yaml.Node]]:
        """The keys of a mapping, each with its own node and its value's."""
        if not is_kind(node, "mapping"):
            raise self.error(node, f"not {self.meant}")
        found: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        for key, value in node.value:
            if not is_kind(key, "scalar"):
                raise self.error(key, "not a key")
            if key.value in found:
                raise self.error(key, f"`{key.value}` stands here twice")
            found[key.value] = (key, value)
        return found

    def location(self, node: yaml.Node) -> Location:
        return Location(self.file, node.start_mark.line + 1, node.start_mark.column + 1)

    def error(self, node: yaml.Node, message: str) -> InputError:
        return InputError(f"{self.location(node)}: error: {message}")


def is_kind(node: yaml.Node, kind: str) -> bool:
    """Whether a node is a ``scalar``, a ``sequence`` or a ``mapping``."""
    return bool(getattr(node, "id", "") == kind)


def is_nothing(node: yaml.Node) -> bool:
    """Whether a node is empty, or `null`."""
    return is_kind(node, "scalar") and bool(node.tag.endswith(":null"))

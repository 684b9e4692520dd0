"""Texts that scopt has made, by what they were made from. Many processes may use the folder at a time."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import zlib
from collections.abc import Iterable
from typing import NamedTuple

# The folder is cut into this many parts by the keys' first digit; each part is kept under its share of the size.
_PARTS = 16


class Entry(NamedTuple):
    """text: what scopt made of a source; None: it stays as it is. remarks: as scopt has written them. failure: why it
    couldn't be read, or empty."""

    text: bytes | None
    remarks: str = ""
    failure: str = ""


def key_of(parts: Iterable[bytes]) -> str:
    """The key for these ingredients: SHA-256 over each with its length."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.hexdigest()


class Cache(NamedTuple):
    """folder: empty for no cache. size: the bytes that entries may take together, approximately.

    Whatever goes wrong with its files (no permission, a full disk, a damaged entry) is as if the entry weren't there.
    """

    folder: str
    size: int

    def get(self, key: str) -> Entry | None:
        path = self._path(key)
        try:
            with open(path, "rb") as file:
                head = json.loads(file.readline())
                text = file.read()
            entry = Entry(text if head["transformed"] else None, head["remarks"], head["failure"])
            if len(text) != head["size"]:
                return None
        except (OSError, ValueError, KeyError, TypeError):
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # the time of the last use: what wasn't used for longest goes first
        return entry

    def put(self, key: str, entry: Entry) -> None:
        text = entry.text or b""
        head = {
            "transformed": entry.text is not None,
            "size": len(text),
            "remarks": entry.remarks,
            "failure": entry.failure,
        }
        self.put_bytes(key, json.dumps(head).encode() + b"\n" + text)

    def put_bytes(self, key: str, data: bytes) -> None:
        """Store a file under a key, whole or not at all."""
        if not self.folder or len(data) > self.size:
            return
        path = self._path(key)
        temporary = f"{path}.{secrets.token_hex(8)}.tmp"
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            try:
                with open(temporary, "xb") as file:
                    file.write(data)
                os.replace(temporary, path)
            except OSError:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                return
            self._make_room(os.path.dirname(path))
        except OSError:
            return

    def get_bytes(self, key: str) -> bytes | None:
        """What `put_bytes` has stored."""
        path = self._path(key)
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return data

    def put_packed(self, key: str, data: bytes) -> None:
        """Store bytes that take less space when they are packed."""
        if self.folder:
            self.put_bytes(key, zlib.compress(data, 1))

    def get_packed(self, key: str) -> bytes | None:
        """What `put_packed` has stored."""
        packed = self.get_bytes(key)
        try:
            return None if packed is None else zlib.decompress(packed)
        except zlib.error:
            return None

    def _path(self, key: str) -> str:
        return os.path.join(self.folder, key[:1], key[1:]) if self.folder else ""

    def _make_room(self, part: str) -> None:
        """Remove what wasn't used for longest until the part is under its share; others may be removing the same."""
        found: list[tuple[float, int, str]] = []
        with os.scandir(part) as files:
            for file in files:
                with contextlib.suppress(OSError):
                    status = file.stat()
                    found.append((status.st_mtime, status.st_size, file.path))
        used = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if used <= self.size // _PARTS:
                return
            with contextlib.suppress(OSError):
                os.unlink(path)
            used -= size

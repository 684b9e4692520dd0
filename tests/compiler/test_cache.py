"""The cache: whole entries or none, and never much more than its size."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from scopt.compiler.cache import Cache, Entry, key_of


def test_entries_come_back(tmp_path: Path) -> None:
    cache = Cache(str(tmp_path / "new"), 1 << 20)
    for number, entry in enumerate(
        (Entry(b"int x;\n\xff", "a remark\n", ""), Entry(None, "", "it failed"), Entry(b""))
    ):
        key = key_of((b"%d" % number,))
        assert cache.get(key) is None
        cache.put(key, entry)
        assert cache.get(key) == entry


def test_keys_tell_where_parts_end() -> None:
    assert key_of((b"ab", b"c")) != key_of((b"a", b"bc"))


@pytest.mark.parametrize(
    "damage", [b"", b"{}\n", b"no json", b'{"transformed": true, "size": 9, "remarks": "", "failure": ""}\nshort']
)
def test_damaged_entries_are_none(tmp_path: Path, damage: bytes) -> None:
    cache = Cache(str(tmp_path), 1 << 20)
    key = key_of((b"k",))
    cache.put_bytes(key, damage)
    assert cache.get(key) is None


def test_packed_bytes(tmp_path: Path) -> None:
    cache = Cache(str(tmp_path), 1 << 20)
    cache.put_packed("abc", b"x" * 1000)
    assert cache.get_packed("abc") == b"x" * 1000
    assert (tmp_path / "a/bc").stat().st_size < 100
    cache.put_bytes("abc", b"not packed")
    assert cache.get_packed("abc") is None


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    one = len(b"x" * 200) + 70
    cache = Cache(str(tmp_path), 16 * 4 * one)
    for age, name in enumerate(("a0", "a1", "a2")):
        cache.put(name, Entry(b"x" * 200))
        os.utime(tmp_path / "a" / name[1:], (1000 + age, 1000 + age))
    assert cache.get("a0") is not None
    cache.put("a3", Entry(b"x" * 400))
    assert [cache.get(name) is not None for name in ("a0", "a1", "a2", "a3")] == [True, False, True, True]


def test_without_a_folder_or_the_right_to_write_nothing_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for folder in ("", str(file)):
        cache = Cache(folder, 1 << 20)
        cache.put("abc", Entry(b"x"))
        assert cache.get("abc") is None


def test_many_writers_and_readers(tmp_path: Path) -> None:
    cache = Cache(str(tmp_path), 16 * 3000)

    def work(number: int) -> bool:
        key = f"a{number % 7}"
        expected = Entry(b"%d" % (number % 7) * 900)
        cache.put(key, expected)
        return cache.get(key) in (None, expected)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(300)))
    assert not [file for file in tmp_path.rglob("*.tmp")]

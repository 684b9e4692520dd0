"""The SQLite file that an exploration accumulates in.
Each result is a transaction of its own and on the disk when the call returns."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from scopt.diagnostics import InputError
from scopt.polybench.explore.records import (
    Baseline,
    CompilerRecord,
    Machine,
    ProgramRecord,
    Sample,
    Series,
    StoredSample,
)

VERSION = 1
# How long a write waits for another process, in seconds.
PATIENCE = 60.0

SCHEMA = """
CREATE TABLE machines (
  id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, processor TEXT NOT NULL, cores INTEGER NOT NULL,
  system TEXT NOT NULL);
CREATE TABLE compilers (
  id INTEGER PRIMARY KEY, version TEXT NOT NULL, flags TEXT NOT NULL, UNIQUE (version, flags));
CREATE TABLE programs (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, source_hash TEXT NOT NULL, size TEXT NOT NULL, check_size TEXT NOT NULL,
  threads INTEGER NOT NULL,
  UNIQUE (name, source_hash, size, check_size, threads));
CREATE TABLE baselines (
  program INTEGER NOT NULL REFERENCES programs, machine INTEGER NOT NULL REFERENCES machines,
  compiler INTEGER NOT NULL REFERENCES compilers, configuration TEXT NOT NULL,
  seconds TEXT NOT NULL, minimum REAL, process_seconds REAL NOT NULL, failure TEXT NOT NULL,
  PRIMARY KEY (program, machine, compiler, configuration));
CREATE TABLE samples (
  id INTEGER PRIMARY KEY, program INTEGER NOT NULL REFERENCES programs,
  walk TEXT NOT NULL, search TEXT NOT NULL, seed INTEGER NOT NULL, number INTEGER NOT NULL,
  machine INTEGER NOT NULL REFERENCES machines, compiler INTEGER NOT NULL REFERENCES compilers,
  schedule TEXT NOT NULL, rows TEXT NOT NULL, tree_hash TEXT NOT NULL, code_hash TEXT NOT NULL,
  duplicate_of INTEGER REFERENCES samples,
  status TEXT NOT NULL, reason TEXT NOT NULL, seconds TEXT NOT NULL, minimum REAL, created TEXT NOT NULL,
  UNIQUE (program, compiler, machine, search, walk, seed, number));
CREATE INDEX samples_tree ON samples (program, compiler, machine, tree_hash);
CREATE INDEX samples_code ON samples (program, compiler, machine, code_hash);
"""

_SAMPLE_COLUMNS = (
    "id, program, compiler, search, walk, seed, machine, number, status, reason, schedule, rows, "
    "tree_hash, code_hash, duplicate_of, seconds, created"
)


class Database:
    """An open database. Use it as a context manager; only from the thread that opened it."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    # --- who and what: found by their contents, entered if they aren't there; the id ----------------------------------

    def machine(self, machine: Machine) -> int:
        fields = {
            "fingerprint": machine.fingerprint,
            "processor": machine.processor,
            "cores": machine.cores,
            "system": machine.system,
        }
        return self._entered("machines", fields)

    def compiler(self, compiler: CompilerRecord) -> int:
        return self._entered("compilers", {"version": compiler.version, "flags": compiler.flags})

    def program(self, program: ProgramRecord) -> int:
        names = ("name", "source_hash", "size", "check_size", "threads")
        return self._entered("programs", {name: getattr(program, name) for name in names})

    def machines(self) -> dict[int, Machine]:
        """All machines by id."""
        return {
            row[0]: Machine(*row[1:])
            for row in self._all("SELECT id, processor, cores, system FROM machines ORDER BY id")
        }

    def compilers(self) -> dict[int, CompilerRecord]:
        """All compilers by id."""
        return {
            row[0]: CompilerRecord(*row[1:])
            for row in self._all("SELECT id, version, flags FROM compilers ORDER BY id")
        }

    def programs(self) -> dict[int, ProgramRecord]:
        """All programs by id."""
        rows = self._all("SELECT id, name, source_hash, size, check_size, threads FROM programs ORDER BY id")
        return {row[0]: ProgramRecord(*row[1:]) for row in rows}

    # --- baselines ----------------------------------------------------------------------------------------------------

    def baselines(self, program: int, machine: int, compiler: int) -> dict[str, Baseline]:
        """By configuration."""
        rows = self._all(
            "SELECT configuration, seconds, process_seconds, failure FROM baselines WHERE "
            "program = ? AND machine = ? AND compiler = ?",
            (program, machine, compiler),
        )
        return {row[0]: Baseline(row[0], tuple(json.loads(row[1])), row[2], row[3]) for row in rows}

    def add_baseline(self, program: int, machine: int, compiler: int, baseline: Baseline) -> None:
        """Store a baseline, in place of one of the same configuration."""
        self._write(
            "INSERT OR REPLACE INTO baselines VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                program,
                machine,
                compiler,
                baseline.configuration,
                json.dumps(baseline.seconds),
                baseline.minimum,
                baseline.process_seconds,
                baseline.failure,
            ),
        )

    # --- samples ------------------------------------------------------------------------------------------------------

    def add_sample(self, series: Series, machine: int, sample: Sample) -> int:
        """Store a sample; its id. One that is there already (another process was faster) stays as it is."""
        fields = {
            "program": series.program,
            "compiler": series.compiler,
            "search": series.search,
            "walk": series.walk,
            "seed": series.seed,
            "machine": machine,
            "number": sample.number,
            "schedule": sample.schedule,
            "rows": json.dumps(sample.rows),
            "tree_hash": sample.tree_hash,
            "code_hash": sample.code_hash,
            "duplicate_of": sample.duplicate_of,
            "status": sample.status,
            "reason": sample.reason,
            "seconds": json.dumps(sample.seconds),
            "minimum": sample.minimum,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        marks = ", ".join("?" * len(fields))
        self._write(f"INSERT OR IGNORE INTO samples ({', '.join(fields)}) VALUES ({marks})", tuple(fields.values()))
        key = ("program", "compiler", "machine", "search", "walk", "seed", "number")
        where = " AND ".join(f"{name} = ?" for name in key)
        found: int = self._all(f"SELECT id FROM samples WHERE {where}", tuple(fields[name] for name in key))[0][0]
        return found

    def samples(self, series: Series | None = None, machine: int | None = None) -> tuple[StoredSample, ...]:
        """The samples of a series, or all; of a machine, or all machines; ordered by series, number and machine."""
        conditions, values = ["TRUE"], []
        if series is not None:
            conditions.append("program = ? AND compiler = ? AND search = ? AND walk = ? AND seed = ?")
            values += [series.program, series.compiler, series.search, series.walk, series.seed]
        if machine is not None:
            conditions.append("machine = ?")
            values.append(machine)
        order = "program, compiler, search, walk, seed, number, machine"
        rows = self._all(
            f"SELECT {_SAMPLE_COLUMNS} FROM samples WHERE {' AND '.join(conditions)} ORDER BY {order}", tuple(values)
        )
        return tuple(_stored(row) for row in rows)

    def missing(self, series: Series, count: int, machine: int | None = None) -> tuple[int, ...]:
        """The numbers below `count` that the series has no sample of; machine: on that machine, or on any."""
        have = {stored.sample.number for stored in self.samples(series, machine)}
        return tuple(number for number in range(count) if number not in have)

    def same_tree(self, series: Series, machine: int, tree_hash: str) -> StoredSample | None:
        """The sample that was built and measured for that schedule tree on that machine, by any search of the series'
        program and compiler."""
        return self._first(series, machine, "tree_hash", tree_hash)

    def same_code(self, series: Series, machine: int, code_hash: str) -> StoredSample | None:
        """The same for the C text."""
        return self._first(series, machine, "code_hash", code_hash)

    def _first(self, series: Series, machine: int, column: str, value: str) -> StoredSample | None:
        """Where the value was first seen; or, if that was a duplicate in the other respect,
        what it is a duplicate of."""
        where = f"program = ? AND compiler = ? AND machine = ? AND {column} = ? AND {column} <> ''"
        rows = self._all(
            f"SELECT {_SAMPLE_COLUMNS} FROM samples WHERE id = (SELECT COALESCE(duplicate_of, "
            f"id) FROM samples WHERE {where} ORDER BY id LIMIT 1)",
            (series.program, series.compiler, machine, value),
        )
        return _stored(rows[0]) if rows else None

    # --- SQL ----------------------------------------------------------------------------------------------------------

    def _entered(self, table: str, fields: dict[str, object]) -> int:
        values = tuple(fields.values())
        self._write(
            f"INSERT OR IGNORE INTO {table} ({', '.join(fields)}) VALUES ({', '.join('?' * len(fields))})", values
        )
        where = " AND ".join(f"{name} = ?" for name in fields)
        found: int = self._all(f"SELECT id FROM {table} WHERE {where}", values)[0][0]
        return found

    def _all(self, statement: str, values: tuple[object, ...] = ()) -> list[Any]:
        with _errors(self.path):
            return self._connection.execute(statement, values).fetchall()

    def _write(self, statement: str, values: tuple[object, ...]) -> None:
        """A transaction of its own."""
        with _errors(self.path):
            self._connection.execute(statement, values)


def open_database(path: Path, *, create: bool = True) -> Database:
    """Open a database; make it if it isn't there and `create`.
    Raises InputError if it is none, or of another version of scopt."""
    if not create and not path.is_file():
        raise InputError(f"{path}: there is no such database")
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}")
    with _errors(path):
        connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            _make_tables(path, connection)
        except BaseException:
            connection.close()
            raise
    return Database(path, connection)


def _make_tables(path: Path, connection: sqlite3.Connection) -> None:
    """All tables in one transaction, which a second process that does the same waits for."""
    connection.execute("BEGIN IMMEDIATE")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == 0 and not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        for statement in SCHEMA.split(";\n"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
    elif version != VERSION:
        connection.execute("ROLLBACK")
        raise InputError(
            f"{path}: not a database of scopt-explore"
            if version == 0
            else f"{path}: of another version of scopt-explore ({version})"
        )
    connection.execute("COMMIT")


@contextlib.contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Be the only exploration that adds to the database: two on one machine would disturb each other's times. Raises
    InputError if there is one.

    The lock is on a file beside the database (a lock of SQLite's own would keep readers out). It ends with this
    process, however that ends, and isn't passed on to child processes.
    """
    with open(f"{path}-lock", "a+", encoding="ascii") as lock:
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.seek(0)
            other = lock.read().strip() or "?"
            raise InputError(
                f"{path}: another scopt-explore is adding to it (process {other}); wait for it, or use another --db"
            ) from None
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        yield


@contextlib.contextmanager
def _errors(path: Path) -> Iterator[None]:
    """What SQLite has to say, as an InputError."""
    try:
        yield
    except sqlite3.Error as error:
        raise InputError(f"{path}: {error}") from error


def _stored(row: tuple[Any, ...]) -> StoredSample:
    """A row of `_SAMPLE_COLUMNS`."""
    id, program, compiler, search, walk, seed, machine, number, status, reason, schedule, rows, *rest = row
    tree_hash, code_hash, duplicate_of, seconds, created = rest
    matrices = tuple(tuple(tuple(entry) for entry in region) for region in json.loads(rows))
    sample = Sample(
        number, status, reason, schedule, matrices, tree_hash, code_hash, duplicate_of, tuple(json.loads(seconds))
    )
    return StoredSample(id, Series(program, compiler, search, walk, seed), machine, sample, created)

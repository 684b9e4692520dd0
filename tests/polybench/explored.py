"""A tiny program to explore, and the command: in a process of its own, or here."""

from __future__ import annotations

import contextlib
import io
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

from scopt.polybench.explore.explore_command import main

ROOT = Path(__file__).resolve().parents[2]
QUICK = ("--runs", "1", "--jobs", "1", "--baselines", "none", "--threads", "1")

MATVEC = """\
#include <stdio.h>
#include "size.h"
double a[N][N], x[N], y[N];
int main(void)
{
    for (int i = 0; i < N; i++) {
        x[i] = i;
        for (int j = 0; j < N; j++)
            a[i][j] = (i * j) % 7;
    }
#pragma scop
    for (int i = 0; i < N; i++) {
        y[i] = 0;
        for (int j = 0; j < N; j++)
            y[i] += a[i][j] * x[j];
    }
#pragma endscop
    for (int i = 0; i < N; i++)
        printf("%a\\n", y[i]);
    /* MORE */
    return 3;
}
"""


def write_matvec(folder: Path, more: str = "", name: str = "in") -> Path:
    """The program, with more statements in front of its end, and its header in a folder `include`."""
    (folder / "include").mkdir(exist_ok=True)
    (folder / "include" / "size.h").write_text("#define N 16\n")
    file = folder / f"{name}.c"
    file.write_text(MATVEC.replace("/* MORE */", more))
    return file


def start(folder: Path, *arguments: str | Path) -> subprocess.Popen[str]:
    """The command, in `folder`, in a process of its own."""
    command = [sys.executable, "-m", "scopt.polybench.explore.explore_command", *_words(arguments)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, env=environment
    )


def explored(folder: Path, *arguments: str | Path) -> tuple[int, str, str]:
    """Its exit status, stdout and stderr, from this process: only its workers are started."""
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        status = main(_words(arguments))
    return status, output.getvalue(), errors.getvalue()


def _words(arguments: tuple[str | Path, ...]) -> list[str]:
    return [*map(str, arguments), "--cflags=-Iinclude", "--cc", os.environ.get("CC", "gcc")]


def rows_of(database: Path, columns: str) -> list[tuple[Any, ...]]:
    """These columns of all samples, by number."""
    connection = sqlite3.connect(database)
    try:
        return connection.execute(f"SELECT {columns} FROM samples ORDER BY number").fetchall()
    finally:
        connection.close()

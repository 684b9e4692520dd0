"""What a program prints before and after it is transformed."""

from __future__ import annotations

from tests.conftest import RunC

FLAGS = ("-lm", "-ffp-contract=off")


def check_same_results(run_c: RunC, program: str | bytes, made: str, *, sanitized: bool) -> None:
    """Assert that a transformed program prints what the original does: with threads and vectors, or with what it does
    to memory and to numbers watched."""
    expected = run_c(program, "-O1", *FLAGS, name="original")
    if sanitized:
        watched = ("-O1", "-fsanitize=undefined,address", "-fno-sanitize-recover")
        assert run_c(made, *watched, *FLAGS, name="sanitized") == expected
    else:
        assert run_c(made, "-O3", "-mavx2", "-fopenmp", *FLAGS, name="threads") == expected

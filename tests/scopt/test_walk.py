"""docs/architecture.md shows what the steps make of examples/gemm.c."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scopt.options import Options
from tests.sources import optimize

ROOT = Path(__file__).parent.parent.parent
EXCERPT = re.compile(r"<!-- --print-after (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)
EXCERPTS = EXCERPT.findall((ROOT / "docs/architecture.md").read_text())


def test_some_steps_are_shown() -> None:
    assert [step for step, _ in EXCERPTS] == ["schedule", "bands", "loops", "transposed-copies"]


@pytest.mark.parametrize(("step", "excerpt"), EXCERPTS, ids=[step for step, _ in EXCERPTS])
def test_what_a_step_makes_is_what_is_shown(step: str, excerpt: str) -> None:
    """The excerpt's parts between ellipses stand in what the step makes, in their order."""
    (region,) = optimize((ROOT / "examples/gemm.c").read_text(), Options(print_after=step)).regions
    place = 0
    for part in re.split(r" *…\n", excerpt):
        found = region.explanation.find(part, place)
        assert found >= 0, f"{step}: {part}"
        place = found + len(part)

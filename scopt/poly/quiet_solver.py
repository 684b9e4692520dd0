"""HiGHS, with one thread and without a word: what scopt writes to the standard output is C, or what was asked for."""

from __future__ import annotations

from typing import Any

import highspy


class _Quiet(highspy.Highs):
    def enableCallbacks(self) -> None:
        """Part of making a solver. HiGHS 1.16 introduces itself here, unless it was told before not to."""
        self.silent()
        enable: Any = super().enableCallbacks  # untyped
        enable()


def quiet_solver() -> Any:
    """A new solver that prints nothing and uses one thread."""
    make: Any = _Quiet  # untyped
    solver = make()
    solver.silent()
    solver.setOptionValue("threads", 1)
    return solver

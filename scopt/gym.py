"""`import scopt.gym` makes scopt's environments known to Gymnasium, so that `gymnasium.make("scopt/Schedule-v0", kernel="gemm")` finds them.

Without the import, `gymnasium.make("scopt.gym:scopt/Schedule-v0", …)` does the same. Needs the extra ``scopt[gym]``; see docs/environments.md.
"""

from __future__ import annotations

from scopt.scheduler.space.envs import register_envs

register_envs()

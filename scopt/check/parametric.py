"""Values over the parameters as isl's functions."""

from __future__ import annotations

import islpy as isl

from scopt.astgen.sets import NestSpace
from scopt.model import Block, Expr, LoopNest, Scop


def on_parameters(scop: Scop, value: Expr) -> isl.PwAff:
    """A value, as a function of the parameters alone."""
    space = NestSpace.of(scop, LoopNest(Block(())))
    return space.piecewise(value, space.outside()).project_domain_on_params()

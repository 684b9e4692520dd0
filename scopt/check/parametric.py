"""Values over the parameters as isl's functions."""

from __future__ import annotations

import islpy as isl

from scopt.ir.nest import Block, Expr, LoopNest
from scopt.ir.scop import Scop
from scopt.poly.nest_sets import NestSpace


def on_parameters(scop: Scop, value: Expr) -> isl.PwAff:
    """A value, as a function of the parameters alone."""
    space = NestSpace.of(scop, LoopNest(Block(())))
    return space.piecewise(value, space.outside()).project_domain_on_params()

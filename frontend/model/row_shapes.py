"""Either kind of rows that arrays of one dimension hold."""

from __future__ import annotations

from typing import Any, Protocol

import islpy as isl

from scopt.frontend.model.delinearize import Shape, parts_of
from scopt.frontend.model.subscript_reading import Subscript
from scopt.frontend.model.triangles import Triangle, parts_of_triangle

RowShape = Shape | Triangle


class Divided(Protocol):
    """A subscript for each dimension, as C expressions, and the parameter set where that is right."""

    @property
    def nodes(self) -> tuple[Any, ...]: ...

    @property
    def holds(self) -> isl.Set: ...


def divided(subscript: Subscript, shape: RowShape) -> Divided | None:
    """A subscript in a shape's dimensions; None if it doesn't fit."""
    return parts_of_triangle(subscript, shape) if isinstance(shape, Triangle) else parts_of(subscript, shape)

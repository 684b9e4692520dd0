"""What is wrong with a text, before it is known which function and configuration it was found in."""

from __future__ import annotations


class Fault(Exception):
    """The text isn't understood, has undefined behaviour, or computes something else than it should. The message says
    what.
    """

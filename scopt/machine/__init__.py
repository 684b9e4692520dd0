"""The processor that code is made for: its model, files that describe it, what the running system tells, the costs."""

from scopt.machine.processor import DEFAULT, Cache, Machine

__all__ = ["DEFAULT", "Cache", "Machine"]

"""What a construction does about an influence constraint tree, as remarks."""

from __future__ import annotations

from dataclasses import dataclass, field

from scopt.diagnostics import Location, Remark


@dataclass(slots=True)
class Journal:
    """Collects remarks ``influence.…`` of one construction, in order."""

    location: Location
    remarks: list[Remark] = field(default_factory=list)

    def __call__(self, event: str, message: str) -> None:
        self.remarks.append(Remark("analysis", f"influence.{event}", message, self.location))

    def clear(self) -> None:
        self.remarks.clear()

"""What a construction does about an influence constraint tree, as remarks."""

from __future__ import annotations

from msgspec import Struct, field

from scopt.diagnostics import Location, Remark
from scopt.scheduler.influence.influence_tree import InfluenceNode


class Journal(Struct):
    """Collects remarks ``influence.…`` of one construction, in order. scenario: the nodes of the one that holds."""

    location: Location
    remarks: list[Remark] = field(default_factory=list)
    scenario: tuple[InfluenceNode, ...] = ()

    def reach(self, path: tuple[InfluenceNode, ...]) -> None:
        self.scenario = path

    def __call__(self, event: str, message: str) -> None:
        self.remarks.append(Remark("analysis", f"influence.{event}", message, self.location))

    def clear(self) -> None:
        self.remarks.clear()
        self.scenario = ()

"""Whether one loop around two nests would take strips of rows from them.

Strips come to a nest as a whole. Beside one that has no use for them (vector loops along the rows, straight code) a
recurrence would go back to run one row at a time, which lines that come once don't make up for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import islpy as isl

from scopt.scheduler.decisions.setting import Setting
from scopt.scheduler.decisions.strip_building import Rows
from scopt.scheduler.decisions.strip_trees import is_leaf_band
from scopt.scheduler.decisions.strips import best_rows


def loses_strips(
    setting: Setting,
    nests: Sequence[isl.ScheduleNode],
    both: isl.ScheduleNode,
    later: Callable[[isl.ScheduleNode], isl.ScheduleNode] | None,
) -> bool:
    """Whether strips of rows are the best that can become of one of two nests with loops inside, and not of both as
    one, or by another member than their first one of one of them alone. later: what a nest is when strips are decided;
    None where only the latter is asked. setting: with reductions in their order."""
    asked = [not is_leaf_band(one) and (later is not None or int(one.band_n_member()) > 1) for one in nests]
    found = [_in_strips(setting, one) if is_asked else None for one, is_asked in zip(nests, asked, strict=True)]
    inner = [rows is not None and rows.members[0] > 0 for rows in found]
    if inner[0] != inner[1]:
        return True
    if later is None or not any(found):
        return False
    lost = any(_in_strips(setting, later(one)) for one, rows in zip(nests, found, strict=True) if rows)
    return lost and not _in_strips(setting, later(both))


def _in_strips(setting: Setting, node: isl.ScheduleNode) -> Rows | None:
    rows = best_rows(setting, node)
    return None if rows is None or rows.together or rows.alone else rows

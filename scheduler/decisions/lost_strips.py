"""Whether one loop around two nests would take strips of rows from them.

Strips come to a nest as a whole. Beside one that has no use for them (vector loops along the rows, straight code) a
recurrence would go back to run one row at a time, which lines that come once don't make up for.
"""

from __future__ import annotations

import islpy as isl

from scopt.scheduler.decisions.setting import Setting
from scopt.scheduler.decisions.strip_trees import is_leaf_band
from scopt.scheduler.decisions.strips import best_rows

_SEVERAL = 2


def loses_strips(
    setting: Setting, first: isl.ScheduleNode, second: isl.ScheduleNode, both: isl.ScheduleNode, *, parallel: bool
) -> bool:
    """Whether strips of rows are the best that can become of one of two nests with loops inside, and not of both as
    one. parallel: whether both carry nothing. setting: with reductions in their order."""
    nests = [one for one in (first, second) if not is_leaf_band(one)]
    if not nests:
        return False
    inner = [has_inner_strips(setting, one) if one in nests else False for one in (first, second)]
    if inner[0] != inner[1]:
        return True
    return parallel and any(_in_strips(setting, one) for one in nests) and not _in_strips(setting, both)


def has_inner_strips(setting: Setting, node: isl.ScheduleNode) -> bool:
    """Whether strips of rows that another member than a nest's first one walks through are the best that can become of
    it: around its first member alone there are none. setting: with reductions in their order."""
    if int(node.band_n_member()) < _SEVERAL:
        return False
    rows = best_rows(setting, node)
    return rows is not None and not (rows.together or rows.alone) and rows.members[0] > 0


def _in_strips(setting: Setting, node: isl.ScheduleNode) -> bool:
    rows = best_rows(setting, node)
    return rows is not None and not (rows.together or rows.alone)

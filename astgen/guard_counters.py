"""Counts how often guards hold and fail, in the program itself:
for those who want to know which of them are worth their loops."""

from __future__ import annotations

from scopt.diagnostics import Location

# Where the numbers go is asked for when the program ends.
# Each file of a program has its own function, and appends in one piece.
_TELL = """\
#include <stdio.h>
char *(getenv)(const char *);
static void scopt_guard_told(const char *place, unsigned long held, unsigned long failed)
{
  const char *name = (getenv)("SCOPT_GUARDS");
  FILE *file = name ? fopen(name, "a") : stderr;
  if (file && held + failed) fprintf(file, "%s: guard: held %lu, failed %lu\\n", place, held, failed);
  if (file && name) fclose(file);
}
"""
_COUNTED = """\
static unsigned long NAME_count[2];
__attribute__((destructor)) static void NAME_told(void) { scopt_guard_told("PLACE", NAME_count[1], NAME_count[0]); }
static int NAME(int holds) { __atomic_fetch_add(&NAME_count[holds], 1, __ATOMIC_RELAXED); return holds; }
"""


def counter_name(location: Location) -> str:
    """The function that counts for the guard of the region at a place."""
    return f"scopt_guard_{location.line}_{location.column}"


def counter_definitions(location: Location) -> tuple[str, ...]:
    """What defines it: for the whole file, and for this guard. GNU C; the program needs a library of C."""
    place = str(location).replace("\\", "\\\\").replace('"', '\\"')
    return _TELL, _COUNTED.replace("NAME", counter_name(location)).replace("PLACE", place)

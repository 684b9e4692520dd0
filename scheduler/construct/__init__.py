"""Schedulers: the construction of schedules, dimension by dimension."""

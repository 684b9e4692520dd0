"""`scopt-explore`: schedules sampled from a program's schedule space,
built, checked, measured, and kept in a database."""

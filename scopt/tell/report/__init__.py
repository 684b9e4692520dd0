"""The page that `scopt --report` writes: what happened to each loop of a file, and why.

`collect` gathers what can be shown of one region while its integer sets are at hand (`view` says what that is); `page`
makes HTML of it, with the source (`source`), the dependence graph (`graph`), drawings of iteration domains (`domains`,
`drawing`) and schedule trees (`tree`).
"""

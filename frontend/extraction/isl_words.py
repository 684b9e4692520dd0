"""Words that isl's own syntax gives a meaning to: parameters and arrays with these names need
another name inside isl."""

ISL_WORDS = frozenset(
    """
        exists mod min max floor ceil and or not true false implies rat infty infinity nan floord ceild eval lex_le
        lex_lt
    """.split()
)

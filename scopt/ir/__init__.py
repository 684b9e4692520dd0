"""The program in all its forms: C, SCoP, marked schedule, loop nest; what walks through them and rewrites them."""

"""What has to hold before anything is written, said of the text that will be written.

The regions' loops are read back and compared by `scopt.astgen`. Here are the functions that stand in front of the
user's: kernels of register tiles, copies that transpose, and small helpers. Their text is run, by an interpreter of its
own for the C that they are written in, on symbolic values: two results are the same only if the same operations were
applied in the same order to the same inputs. The scheduler, the generators of these functions and what they print are
not trusted; what is are pycparser, this interpreter, and the data that say what is meant.
"""

"""What compilers tell of the processor that they compile for, and Linux of the one that it runs on.

Emitted functions leave it to the compiler which vectors there are: its macros choose among forms for all of these.
Sources: the manuals of the instruction sets (Intel 64 and IA-32; Arm), the predefined macros of gcc and clang.
"""

from __future__ import annotations

# Bytes of the longest vectors, by the macro that says so, best first;
# without any of these macros, what all targets have.
VECTORS = (("__AVX512F__", 64), ("__AVX__", 32), ("", 16))
LONGEST_VECTOR, SHORTEST_VECTOR = VECTORS[0][1], VECTORS[-1][1]
# What a target has to have for shuffles of two vectors of so many bytes.
SHUFFLES = {64: "__AVX512F__", 32: "__AVX2__"}
# Targets with many vector registers, by their macros; how many these have, and how many others.
WITH_MANY_REGISTERS = ("__AVX512F__", "__aarch64__")
MANY_REGISTERS, FEW_REGISTERS = 32, 16
# Vectors by the processor's flags as Linux lists them, best first: bytes, registers.
FLAGS = (("avx512f", 64, 32), ("avx", 32, 16), ("sse2", 16, 16), ("asimd", 16, 32), ("neon", 16, 16))

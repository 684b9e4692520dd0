"""What compilers tell of the processor that they compile for, and Linux of the one that it runs on.

Emitted functions leave it to the compiler which vectors there are: its macros choose among forms for all of these.
Sources: the manuals of the instruction sets (Intel 64 and IA-32; Arm), the predefined macros of gcc and clang.
"""

from __future__ import annotations

# Bytes of the longest vectors, by the macro that says so, best first;
# without any of these macros, what all targets have.
VECTORS = (("__AVX512F__", 64), ("__AVX__", 32), ("", 16))
LONGEST_VECTOR, SHORTEST_VECTOR = VECTORS[0][1], VECTORS[-1][1]
# What a target has to have for shuffles of two vectors of so many bytes, and for integers in there.
SHUFFLES = {64: "__AVX512F__", 32: "__AVX2__"}
# Numbers of 16 bits that an instruction multiplies and adds for a lane of 32 (PMADDWD, VPDPWSSD), as often in a cycle
# as others multiply numbers of 32 bits, or twice as often (Fog, "Instruction tables").
PAIRED = 2
# Vectors in which numbers of 16 bits can be multiplied in pairs, whose products are added up: by macro, best first.
PAIR_VECTORS = (("__AVX512BW__", 64), ("__AVX2__", 32), ("", 16))
# How compilers call that: the condition, the vectors' bytes, and ``c + x * y`` for vectors of sums (`$_v`), one pair,
# and vectors of pairs (`$_y`). clang makes one instruction of both where there is one.
_PAIR = "($_y)(($_v){0} + (unsigned int)x), y"
PAIRS = (
    (
        "defined(__AVX512BW__) && defined(__AVX512VNNI__) && !defined(__clang__)",
        64,
        "($_v)__builtin_ia32_vpdpwssd_v16si(($_i)c, ($_i)(($_v){0} + (unsigned int)x), ($_i)y)",
    ),
    (
        "defined(__AVX512BW__) && !defined(__clang__)",
        64,
        f"c + ($_v)__builtin_ia32_pmaddwd512_mask({_PAIR}, ($_i){{0}}, -1)",
    ),
    ("defined(__AVX512BW__)", 64, f"c + ($_v)__builtin_ia32_pmaddwd512({_PAIR})"),
    ("defined(__AVX2__)", 32, f"c + ($_v)__builtin_ia32_pmaddwd256({_PAIR})"),
    ("defined(__SSE2__)", 16, f"c + ($_v)__builtin_ia32_pmaddwd128({_PAIR})"),
)
# Targets with many vector registers, by their macros; how many these have, and how many others.
WITH_MANY_REGISTERS = ("__AVX512F__", "__aarch64__")
MANY_REGISTERS, FEW_REGISTERS = 32, 16
# Vectors by the processor's flags as Linux lists them, best first: bytes, registers.
FLAGS = (("avx512f", 64, 32), ("avx", 32, 16), ("sse2", 16, 16), ("asimd", 16, 32), ("neon", 16, 16))
# What adds up the absolute differences of the bytes of two vectors, eight for each sum of 64 bits (PSADBW), as gcc and
# clang call it: the macro of the targets that have it, the vectors' bytes, and the function; best first.
DISTANCES = (("__AVX2__", 32, "__builtin_ia32_psadbw256"), ("__SSE2__", 16, "__builtin_ia32_psadbw128"))

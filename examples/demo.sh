#!/usr/bin/env bash
# Optimizes gemm.c, compiles it with and without, checks that both give the same bits, times them, and shows the emitted loops.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cc=${CC:-cc}
# Contraction into fused multiply-adds rounds differently wherever the compiler finds one: off, so that the results can be compared exactly.
flags="-O3 -march=native -ffp-contract=off"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
fastest() { for _ in 1 2 3; do "$1" 2>&1 >/dev/null; done | sort -n | head -1; }

say "scopt examples/gemm.c -o gemm.opt.c"
scopt --cc "$cc" "$here/gemm.c" -o "$work/gemm.opt.c"

say "$cc $flags gemm.c;  $cc $flags -fopenmp gemm.opt.c"
# shellcheck disable=SC2086
"$cc" $flags "$here/gemm.c" -o "$work/gemm"
# shellcheck disable=SC2086
"$cc" $flags -fopenmp "$work/gemm.opt.c" -o "$work/gemm.opt"

say "What the loops have become"
sed -n '/#pragma scop/,/#pragma endscop/p' "$work/gemm.opt.c"

say "The same results?"
"$work/gemm" >"$work/expected" 2>/dev/null
"$work/gemm.opt" >"$work/actual" 2>/dev/null
if ! cmp "$work/expected" "$work/actual"; then
    echo "the results differ" >&2
    exit 1
fi
echo "yes, bit for bit ($(wc -l <"$work/expected") values compared)"

say "How long do they take? (the best of 3 runs)"
before=$(fastest "$work/gemm")
after=$(fastest "$work/gemm.opt")
awk -v a="$before" -v b="$after" 'BEGIN { printf "before %.3f s, after %.3f s: %.1f times as fast\n", a, b, a / b }'

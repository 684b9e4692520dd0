/* viterbi: likeliest states of a hidden Markov model in logarithms: scores step by step, with back-pointers that
   are followed in the end. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef NT
#define NT DATASET(8, 80, 150, 400, 1600)
#endif
#ifndef NS
#define NS DATASET(9, 40, 90, 200, 200)
#endif
#define _PB_NT POLYBENCH_LOOP_BOUND(NT, nt)
#define _PB_NS POLYBENCH_LOOP_BOUND(NS, ns)

static void initialize(int nt, int ns, DATA_TYPE POLYBENCH_2D(transition, NS, NS, ns, ns),
                       DATA_TYPE POLYBENCH_2D(emission, NT, NS, nt, ns))
{
    for (int s = 0; s < ns; s++)
        for (int r = 0; r < ns; r++)
            transition[s][r] = -4 * UNIT(s, r);
    for (int t = 0; t < nt; t++)
        for (int s = 0; s < ns; s++)
            emission[t][s] = -8 * UNIT(t, s + 3000);
}

static void dump(int nt, int ns, DATA_TYPE POLYBENCH_2D(score, NT, NS, nt, ns), int POLYBENCH_1D(path, NT, nt))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, score, nt, ns);
    DUMP_1D(INT, path, nt);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_viterbi(int nt, int ns, DATA_TYPE POLYBENCH_2D(transition, NS, NS, ns, ns),
                           DATA_TYPE POLYBENCH_2D(emission, NT, NS, nt, ns),
                           DATA_TYPE POLYBENCH_2D(score, NT, NS, nt, ns), int POLYBENCH_2D(from, NT, NS, nt, ns),
                           int POLYBENCH_1D(path, NT, nt))
{
#pragma scop
    for (int s = 0; s < _PB_NS; s++)
        score[0][s] = emission[0][s];
    for (int t = 1; t < _PB_NT; t++)
        for (int s = 0; s < _PB_NS; s++) {
            DATA_TYPE best = score[t - 1][0] + transition[0][s];
            int at = 0;
            for (int r = 1; r < _PB_NS; r++) {
                DATA_TYPE candidate = score[t - 1][r] + transition[r][s];
                if (candidate > best) {
                    best = candidate;
                    at = r;
                }
            }
            score[t][s] = best + emission[t][s];
            from[t][s] = at;
        }
    path[_PB_NT - 1] = 0;
    for (int s = 1; s < _PB_NS; s++)
        if (score[_PB_NT - 1][s] > score[_PB_NT - 1][path[_PB_NT - 1]])
            path[_PB_NT - 1] = s;
    for (int t = _PB_NT - 1; t > 0; t--)
        path[t - 1] = from[t][path[t]];
#pragma endscop
}

int main(int argc, char **argv)
{
    int nt = NT, ns = NS;
    POLYBENCH_2D_ARRAY_DECL(transition, DATA_TYPE, NS, NS, ns, ns);
    POLYBENCH_2D_ARRAY_DECL(emission, DATA_TYPE, NT, NS, nt, ns);
    POLYBENCH_2D_ARRAY_DECL(score, DATA_TYPE, NT, NS, nt, ns);
    POLYBENCH_2D_ARRAY_DECL(from, int, NT, NS, nt, ns);
    POLYBENCH_1D_ARRAY_DECL(path, int, NT, nt);

    initialize(nt, ns, POLYBENCH_ARRAY(transition), POLYBENCH_ARRAY(emission));
    polybench_start_instruments;
    kernel_viterbi(nt, ns, POLYBENCH_ARRAY(transition), POLYBENCH_ARRAY(emission), POLYBENCH_ARRAY(score),
                   POLYBENCH_ARRAY(from), POLYBENCH_ARRAY(path));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(nt, ns, POLYBENCH_ARRAY(score), POLYBENCH_ARRAY(path)));
    POLYBENCH_FREE_ARRAY(transition);
    POLYBENCH_FREE_ARRAY(emission);
    POLYBENCH_FREE_ARRAY(score);
    POLYBENCH_FREE_ARRAY(from);
    POLYBENCH_FREE_ARRAY(path);
    return 0;
}

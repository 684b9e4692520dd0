/* odd-even-sort: rows sorted by odd-even transposition, for rows of some dozens of 16-bit numbers. */
#include "general.h"

#ifndef ROWS
#define ROWS DATASET(20, 300, 3000, 30000, 120000)
#endif
#ifndef LENGTH
#define LENGTH DATASET(9, 16, 32, 32, 32)
#endif
#define _PB_ROWS POLYBENCH_LOOP_BOUND(ROWS, rows)
#define _PB_LENGTH POLYBENCH_LOOP_BOUND(LENGTH, length)

static void initialize(int rows, int length, unsigned short POLYBENCH_2D(row, ROWS, LENGTH, rows, length))
{
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < length; i++)
            row[r][i] = (unsigned short)noise(r, i);
}

static void dump(int rows, int length, unsigned short POLYBENCH_2D(row, ROWS, LENGTH, rows, length))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, row, rows, length);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_odd_even_sort(int rows, int length, unsigned short POLYBENCH_2D(row, ROWS, LENGTH, rows, length))
{
#pragma scop
    for (int r = 0; r < _PB_ROWS; r++)
        for (int round = 0; round < _PB_LENGTH; round++)
            for (int i = round % 2; i < _PB_LENGTH - 1; i += 2)
                if (row[r][i] > row[r][i + 1]) {
                    unsigned short larger = row[r][i];
                    row[r][i] = row[r][i + 1];
                    row[r][i + 1] = larger;
                }
#pragma endscop
}

int main(int argc, char **argv)
{
    int rows = ROWS, length = LENGTH;
    POLYBENCH_2D_ARRAY_DECL(row, unsigned short, ROWS, LENGTH, rows, length);

    initialize(rows, length, POLYBENCH_ARRAY(row));
    polybench_start_instruments;
    kernel_odd_even_sort(rows, length, POLYBENCH_ARRAY(row));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(rows, length, POLYBENCH_ARRAY(row)));
    POLYBENCH_FREE_ARRAY(row);
    return 0;
}

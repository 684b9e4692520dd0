/* crc32: the CRC of each of many packets of bytes, bit by bit, without a table. */
#include "general.h"

#ifndef PACKETS
#define PACKETS DATASET(52, 200, 630, 2000, 4000)
#endif
#ifndef LENGTH
#define LENGTH DATASET(26, 100, 320, 1000, 2000)
#endif
#define _PB_PACKETS POLYBENCH_LOOP_BOUND(PACKETS, packets)
#define _PB_LENGTH POLYBENCH_LOOP_BOUND(LENGTH, length)

static void initialize(int packets, int length, unsigned char POLYBENCH_2D(data, PACKETS, LENGTH, packets, length))
{
    for (int p = 0; p < packets; p++)
        for (int i = 0; i < length; i++)
            data[p][i] = (unsigned char)(noise(p, i) % 256);
}

static void dump(int packets, unsigned POLYBENCH_1D(crc, PACKETS, packets))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(INT, crc, packets);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_crc32(int packets, int length, unsigned char POLYBENCH_2D(data, PACKETS, LENGTH, packets, length),
                         unsigned POLYBENCH_1D(crc, PACKETS, packets))
{
#pragma scop
    for (int p = 0; p < _PB_PACKETS; p++) {
        unsigned c = 0xffffffffu;
        for (int i = 0; i < _PB_LENGTH; i++) {
            c ^= data[p][i];
            for (int bit = 0; bit < 8; bit++)
                c = c >> 1 ^ (0xedb88320u & -(c & 1));
        }
        crc[p] = ~c;
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int packets = PACKETS, length = LENGTH;
    POLYBENCH_2D_ARRAY_DECL(data, unsigned char, PACKETS, LENGTH, packets, length);
    POLYBENCH_1D_ARRAY_DECL(crc, unsigned, PACKETS, packets);

    initialize(packets, length, POLYBENCH_ARRAY(data));
    polybench_start_instruments;
    kernel_crc32(packets, length, POLYBENCH_ARRAY(data), POLYBENCH_ARRAY(crc));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(packets, POLYBENCH_ARRAY(crc)));
    POLYBENCH_FREE_ARRAY(data);
    POLYBENCH_FREE_ARRAY(crc);
    return 0;
}

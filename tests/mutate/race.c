/* Finds data races in loops that claim to be parallel, or vector loops, while they run one iteration after the other: the program is compiled with
   -fsanitize=thread, whose calls before each access of memory lead here. Two iterations of one execution of a loop must not touch the same byte, unless
   both only read it; what each iteration has a copy of, and what is reduced, apart. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEPTH = 8, RANGES = 256, CELLS = 1 << 22 };
struct cell { uintptr_t address; long execution, writer, reader; int many; };
struct loop { long execution, iteration; int parallel, ranges; char *frame; };
struct range { char *start, *end; };

static struct cell *cells[DEPTH];
static struct loop loops[DEPTH];
static struct range ranges[RANGES];
static int depth, count, found;
static long executions;

static void touch(char *address, long size, int writes)
{
  if (!depth)
    return;
  for (int k = 0; k < count; k++)
    if (ranges[k].start <= address && address < ranges[k].end)
      return;
  for (int level = 0; level < depth && level < DEPTH; level++) {
    struct loop *loop = &loops[level];
    char here;
    if (address >= &here && address < loop->frame)
      continue;
    if (!cells[level])
      cells[level] = calloc(CELLS, sizeof *cells[level]);
    for (long k = 0; k < size; k++) {
      uintptr_t own = (uintptr_t)(address + k);
      unsigned long place = own * 0x9E3779B97F4A7C15u >> 42;
      struct cell *cell = &cells[level][place];
      while (cell->address != own && cell->execution == loop->execution) {
        place = (place + 1) % CELLS;
        cell = &cells[level][place];
      }
      if (cell->execution != loop->execution)
        *cell = (struct cell){own, loop->execution, -1, -1, 0};
      int clash = (cell->writer >= 0 && cell->writer != loop->iteration)
        || (writes && cell->reader >= 0 && (cell->many || cell->reader != loop->iteration));
      if (clash && !found++)
        printf("data race\n");
      if (writes)
        cell->writer = loop->iteration;
      else {
        cell->many |= cell->reader >= 0 && cell->reader != loop->iteration;
        cell->reader = loop->iteration;
      }
    }
  }
}

void race_begin(int parallel, char *frame)
{
  if (depth < DEPTH)
    loops[depth] = (struct loop){++executions, -1, parallel, count, frame};
  depth++;
}

void race_iteration(void)
{
  if (depth <= DEPTH) {
    loops[depth - 1].iteration++;
    count = loops[depth - 1].ranges;
  }
}

void race_own(void *start, long size)
{
  if (count < RANGES)
    ranges[count++] = (struct range){start, (char *)start + size};
}

void race_end(void)
{
  depth--;
  if (depth < DEPTH)
    count = loops[depth].ranges;
}

int omp_get_max_threads(void) { return 64; }

int omp_get_thread_num(void)
{
  for (int level = 0; level < depth && level < DEPTH; level++)
    if (loops[level].parallel)
      return loops[level].iteration % 64;
  return 0;
}

#define ACCESSES(bytes) \
  void __tsan_read##bytes(void *p) { touch(p, bytes, 0); } \
  void __tsan_write##bytes(void *p) { touch(p, bytes, 1); } \
  void __tsan_unaligned_read##bytes(void *p) { touch(p, bytes, 0); } \
  void __tsan_unaligned_write##bytes(void *p) { touch(p, bytes, 1); } \
  void __tsan_volatile_read##bytes(void *p) { touch(p, bytes, 0); } \
  void __tsan_volatile_write##bytes(void *p) { touch(p, bytes, 1); }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
void __tsan_read_range(void *p, long size) { touch(p, size, 0); }
void __tsan_write_range(void *p, long size) { touch(p, size, 1); }
void __tsan_init(void) {}
void __tsan_func_entry(void *p) { (void)p; }
void __tsan_func_exit(void) {}

#include "live.h"

enum { FIRST_BITS = 10 };

static void take_memory(Live *live, unsigned bits) {
  live->blocks = calloc((size_t)1 << bits, sizeof *live->blocks);
  if (live->blocks == NULL) abort();
  live->mask = ((uint64_t)1 << bits) - 1;
  live->shift = 64 - bits;
}

void live_clear(Live *live) {
  if (live->blocks == NULL) take_memory(live, FIRST_BITS);
  else memset(live->blocks, 0, (live->mask + 1) * sizeof *live->blocks);
  live->count = 0;
}

void live_grow(Live *live) {
  Live old = *live;
  take_memory(live, 64 - old.shift + 1);
  for (uint64_t slot = 0; slot <= old.mask; slot++) {
    if (old.blocks[slot].used != 0) *live_find(live, old.blocks[slot].key) = old.blocks[slot];
  }
  free(old.blocks);
}

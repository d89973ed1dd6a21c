/* The live blocks of a trace by a 64-bit key: open addressing, linear probing, deletion that shifts back. */
#pragma once
#include "columns.h"

typedef struct {
  uint64_t key, address, size, used;
} Block;

typedef struct {
  Block *blocks;
  uint64_t mask;
  unsigned shift;
  uint64_t count;
} Live;

void live_clear(Live *live);
void live_grow(Live *live);

static inline uint64_t live_home(const Live *live, uint64_t key) {
  return (key * 0x9e3779b97f4a7c15) >> live->shift;
}

/* The block with this key, or the unused slot for it. */
static inline Block *live_find(const Live *live, uint64_t key) {
  uint64_t slot = live_home(live, key);
  while (live->blocks[slot].used != 0 && live->blocks[slot].key != key) slot = (slot + 1) & live->mask;
  return &live->blocks[slot];
}

static inline void live_put(Live *live, uint64_t key, uint64_t address, uint64_t size) {
  Block *block = live_find(live, key);
  bool is_new = block->used == 0;
  *block = (Block){ key, address, size, 1 };
  if (is_new && unlikely(++live->count * 4 > live->mask)) live_grow(live);
}

static inline void live_remove(Live *live, Block *block) {
  uint64_t hole = (uint64_t)(block - live->blocks);
  for (uint64_t next = (hole + 1) & live->mask; live->blocks[next].used != 0; next = (next + 1) & live->mask) {
    uint64_t home = live_home(live, live->blocks[next].key);
    if (((next - home) & live->mask) < ((next - hole) & live->mask)) continue;
    live->blocks[hole] = live->blocks[next];
    hole = next;
  }
  live->blocks[hole].used = 0;
  live->count--;
}

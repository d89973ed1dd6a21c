/* What is written to blocks, and whether it is still there. */
#ifndef CONTENTS_H
#define CONTENTS_H

#include <stdint.h>
#include <string.h>

enum touch { TOUCH_NONE, TOUCH_FIRST, TOUCH_PAGE, TOUCH_ALL };
#define PAGE 4096u

/* Writes to bytes `from` to `to` of a block. */
static inline __attribute__((always_inline)) void touch(char *block, uint64_t from, uint64_t to, int how) {
  if (how == TOUCH_NONE || from >= to) return;
  if (how == TOUCH_ALL) {
    memset(block + from, 0x5a, to - from);
    return;
  }
  if (from == 0) *(volatile char *)block = 1;
  if (how == TOUCH_FIRST) return;
  uintptr_t page = ((uintptr_t)block + from + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
  for (; page < (uintptr_t)block + to; page += PAGE) *(volatile char *)page = 1;
}

/* Byte i of the contents of a block, which is different in each slot and for each size. */
static uint64_t seed_of(uint32_t slot, uint64_t size) {
  return ((uint64_t)slot + 1) * 0x9E3779B97F4A7C15u ^ size * 0xD6E8FEB86659FD93u;
}

static void fill(void *block, uint64_t size, uint64_t seed) {
  char *p = block;
  uint64_t i = 0;
  for (; i + 8 <= size; i += 8) {
    uint64_t word = seed + i * 0xA24BAED4963EE407u;
    memcpy(p + i, &word, 8);
  }
  for (; i < size; i++) p[i] = (char)(seed + i);
}

/* Whether the first `size` bytes of a block that was filled for `whole` bytes are as they were. */
static int is_intact(const void *block, uint64_t size, uint64_t whole, uint64_t seed) {
  const char *p = block;
  uint64_t i = 0, wrong = 0;
  for (; i + 8 <= size; i += 8) {
    uint64_t word;
    memcpy(&word, p + i, 8);
    wrong |= word ^ (seed + i * 0xA24BAED4963EE407u);
  }
  /* The last bytes of a block that was cut short belong to a word. */
  if (i + 8 <= whole) return wrong == 0;
  for (; i < size; i++) wrong |= (uint64_t)(unsigned char)p[i] ^ (unsigned char)(seed + i);
  return wrong == 0;
}

static int is_zero(const char *block, uint64_t size) {
  char all = 0;
  for (uint64_t i = 0; i < size; i++) all |= block[i];
  return all == 0;
}

#endif

/*
 * Hash tables of the reader: open addressing, of two keys; the number 0 is none.
 */
#ifndef HEAPFLOW_RECORDER_TABLES_H
#define HEAPFLOW_RECORDER_TABLES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct entry {
  uint64_t key;
  uint32_t parent, number;
};
struct table {
  struct entry *entries;
  size_t size, used;
};

static void *allocated(void *memory) {
  if (memory == NULL) {
    fprintf(stderr, "heapflow: out of memory for the stacks of the recording\n");
    _exit(1);
  }
  return memory;
}

static void *allocate(void *memory, size_t size) { return allocated(realloc(memory, size)); }
static void *allocate_zeros(size_t size) { return allocated(calloc(1, size)); }

static inline uint64_t hash(uint64_t key, uint32_t parent) {
  uint64_t h = (key ^ (uint64_t)parent * 0xd6e8feb86659fd93ull) * 0x9e3779b97f4a7c15ull;
  return h >> 32;
}

static void grow(struct table *table) {
  struct table old = *table;
  table->size = old.size == 0 ? 4096 : 2 * old.size;
  table->entries = allocate(NULL, table->size * sizeof *table->entries);
  memset(table->entries, 0, table->size * sizeof *table->entries);
  for (size_t i = 0; i < old.size; i++) {
    if (old.entries[i].number == 0) continue;
    size_t at = hash(old.entries[i].key, old.entries[i].parent) & (table->size - 1);
    while (table->entries[at].number != 0) at = (at + 1) & (table->size - 1);
    table->entries[at] = old.entries[i];
  }
  free(old.entries);
}

/* The entry of a key, which has the number 0 if it is new, and gets another one then. */
static struct entry *entry_of(struct table *table, uint64_t key, uint32_t parent) {
  if (table->used * 2 >= table->size) grow(table);
  size_t at = hash(key, parent) & (table->size - 1);
  for (;; at = (at + 1) & (table->size - 1)) {
    struct entry *entry = &table->entries[at];
    if (entry->number == 0) {
      entry->key = key;
      entry->parent = parent;
      table->used++;
      return entry;
    }
    if (entry->key == key && entry->parent == parent) return entry;
  }
}

#endif

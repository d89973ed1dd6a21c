/*
 * Batches of events in columns, with the layout of lib/event/batch.ts, and functions that the loops of all formats
 * share.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_EVENTS 4096
/* A batch is closed when its strings take this many bytes. */
#define BATCH_STRING_BYTES 262144
/* The number of readable bytes after the end of the input. */
#define PADDING 256

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

typedef enum { U64, ADDRESS, U32, I32, API, OUTCOME, STRING, LIST, BYTES, JSON } FieldType;

/* The fields in the order of lib/event/fields.ts, which is that of their bits in a mask. */
#define FIELDS(F) \
  F(api, API, uint8_t) F(process, U64, uint64_t) F(thread, U64, uint64_t) F(cpu, I32, int32_t) F(node, I32, int32_t) \
  F(sequence, I32, int32_t) F(time, U64, uint64_t) F(endTime, U64, uint64_t) F(heap, ADDRESS, uint64_t) \
  F(index, U64, uint64_t) F(address, ADDRESS, uint64_t) F(oldAddress, ADDRESS, uint64_t) F(size, U64, uint64_t) \
  F(count, U64, uint64_t) F(elementSize, U64, uint64_t) F(alignment, U64, uint64_t) F(usable, U64, uint64_t) \
  F(present, U64, uint64_t) F(gfpFlags, U32, uint32_t) F(callSite, ADDRESS, uint64_t) F(outcome, OUTCOME, uint8_t) \
  F(function, STRING, uint32_t) F(file, STRING, uint32_t) F(line, U32, uint32_t) F(type, STRING, uint32_t) \
  F(stack, LIST, uint32_t) F(text, STRING, uint32_t) F(attributes, BYTES, uint32_t) F(code, U32, uint32_t) \
  F(fields, JSON, uint32_t)

enum {
#define F(name, type, of) FIELD_##name,
  FIELDS(F)
#undef F
  FIELD_COUNT
};
enum {
#define F(name, type, of) HAS_##name = 1 << FIELD_##name,
  FIELDS(F)
#undef F
};

typedef enum {
  ALLOC, FREE, REALLOC, EXISTING, RESERVE, HEAP_CREATE, HEAP_DESTROY, THREAD_CREATE, THREAD_DESTROY, COMMENT, LOST, OTHER,
  KIND_COUNT
} Kind;
enum {
  API_MALLOC, API_CALLOC, API_MEMALIGN, API_REALLOC, API_FREE, API_NEW, API_DELETE, API_KMALLOC, API_KFREE,
  API_KMEM_CACHE_ALLOC, API_KMEM_CACHE_FREE, API_PAGES, API_COUNT
};
enum { OUTCOME_NONE, OUTCOME_MOVED, OUTCOME_ALLOCATED, OUTCOME_FREED, OUTCOME_COUNT };

enum { STRING_SLOTS = 16384 };

/* The strings of a batch, each distinct one once. */
typedef struct {
  uint8_t *bytes;
  size_t used, room;
  uint32_t count;
  /* String i has bytes[starts[i]..starts[i + 1]). */
  uint32_t starts[STRING_SLOTS + 1];
  uint32_t hashes[STRING_SLOTS];
  uint16_t chain[STRING_SLOTS];
  /* By hash, 1 + the string interned last. */
  uint16_t heads[2048];
} Strings;

/* Columns of the same size would begin at the same offset in a page and evict each other from the cache. */
#define STAGGER 72

typedef struct {
  /* How many events there are. */
  uint32_t events;
  _Alignas(64) uint8_t kind[BATCH_EVENTS + STAGGER];
  _Alignas(64) uint32_t mask[BATCH_EVENTS + STAGGER];
#define F(name, type, of) _Alignas(64) of name[BATCH_EVENTS + STAGGER];
  FIELDS(F)
#undef F
  Strings strings;
} Batch;

/* Input, complete or a piece of it. PADDING bytes after `end` are readable. */
typedef struct {
  const uint8_t *pos, *end;
  /* Nothing comes behind `end`. */
  bool last;
  /* The fault at `pos`, or NULL. */
  const char *fault;
} Input;

/* Output, which is delivered when it exceeds OUTPUT_BYTES. MARGIN more bytes can always be written. */
enum { OUTPUT_BYTES = 131072, MARGIN = 131072 };
typedef struct Output {
  uint8_t bytes[OUTPUT_BYTES + MARGIN];
  /* All bytes given out. */
  uint64_t total;
  void (*give)(struct Output *, size_t);
  void *target;
} Output;

static inline uint8_t *give(Output *out, uint8_t *at) {
  out->give(out, (size_t)(at - out->bytes));
  return out->bytes;
}

/* Ensures room for MARGIN bytes at `at`. */
static inline uint8_t *room(Output *out, uint8_t *at) {
  return unlikely(at > out->bytes + OUTPUT_BYTES) ? give(out, at) : at;
}

/* One format: its two loops, and the size of their state between batches. */
typedef struct {
  const char *name;
  size_t reader_size;
  void (*begin_reading)(void *reader);
  /* Reads events into an empty batch, until it is full, the input is used up, or there is a fault. */
  void (*read)(void *reader, Input *input, Batch *batch);
  size_t writer_size;
  void (*begin_writing)(void *writer);
  /* Writes a batch. Returns the fault, or NULL. */
  const char *(*write)(void *writer, const Batch *batch, Output *out);
  /* Writes the end of the output after the last batch. */
  void (*end_writing)(void *writer, Output *out);
} Format;

extern const Format mtrc, mtrc_unresolved, replay, hatf, kmemtrace, ndjson;

static inline void clear_strings(Strings *strings) {
  if (strings->count == 0) return;
  strings->count = 0;
  strings->used = 0;
  memset(strings->heads, 0, sizeof strings->heads);
}

static inline uint32_t string_length(const Strings *strings, uint32_t id) {
  return strings->starts[id + 1] - strings->starts[id];
}

/*
 * The id of a string, which is added if it is new. 8 bytes after it must be readable. Callers close a batch before it
 * has too many strings.
 */
static inline uint32_t intern(Strings *strings, const uint8_t *from, size_t length) {
  uint64_t h = length * 0x9e3779b97f4a7c15;
  size_t i = 0;
  uint64_t word;
  for (; i + 8 <= length; i += 8) {
    memcpy(&word, from + i, 8);
    h = (h ^ word) * 0x9e3779b97f4a7c15;
    h ^= h >> 29;
  }
  if (i < length) {
    memcpy(&word, from + i, 8);
    h = (h ^ (word << (64 - 8 * (length - i)))) * 0x9e3779b97f4a7c15;
  }
  uint32_t hash = (uint32_t)(h >> 32);
  uint16_t *head = &strings->heads[hash & 2047];
  for (uint32_t id = *head; id != 0; id = strings->chain[id - 1]) {
    if (strings->hashes[id - 1] != hash || string_length(strings, id - 1) != length) continue;
    if (memcmp(strings->bytes + strings->starts[id - 1], from, length) == 0) return id - 1;
  }
  if (strings->used + length + 32 > strings->room) {
    strings->room = 2 * strings->room + length + 1024;
    strings->bytes = realloc(strings->bytes, strings->room);
    if (strings->bytes == NULL) abort();
  }
  uint32_t id = strings->count++;
  memcpy(strings->bytes + strings->used, from, length);
  strings->starts[id] = (uint32_t)strings->used;
  strings->used += length;
  strings->starts[id + 1] = (uint32_t)strings->used;
  strings->hashes[id] = hash;
  strings->chain[id] = *head;
  *head = (uint16_t)(id + 1);
  return id;
}

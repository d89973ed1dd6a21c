/* The two name caches of an mpatrol trace, for the reader and for the writer. */
#pragma once
#include "columns.h"

enum { NAME_ENTRIES = 32, MAX_NAME = 65536 };

/* The reader's cache: the name of each entry. */
typedef struct {
  /* Per entry, its id in the batch's strings, or -1 if not known yet. */
  int32_t ids[NAME_ENTRIES + 1];
  bool defined[NAME_ENTRIES + 1];
  uint32_t lengths[NAME_ENTRIES + 1];
  uint8_t names[NAME_ENTRIES + 1][MAX_NAME + 8];
} ReadNames;

/* Reads a name that is not in the cache. Returns NULL with a fault, or without one if the input ends. */
static const uint8_t *read_name(ReadNames *names, const uint8_t *p, const uint8_t *end, Strings *strings, uint32_t *column, const char **fault) {
  unsigned entry = *p & 0x7f;
  if (entry < 1 || entry > NAME_ENTRIES) {
    *fault = "a name has an entry outside 1 to 32";
    return NULL;
  }
  if (*p++ >= 0x80) {
    size_t left = end > p ? (size_t)(end - p) : 0;
    const uint8_t *nul = memchr(p, 0, left < MAX_NAME + 1 ? left : MAX_NAME + 1);
    if (nul == NULL) {
      if (left > MAX_NAME) *fault = "a name takes more than 65536 bytes";
      return NULL;
    }
    names->defined[entry] = true;
    names->lengths[entry] = (uint32_t)(nul - p);
    memcpy(names->names[entry], p, (size_t)(nul - p));
    p = nul + 1;
  } else if (!names->defined[entry]) {
    *fault = "a name refers to an entry that is not defined yet";
    return NULL;
  }
  names->ids[entry] = (int32_t)(*column = intern(strings, names->names[entry], names->lengths[entry]));
  return p;
}

/* The writer's cache: the name of each entry, and the time of its last use. */
typedef struct {
  uint64_t clock;
  uint64_t used[NAME_ENTRIES];
  uint32_t ids[NAME_ENTRIES], hashes[NAME_ENTRIES], lengths[NAME_ENTRIES];
  /* Per string of the batch, its last entry, valid if `ids` agrees. */
  uint8_t entries[STRING_SLOTS];
  uint8_t names[NAME_ENTRIES][MAX_NAME];
} WrittenNames;

/* Writes a name without an entry under its id, because the batch is new, the name was evicted, or it is new. */
static uint8_t *write_other_name(WrittenNames *names, const Strings *strings, uint32_t id, uint8_t *out) {
  const uint8_t *name = strings->bytes + strings->starts[id];
  uint32_t length = string_length(strings, id), hash = strings->hashes[id], matches = 0;
  for (unsigned e = 0; e < NAME_ENTRIES; e++) matches |= (uint32_t)(names->hashes[e] == hash) << e;
  for (; matches != 0; matches &= matches - 1) {
    unsigned e = (unsigned)__builtin_ctz(matches);
    if (names->used[e] == 0 || names->lengths[e] != length || memcmp(names->names[e], name, length) != 0) continue;
    names->ids[e] = id;
    names->entries[id] = (uint8_t)e;
    names->used[e] = ++names->clock;
    *out = (uint8_t)(e + 1);
    return out + 1;
  }
  if (length == 0 || length > MAX_NAME || memchr(name, 0, length) != NULL) {
    *out = 0;
    return out + 1;
  }
  /* Unused entries come first, because their time of use is 0. */
  uint64_t oldest = names->used[0];
  for (unsigned e = 1; e < NAME_ENTRIES; e++) oldest = names->used[e] < oldest ? names->used[e] : oldest;
  unsigned e = 0;
  while (names->used[e] != oldest) e++;
  names->ids[e] = id;
  names->hashes[e] = hash;
  names->lengths[e] = length;
  names->entries[id] = (uint8_t)e;
  names->used[e] = ++names->clock;
  memcpy(names->names[e], name, length);
  *out = (uint8_t)(e + 1) | 0x80;
  memcpy(out + 1, name, length);
  out[1 + length] = 0;
  return out + length + 2;
}

static inline uint8_t *write_name(WrittenNames *names, const Strings *strings, uint32_t id, uint8_t *out) {
  unsigned e = names->entries[id];
  if (unlikely(names->ids[e] != id)) return write_other_name(names, strings, id, out);
  names->used[e] = ++names->clock;
  *out = (uint8_t)(e + 1);
  return out + 1;
}

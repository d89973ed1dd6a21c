/* memory_replay text in any form that the grammar allows; written in canonical form. */
#include "bytes.h"

#define MALLOC_FIELDS (HAS_api | HAS_thread | HAS_address | HAS_size)
#define FREE_FIELDS (HAS_api | HAS_thread | HAS_address)
enum { MAX_LINE = 65536 };

/* Words as numbers, in the byte order of memory. */
#define WORD4(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define LOW7 0x00ffffffffffffff
#define WORD7(a, b, c, d, e, f, g) (WORD4(a, b, c, d) | (uint64_t)WORD4(e, f, g, 0) << 32)

static void begin_reading(void *reader) {
  (void)reader;
}

static inline bool is_blank(uint8_t byte) {
  return byte == ' ' || byte == '\t';
}

/* Skips spaces, at least one. */
#define GAP() \
  do { \
    if (unlikely(!is_blank(*p))) goto wrong; \
    do p++; while (unlikely(is_blank(*p))); \
  } while (0)

#define NUMBER(value) \
  do { \
    uint64_t number_; \
    GAP(); \
    const uint8_t *after_ = decimal(p, &number_); \
    if (unlikely(after_ == NULL)) goto wrong; \
    (value) = number_; \
    p = after_; \
  } while (0)

#define POINTER(value) \
  do { \
    uint64_t number_; \
    GAP(); \
    if (likely(p[0] == '0' && (p[1] | 32) == 'x')) p += 2; \
    const uint8_t *after_ = hex(p, &number_); \
    if (unlikely(after_ == NULL)) goto wrong; \
    (value) = number_; \
    p = after_; \
  } while (0)

static void read_batch(void *state, Input *input, Batch *batch) {
  (void)state;
  const uint8_t *start = input->pos, *end = input->end, *p = start;
  const char *fault = NULL;
  uint32_t i = 0;
  /* The line feed of the last line stops every reader. */
  while (end > start && end[-1] != '\n') end--;
  for (; p < end && i < BATCH_EVENTS; start = p) {
    uint32_t fields = 0;
    while (unlikely(is_blank(*p))) p++;
    if (unlikely(*p == '\n' || *p == '\r')) {
      p += *p == '\r';
      if (*p != '\n') goto wrong;
      p++;
      continue;
    }
    bool negative = *p == '-';
    uint64_t thread;
    const uint8_t *after = decimal(p + negative, &thread);
    if (unlikely(after == NULL || thread > INT64_MAX + (uint64_t)negative || *after != ':')) goto wrong;
    batch->thread[i] = negative ? -thread : thread;
    p = after + 1;
    while (is_blank(*p)) p++;
    uint64_t word = load64(p);
    Kind kind;
    if ((word & 0xffffffffffff) == WORD7('m', 'a', 'l', 'l', 'o', 'c', 0)) {
      p += 6;
      kind = ALLOC;
      batch->api[i] = API_MALLOC;
      fields = MALLOC_FIELDS;
      POINTER(batch->address[i]);
      NUMBER(batch->size[i]);
    } else if ((uint32_t)word == WORD4('f', 'r', 'e', 'e')) {
      p += 4;
      kind = FREE;
      batch->api[i] = API_FREE;
      fields = FREE_FIELDS;
      POINTER(batch->address[i]);
    } else if ((word & LOW7) == WORD7('r', 'e', 'a', 'l', 'l', 'o', 'c')) {
      p += 7;
      kind = REALLOC;
      batch->api[i] = API_REALLOC;
      fields = MALLOC_FIELDS | HAS_oldAddress;
      POINTER(batch->address[i]);
      POINTER(batch->oldAddress[i]);
      NUMBER(batch->size[i]);
    } else if ((word & 0xffffffffffff) == WORD7('c', 'a', 'l', 'l', 'o', 'c', 0)) {
      p += 6;
      kind = ALLOC;
      batch->api[i] = API_CALLOC;
      fields = MALLOC_FIELDS | HAS_count;
      uint64_t count, each;
      POINTER(batch->address[i]);
      NUMBER(count);
      NUMBER(each);
      batch->count[i] = count;
      bool wraps = __builtin_mul_overflow(count, each, &batch->size[i]);
      if (unlikely(count == 0 || wraps)) {
        batch->elementSize[i] = each;
        fields |= HAS_elementSize;
      }
    } else if (word == (WORD7('m', 'e', 'm', 'a', 'l', 'i', 'g') | (uint64_t)'n' << 56)) {
      p += 8;
      kind = ALLOC;
      batch->api[i] = API_MEMALIGN;
      fields = MALLOC_FIELDS | HAS_alignment;
      POINTER(batch->address[i]);
      NUMBER(batch->alignment[i]);
      NUMBER(batch->size[i]);
    } else if (memcmp(p, "thread_done", 11) == 0) {
      p += 11;
      kind = THREAD_DESTROY;
      uint64_t address;
      POINTER(address);
      batch->address[i] = address;
      fields = HAS_thread | (address != 0 ? HAS_address : 0);
    } else {
      goto wrong;
    }
    if (*p != '\n') {
      const uint8_t *rest = p;
      while (is_blank(*rest)) rest++;
      rest += *rest == '\r';
      if (*rest != '\n') {
        if (kind == THREAD_DESTROY) {
          NUMBER(batch->endTime[i]);
          fields |= HAS_endTime;
        } else {
          NUMBER(batch->time[i]);
          NUMBER(batch->endTime[i]);
          fields |= HAS_time | HAS_endTime;
          if (*p != '\n' && (kind == FREE || kind == REALLOC)) {
            rest = p;
            while (is_blank(*rest)) rest++;
            rest += *rest == '\r';
            if (*rest != '\n') {
              NUMBER(batch->present[i]);
              fields |= HAS_present;
            }
          }
        }
        while (is_blank(*p)) p++;
        p += *p == '\r';
        if (*p != '\n') goto wrong;
      } else {
        p = rest;
      }
    }
    p++;
    if (unlikely(p - start > MAX_LINE)) goto wrong;
    batch->kind[i] = (uint8_t)kind;
    batch->mask[i] = fields;
    i++;
  }
  goto done;
wrong:
  fault = p - start > MAX_LINE ? "a line of more than 65536 bytes" : "not what the grammar has here";
  start = p;
done:
  batch->events = i;
  input->pos = start;
  input->fault = fault;
}

typedef struct {
  /* Events that lost a field, or were dropped. */
  uint64_t losses;
} Writer;

static const uint32_t CARRIED[KIND_COUNT] = {
  [ALLOC] = MALLOC_FIELDS | HAS_time | HAS_endTime | HAS_count | HAS_elementSize | HAS_alignment,
  [EXISTING] = MALLOC_FIELDS | HAS_time | HAS_endTime,
  [REALLOC] = MALLOC_FIELDS | HAS_time | HAS_endTime | HAS_oldAddress | HAS_outcome | HAS_present,
  [FREE] = FREE_FIELDS | HAS_time | HAS_endTime | HAS_present,
  [THREAD_DESTROY] = HAS_thread | HAS_time | HAS_endTime | HAS_address,
};

static void begin_writing(void *state) {
  ((Writer *)state)->losses = 0;
}

/* Writes a literal; up to 16 bytes are written, whatever its length. */
#define PUT(text) (memcpy(out, text "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16), out += sizeof text - 1)

static inline uint8_t *put_field(uint8_t *out, uint64_t value) {
  *out = ' ';
  return put_decimal(out + 1, value);
}

static const char *write_batch(void *state, const Batch *batch, Output *output) {
  Writer *writer = state;
  uint8_t *out = output->bytes;
  for (uint32_t i = 0; i < batch->events; i++) {
    unsigned kind = batch->kind[i];
    uint32_t fields = batch->mask[i];
    uint8_t *line = out = room(output, out);
    writer->losses += (fields & ~CARRIED[kind]) != 0;
    uint64_t thread = (fields & HAS_thread) != 0 ? batch->thread[i] : 0;
    if (unlikely(thread >> 63 != 0)) {
      *out++ = '-';
      thread = -thread;
    }
    out = put_decimal(out, thread);
    *out++ = ':';
    if ((kind == ALLOC || kind == EXISTING) && (fields & HAS_address) != 0) {
      bool plain = (fields & (HAS_count | HAS_elementSize | HAS_alignment)) == 0;
      if (likely(plain)) {
        if ((fields & HAS_api) != 0 && batch->api[i] != API_MALLOC) {
          if (batch->api[i] == API_CALLOC) return "a calloc without its count";
          writer->losses++;
        }
        PUT(" malloc 0x");
        out = put_hex(out, batch->address[i]);
        out = put_field(out, (fields & HAS_size) != 0 ? batch->size[i] : 0);
      } else if (batch->api[i] == API_CALLOC && (fields & HAS_count) != 0 && (fields & HAS_alignment) == 0) {
        uint64_t count = batch->count[i], each = batch->elementSize[i];
        if ((fields & HAS_elementSize) == 0) {
          if (count == 0 || batch->size[i] % count != 0) return "a count that does not divide the size";
          each = batch->size[i] / count;
        }
        PUT(" calloc 0x");
        out = put_hex(out, batch->address[i]);
        out = put_field(out, count);
        out = put_field(out, each);
      } else if (batch->api[i] == API_MEMALIGN && (fields & (HAS_count | HAS_elementSize)) == 0) {
        PUT(" memalign 0x");
        out = put_hex(out, batch->address[i]);
        out = put_field(out, batch->alignment[i]);
        out = put_field(out, (fields & HAS_size) != 0 ? batch->size[i] : 0);
      } else {
        return "an allocation that no action says";
      }
    } else if (kind == FREE && (fields & HAS_address) != 0) {
      PUT(" free 0x");
      out = put_hex(out, batch->address[i]);
      writer->losses += (fields & HAS_api) != 0 && batch->api[i] != API_FREE;
    } else if (kind == REALLOC && (fields & HAS_address) != 0 && (fields & HAS_oldAddress) != 0) {
      if ((fields & HAS_outcome) != 0) return "an outcome of a realloc";
      PUT(" realloc 0x");
      out = put_hex(out, batch->address[i]);
      PUT(" 0x");
      out = put_hex(out, batch->oldAddress[i]);
      out = put_field(out, (fields & HAS_size) != 0 ? batch->size[i] : 0);
      writer->losses += (fields & HAS_api) != 0 && batch->api[i] != API_REALLOC;
    } else if (kind == THREAD_DESTROY) {
      PUT(" thread_done 0x");
      out = put_hex(out, (fields & HAS_address) != 0 ? batch->address[i] : 0);
    } else {
      writer->losses++;
      out = line;
      continue;
    }
    if (unlikely((fields & (HAS_time | HAS_endTime)) != 0)) {
      uint64_t time = (fields & HAS_time) != 0 ? batch->time[i] : batch->endTime[i];
      uint64_t end = (fields & HAS_endTime) != 0 ? batch->endTime[i] : time;
      if (kind != THREAD_DESTROY) out = put_field(out, time);
      out = put_field(out, end);
    }
    if (unlikely((fields & HAS_present) != 0) && (kind == FREE || kind == REALLOC)) {
      if ((fields & (HAS_time | HAS_endTime)) == 0) PUT(" 0 0");
      out = put_field(out, batch->present[i]);
    }
    *out++ = '\n';
  }
  give(output, out);
  return NULL;
}

static void end_writing(void *state, Output *out) {
  (void)state;
  (void)out;
}

const Format replay = { "replay", 64, begin_reading, read_batch, sizeof(Writer), begin_writing, write_batch, end_writing };

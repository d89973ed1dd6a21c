/* mpatrol tracing output: one trace per input. Another trace after the end marker is a fault. */
#include "bytes.h"
#include "live.h"
#include "mtrc-names.h"
#ifdef __BMI2__
#include <immintrin.h>
#endif

enum { MAX_LEB = 32, FIRST_WITH_SOURCES = 10405 };

#define BLOCK (HAS_index | HAS_address | HAS_size)
#define SOURCE (HAS_thread | HAS_line)
#define LOW_BITS 0x7f7f7f7f7f7f7f7f
#define HIGH_BITS 0x8080808080808080

typedef struct {
  bool resolve, began, sources;
  Live live;
  ReadNames functions, files;
} Reader;

static const char TOO_WIDE[] = "a number has more than 64 bits";
static const char TOO_LONG[] = "a number takes more than 32 bytes";

/* The rest of a number from its ninth byte on. NULL, with `fault` set, if it is too long. */
static const uint8_t *long_leb(const uint8_t *p, uint64_t low, uint64_t *value, const char **fault) {
  for (unsigned shift = 56; shift < 7 * MAX_LEB; shift += 7) {
    uint64_t bits = *p & 0x7f;
    if (shift < 64 ? bits << shift >> shift != bits : bits != 0) {
      *fault = TOO_WIDE;
      return NULL;
    }
    if (shift < 64) low |= bits << shift;
    if (*p++ < 0x80) {
      *value = low;
      return p;
    }
  }
  *fault = TOO_LONG;
  return NULL;
}

/* The combined bits of up to eight bytes of a number. */
static inline uint64_t gather(uint64_t word) {
#ifdef __BMI2__
  return _pext_u64(word, LOW_BITS);
#else
  word &= LOW_BITS;
  word = (word & 0x007f007f007f007f) | (word & 0x7f007f007f007f00) >> 1;
  word = (word & 0x00003fff00003fff) | (word & 0x3fff00003fff0000) >> 2;
  return (word & 0x0fffffff) | (word & 0x0fffffff00000000) >> 4;
#endif
}

/*
 * Reads a number at p into `value`, and moves p after it. `usual` is the usual length of such numbers in bytes, or 0.
 */
#define LEB(value, usual) \
  do { \
    uint64_t word_ = load64(p), stops_ = ~word_ & HIGH_BITS; \
    if (likely(stops_ != 0)) { \
      (value) = gather(word_ & (stops_ ^ (stops_ - 1))); \
      p = advance(p, (unsigned)(__builtin_ctzll(stops_) >> 3) + 1, usual); \
    } else { \
      uint64_t long_; \
      p = long_leb(p + 8, gather(word_), &long_, &fault); \
      if (p == NULL) goto wrong; \
      (value) = long_; \
    } \
  } while (0)

static uint64_t word_at(const uint8_t *at, unsigned size, bool little) {
  uint64_t value = 0;
  for (unsigned i = 0; i < size; i++) value |= (uint64_t)at[i] << 8 * (little ? i : size - 1 - i);
  return value;
}

/* Reads the header, of any byte order and word size. */
static bool read_header(Reader *reader, Input *input) {
  static const struct { unsigned word, native; bool little; } FORMS[] = {
    { 4, 4, true }, { 8, 8, true }, { 8, 4, true }, { 4, 4, false }, { 8, 8, false }, { 8, 4, false },
  };
  if (input->end - input->pos >= 4 && memcmp(input->pos, "MTRC", 4) == 0) {
    for (unsigned f = 0; f < sizeof FORMS / sizeof *FORMS; f++) {
      if (input->end - input->pos < 4 + FORMS[f].word + FORMS[f].native) continue;
      if (word_at(input->pos + 4, FORMS[f].word, FORMS[f].little) != 1) continue;
      uint64_t version = word_at(input->pos + 4 + FORMS[f].word, FORMS[f].native, FORMS[f].little);
      if (version < 10000 || version > 999999) continue;
      reader->sources = version >= FIRST_WITH_SOURCES;
      input->pos += 4 + FORMS[f].word + FORMS[f].native;
      return reader->began = true;
    }
  }
  input->fault = "not the header of a trace";
  return false;
}

/* Reads a name at p, its id into `column` and its bit into `fields`. */
#define NAME(cache, column, bit) \
  do { \
    unsigned byte_ = *p; \
    if (byte_ == 0) { \
      p++; \
    } else { \
      fields |= (bit); \
      int32_t id_ = byte_ <= NAME_ENTRIES ? (cache).ids[byte_] : -1; \
      if (likely(id_ >= 0)) { \
        (column) = (uint32_t)id_; \
        p++; \
      } else { \
        p = read_name(&(cache), p, end, &batch->strings, &(column), &fault); \
        if (p == NULL) goto wrong; \
        if (batch->strings.used > BATCH_STRING_BYTES) capacity = i + 1; \
      } \
    } \
  } while (0)

static void begin_reading(void *state) {
  Reader *reader = state;
  reader->resolve = true;
  reader->began = false;
  live_clear(&reader->live);
  memset(reader->functions.defined, 0, sizeof reader->functions.defined);
  memset(reader->files.defined, 0, sizeof reader->files.defined);
}

static void begin_unresolved(void *state) {
  begin_reading(state);
  ((Reader *)state)->resolve = false;
}

/* The loop, compiled once for each kind of trace. */
static inline __attribute__((always_inline)) void read_records(Reader *reader, Input *input, Batch *batch, bool sources, bool resolve) {
  const uint8_t *end = input->end, *start = input->pos;
  const char *fault = NULL;
  uint32_t capacity = BATCH_EVENTS, i = 0;
  Live live = reader->live;
  while (start < end && i < capacity) {
    const uint8_t *p = start + 1;
    unsigned type = *start;
    uint32_t fields = BLOCK;
    uint64_t index = 0, address = 0, size = 0;
    if (type == 'A' || type == 'R') {
      LEB(index, 3);
      LEB(address, 7);
      LEB(size, 0);
    } else if (type == 'F') {
      LEB(index, 3);
      fields = HAS_index;
    } else if (type == 'H' || type == 'I') {
      LEB(address, 7);
      LEB(size, 0);
      fields = HAS_address | HAS_size;
    } else if (type == 'M') {
      if (end - start < 4) break;
      if (memcmp(start, "MTRC", 4) != 0) fault = "a record of unknown type 0x4d";
      else if (end - start > 4) fault = "something behind the end marker";
      else start = end;
      goto done;
    } else {
      fault = "a record of unknown type";
      goto done;
    }
    if (sources && (fields & HAS_index) != 0) {
      uint64_t thread, line;
      fields |= SOURCE;
      LEB(thread, 1);
      batch->thread[i] = thread;
      NAME(reader->functions, batch->function[i], HAS_function);
      NAME(reader->files, batch->file[i], HAS_file);
      LEB(line, 1);
      if (unlikely(line >> 32 != 0) && p <= end) {
        fault = "a line number has more than 32 bits";
        goto done;
      }
      batch->line[i] = (uint32_t)line;
    }
    if (unlikely(p > end)) break;
    if (type == 'A') {
      batch->kind[i] = ALLOC;
      if (resolve) live_put(&live, index, address, size);
    } else if (type == 'F') {
      batch->kind[i] = FREE;
      if (resolve) {
        Block *block = live_find(&live, index);
        if (block->used != 0) {
          address = block->address;
          size = block->size;
          live_remove(&live, block);
          fields |= HAS_address | HAS_size;
        }
      }
    } else if (type == 'R') {
      batch->kind[i] = REALLOC;
      if (resolve) {
        Block *block = live_find(&live, index);
        if (block->used != 0) {
          batch->oldAddress[i] = block->address;
          fields |= HAS_oldAddress;
          block->address = address;
          block->size = size;
        } else {
          live_put(&live, index, address, size);
        }
      }
    } else {
      batch->kind[i] = RESERVE;
      if (type == 'I') {
        batch->type[i] = intern(&batch->strings, (const uint8_t *)"internal\0\0\0\0\0\0\0", 8);
        fields |= HAS_type;
      }
    }
    batch->index[i] = index;
    batch->address[i] = address;
    batch->size[i] = size;
    batch->mask[i] = fields;
    i++;
    start = p;
  }
  wrong:
done:
  if (fault == NULL && i < capacity && input->last && start < end) fault = "the input ends within a record";
  reader->live = live;
  batch->events = i;
  input->pos = start;
  input->fault = fault;
}

static void read_batch(void *state, Input *input, Batch *batch) {
  Reader *reader = state;
  if (!reader->began && !read_header(reader, input)) return;
  memset(reader->functions.ids, -1, sizeof reader->functions.ids);
  memset(reader->files.ids, -1, sizeof reader->files.ids);
  if (reader->sources && reader->resolve) read_records(reader, input, batch, true, true);
  else if (reader->sources) read_records(reader, input, batch, true, false);
  else if (reader->resolve) read_records(reader, input, batch, false, true);
  else read_records(reader, input, batch, false, false);
}

typedef struct {
  /* Events that lost a field. */
  uint64_t losses;
  /* Whether to follow the live blocks, and count what readers will not restore of frees and reallocs. */
  bool restores;
  Live live;
  WrittenNames functions, files;
} Writer;

static const uint32_t CARRIED[KIND_COUNT] = {
  [ALLOC] = BLOCK | SOURCE | HAS_function | HAS_file,
  [EXISTING] = BLOCK | SOURCE | HAS_function | HAS_file,
  [FREE] = BLOCK | SOURCE | HAS_function | HAS_file,
  [REALLOC] = BLOCK | SOURCE | HAS_function | HAS_file | HAS_oldAddress,
  [RESERVE] = HAS_address | HAS_size | HAS_type,
};
static const uint8_t RECORD_TYPE[KIND_COUNT] = { [ALLOC] = 'A', [FREE] = 'F', [REALLOC] = 'R', [EXISTING] = 'A', [RESERVE] = 'H' };

static void begin_writing(void *state) {
  Writer *writer = state;
  writer->losses = 0;
  writer->restores = true;
  live_clear(&writer->live);
  writer->functions.clock = writer->files.clock = 0;
  memset(writer->functions.used, 0, sizeof writer->functions.used);
  memset(writer->files.used, 0, sizeof writer->files.used);
}

static void begin_writing_without_blocks(void *state) {
  begin_writing(state);
  ((Writer *)state)->restores = false;
}

static inline uint8_t *put_leb(uint8_t *out, uint64_t value) {
#ifdef __BMI2__
  if (likely(value >> 56 == 0)) {
    unsigned n = (unsigned)(70 - __builtin_clzll(value | 1)) / 7;
    store64(out, _pdep_u64(value, LOW_BITS) | (HIGH_BITS & (((uint64_t)1 << 8 * (n - 1)) - 1)));
    return out + n;
  }
#endif
  for (; value > 0x7f; value >>= 7) *out++ = (uint8_t)(value | 0x80);
  *out++ = (uint8_t)value;
  return out;
}

/*
 * Follows the block of an alloc, free or realloc. Returns whether readers will give the event another address, size or
 * old address: the record of a free has only an index, and that of a realloc no old address.
 */
static inline bool is_restored(Live *live, const Batch *batch, uint32_t i, unsigned type, uint32_t fields) {
  uint64_t index = batch->index[i];
  if (type == 'A') {
    live_put(live, index, batch->address[i], batch->size[i]);
    return true;
  }
  Block *block = live_find(live, index);
  bool known = block->used != 0;
  if (type == 'R') {
    bool same = (fields & HAS_oldAddress) == 0 || (known && block->address == batch->oldAddress[i]);
    live_put(live, index, batch->address[i], batch->size[i]);
    return same;
  }
  bool same = ((fields & HAS_address) == 0 || (known && block->address == batch->address[i]))
    && ((fields & HAS_size) == 0 || (known && block->size == batch->size[i]));
  if (known) live_remove(live, block);
  return same;
}

/* The loop, compiled once with and once without blocks. */
static inline __attribute__((always_inline)) const char *write_records(Writer *writer, const Batch *batch, Output *output, bool restores) {
  uint8_t *out = output->bytes;
  Live live = writer->live;
  memset(writer->functions.ids, -1, sizeof writer->functions.ids);
  memset(writer->files.ids, -1, sizeof writer->files.ids);
  uint64_t losses = writer->losses;
  for (uint32_t i = 0; i < batch->events; i++) {
    unsigned kind = batch->kind[i];
    uint32_t fields = batch->mask[i];
    unsigned type = RECORD_TYPE[kind];
    losses += (fields & ~CARRIED[kind]) != 0;
    if (type == 0) continue;
    out = room(output, out);
    if (kind == RESERVE) {
      if ((fields & HAS_type) != 0) {
        uint32_t id = batch->type[i];
        bool internal = string_length(&batch->strings, id) == 8 && memcmp(batch->strings.bytes + batch->strings.starts[id], "internal", 8) == 0;
        if (internal) type = 'I';
        else losses++;
      }
      *out++ = (uint8_t)type;
    } else {
      if ((fields & (HAS_index | HAS_thread)) != (HAS_index | HAS_thread)) return "an event without an index or without a thread";
      if (restores) losses += !is_restored(&live, batch, i, type, fields);
      *out++ = (uint8_t)type;
      out = put_leb(out, batch->index[i]);
    }
    if (type != 'F') {
      out = put_leb(out, (fields & HAS_address) != 0 ? batch->address[i] : 0);
      out = put_leb(out, (fields & HAS_size) != 0 ? batch->size[i] : 0);
    }
    if (kind == RESERVE) continue;
    out = put_leb(out, batch->thread[i]);
    if ((fields & HAS_function) != 0) out = write_name(&writer->functions, &batch->strings, batch->function[i], out);
    else *out++ = 0;
    if ((fields & HAS_file) != 0) out = write_name(&writer->files, &batch->strings, batch->file[i], room(output, out));
    else *out++ = 0;
    out = put_leb(out, (fields & HAS_line) != 0 ? batch->line[i] : 0);
  }
  writer->losses = losses;
  writer->live = live;
  give(output, out);
  return NULL;
}

static const char *write_batch(void *state, const Batch *batch, Output *output) {
  Writer *writer = state;
  return writer->restores ? write_records(writer, batch, output, true) : write_records(writer, batch, output, false);
}

static void end_writing(void *state, Output *out) {
  (void)state;
  memcpy(out->bytes, "MTRC", 4);
  give(out, out->bytes + 4);
}

const Format mtrc = { "mtrc", sizeof(Reader), begin_reading, read_batch, sizeof(Writer), begin_writing, write_batch, end_writing };
const Format mtrc_unresolved = {
  "mtrc-unresolved", sizeof(Reader), begin_unresolved, read_batch, sizeof(Writer), begin_writing_without_blocks, write_batch, end_writing,
};

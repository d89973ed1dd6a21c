/* HATF 1.0 without attributes and comments, which are faults here; written with unchanged fields (preset "naive"). */
#include "bytes.h"
#include "hatf-fold.h"

enum { SIZE, ADDR, TIME, THREAD, HEAP, ATTRIBUTES, LAYOUT_FIELDS };
enum { NONE, DEFAULT, BASE_OFFSET, DELTA, STRIDE };
enum { TAG_ALLOC, TAG_FREE, TAG_REALLOC_NONE, TAG_REALLOC_FREED = 5, TAG_CREATE_THREAD = 8, TAG_DESTROY_THREAD, TAG_COMMENT, TAG_METADATA };

/* How a field is read: value = base + stored + stride, of which none, some or all are zero. */
typedef struct {
  uint64_t base, stride;
  /* The significant bits of the stored number, their sign bit (0: unsigned), and whether the value is the next base. */
  uint64_t keep, sign, moves;
  unsigned shift, width, last_width, interpretation;
} Field;

typedef struct {
  Field field[LAYOUT_FIELDS];
  unsigned lengths[TAG_DESTROY_THREAD + 1];
  /* Which of thread, heap and time a metadata record has changed. */
  uint32_t optional;
  /* Rows that may be components of a later realloc, carried into the next batch. */
  uint32_t held;
  uint8_t kind[FOLD_WINDOW];
  uint32_t mask[FOLD_WINDOW];
  uint64_t size[FOLD_WINDOW], address[FOLD_WINDOW], old_address[FOLD_WINDOW], thread[FOLD_WINDOW], heap[FOLD_WINDOW], time[FOLD_WINDOW];
  uint8_t outcome[FOLD_WINDOW];
} Reader;

static void prepare(Reader *reader) {
  for (unsigned f = 0; f < ATTRIBUTES; f++) {
    Field *field = &reader->field[f];
    bool is_stored = field->width != 0 && field->interpretation != DEFAULT && field->interpretation != STRIDE;
    bool is_signed = is_stored && (field->interpretation == BASE_OFFSET || field->interpretation == DELTA);
    field->shift = field->width == 0 ? 0 : 64 - 8 * field->width;
    field->keep = is_stored ? UINT64_MAX >> field->shift : 0;
    field->sign = is_signed ? (field->keep >> 1) + 1 : 0;
    field->moves = field->interpretation >= DELTA ? UINT64_MAX : 0;
  }
  const Field *field = reader->field;
  unsigned thread_only = 1 + field[THREAD].width + field[TIME].width;
  unsigned heap = thread_only + field[HEAP].width;
  for (unsigned tag = 0; tag <= TAG_DESTROY_THREAD; tag++) {
    unsigned length = tag >= TAG_CREATE_THREAD ? thread_only : heap;
    if (tag <= TAG_REALLOC_FREED) length += field[ADDR].width;
    if (tag <= TAG_REALLOC_FREED && tag != TAG_FREE) length += field[SIZE].width;
    if (tag >= TAG_REALLOC_NONE && tag <= TAG_REALLOC_FREED) length += field[ADDR].width;
    reader->lengths[tag] = length;
  }
}

static void begin_reading(void *state) {
  Reader *reader = state;
  memset(reader->field, 0, sizeof reader->field);
  reader->optional = 0;
  reader->held = 0;
  for (unsigned f = 0; f < LAYOUT_FIELDS; f++) {
    unsigned width = f <= ADDR ? 4 : 0;
    reader->field[f].width = reader->field[f].last_width = width;
    reader->field[f].interpretation = f <= ADDR ? NONE : DEFAULT;
  }
  prepare(reader);
}

/* Applies the metadata record at p. Returns its length, 0 if it is incomplete, or its fault. */
static unsigned apply(Reader *reader, const uint8_t *p, const uint8_t *end, const char **fault) {
  if (end - p < 4) return 0;
  unsigned op = p[1], f = p[2], setting = p[3];
  if (op != 1 && op != 2) *fault = "unknown metadata operation";
  else if (f >= LAYOUT_FIELDS) *fault = "metadata for an unknown field";
  else if (f == ATTRIBUTES) *fault = "attributes";
  else if (op == 1 && !(setting <= 8 && (setting & (setting - 1)) == 0)) *fault = "unknown width";
  else if (op == 2 && setting > STRIDE) *fault = "unknown interpretation";
  if (*fault != NULL) return 0;
  unsigned length = op == 1 || setting == NONE ? 4 : setting == STRIDE ? 20 : 12;
  if (end - p < (ptrdiff_t)length) return 0;
  Field *field = &reader->field[f];
  if (op == 1) {
    field->width = setting;
    if (setting != 0) field->last_width = setting;
  } else {
    field->interpretation = setting;
    field->width = setting == DEFAULT || setting == STRIDE ? 0 : field->last_width;
    field->base = setting == NONE ? 0 : __builtin_bswap64(load64(p + 4));
    field->stride = setting == STRIDE ? __builtin_bswap64(load64(p + 12)) : 0;
  }
  if (f == TIME) reader->optional |= HAS_time;
  if (f == THREAD) reader->optional |= HAS_thread;
  if (f == HEAP) reader->optional |= HAS_heap;
  prepare(reader);
  return length;
}

/* The value of a field at p. `counts` is all ones, or zero where the record does not have the field. */
static inline uint64_t value_of(Field *field, const uint8_t *p, uint64_t counts) {
  uint64_t stored = __builtin_bswap64(load64(p)) >> field->shift & field->keep;
  uint64_t value = field->base + ((stored ^ field->sign) - field->sign) + field->stride;
  field->base ^= (field->base ^ value) & field->moves & counts;
  return value;
}

#define HELD(F) F(kind, kind) F(mask, mask) F(size, size) F(address, address) F(old_address, oldAddress) F(outcome, outcome) \
  F(thread, thread) F(heap, heap) F(time, time)

static void hold(Reader *reader, Batch *batch) {
  uint32_t first = first_held(batch);
  reader->held = batch->events - first;
#define F(to, column) memcpy(reader->to, batch->column + first, reader->held * sizeof *batch->column);
  HELD(F)
#undef F
  batch->events = first;
}

static void read_batch(void *state, Input *input, Batch *batch) {
  static const uint8_t KINDS[] = { ALLOC, FREE, REALLOC, REALLOC, REALLOC, REALLOC, HEAP_CREATE, HEAP_DESTROY, THREAD_CREATE, THREAD_DESTROY };
  Reader *reader = state;
  const uint8_t *p = input->pos, *end = input->end;
  const char *fault = NULL;
  uint32_t i = reader->held, optional = reader->optional;
#define F(from, column) memcpy(batch->column, reader->from, i * sizeof *batch->column);
  HELD(F)
#undef F
  Field size = reader->field[SIZE], address = reader->field[ADDR], thread = reader->field[THREAD];
  unsigned alloc_length = reader->lengths[TAG_ALLOC], free_length = reader->lengths[TAG_FREE];
  while (p < end && i < BATCH_EVENTS) {
    unsigned tag = *p;
    if (likely(tag <= TAG_FREE && (optional & (HAS_heap | HAS_time)) == 0)) {
      /* Both at once, because which of the two it is cannot be predicted. */
      unsigned length = tag == TAG_ALLOC ? alloc_length : free_length;
      if (unlikely(end - p < (ptrdiff_t)length)) break;
      uint64_t is_alloc = (uint64_t)tag - 1;
      const uint8_t *at = p + 1;
      batch->size[i] = value_of(&size, at, is_alloc);
      at += size.width & is_alloc;
      batch->address[i] = value_of(&address, at, UINT64_MAX);
      batch->thread[i] = value_of(&thread, at + address.width, (optional & HAS_thread) != 0 ? UINT64_MAX : 0);
      batch->kind[i] = (uint8_t)tag;
      batch->mask[i] = optional | HAS_address | (HAS_size & (uint32_t)is_alloc);
      i++;
      p += length;
      continue;
    }
    reader->field[SIZE] = size;
    reader->field[ADDR] = address;
    reader->field[THREAD] = thread;
    if (tag == TAG_METADATA) {
      unsigned length = apply(reader, p, end, &fault);
      if (length == 0) break;
      p += length;
      optional = reader->optional;
      alloc_length = reader->lengths[TAG_ALLOC];
      free_length = reader->lengths[TAG_FREE];
    } else {
      if (tag > TAG_METADATA) fault = "unknown tag";
      else if (tag == TAG_COMMENT) fault = "a comment";
      if (fault != NULL || end - p < (ptrdiff_t)reader->lengths[tag]) break;
      Field *field = reader->field;
      const uint8_t *at = p + 1;
      uint32_t fields = tag >= TAG_CREATE_THREAD ? optional & ~HAS_heap : optional;
      if (tag <= TAG_REALLOC_FREED) {
        if (tag != TAG_FREE) {
          batch->size[i] = value_of(&field[SIZE], at, UINT64_MAX);
          at += field[SIZE].width;
          fields |= HAS_size;
        }
        if (tag >= TAG_REALLOC_NONE) {
          batch->oldAddress[i] = value_of(&field[ADDR], at, UINT64_MAX);
          at += field[ADDR].width;
          batch->outcome[i] = (uint8_t)(tag - TAG_REALLOC_NONE);
          fields |= HAS_oldAddress | HAS_outcome;
        }
        batch->address[i] = value_of(&field[ADDR], at, UINT64_MAX);
        at += field[ADDR].width;
        fields |= HAS_address;
      }
      batch->thread[i] = value_of(&field[THREAD], at, (optional & HAS_thread) != 0 ? UINT64_MAX : 0);
      at += field[THREAD].width;
      if (tag < TAG_CREATE_THREAD) {
        batch->heap[i] = value_of(&field[HEAP], at, (optional & HAS_heap) != 0 ? UINT64_MAX : 0);
        at += field[HEAP].width;
      }
      batch->time[i] = value_of(&field[TIME], at, (optional & HAS_time) != 0 ? UINT64_MAX : 0);
      batch->kind[i] = KINDS[tag];
      batch->mask[i] = fields;
      p += reader->lengths[tag];
      batch->events = ++i;
      if (tag > TAG_REALLOC_NONE && tag <= TAG_REALLOC_FREED) fold(batch);
      i = batch->events;
    }
    size = reader->field[SIZE];
    address = reader->field[ADDR];
    thread = reader->field[THREAD];
  }
  reader->field[SIZE] = size;
  reader->field[ADDR] = address;
  reader->field[THREAD] = thread;
  if (fault == NULL && i < BATCH_EVENTS && input->last && p < end) fault = "the stream ends inside a record";
  batch->events = i;
  reader->held = 0;
  if (fault == NULL && !(input->last && p == end)) hold(reader, batch);
  input->pos = p;
  input->fault = fault;
}

/* How the fields are written. */
typedef struct {
  /*
   * Per field, its width, and the values that fit, from `from` to `from + most`. Only thread and heap have a `from`
   * other than 0: the value that takes no bytes until another one occurs.
   */
  unsigned width[ATTRIBUTES];
  uint64_t from[ATTRIBUTES], most[ATTRIBUTES];
  /* Which of thread, heap and time have had their first metadata. */
  uint32_t optional;
} Layout;

typedef struct {
  uint64_t losses;
  Layout layout;
} Writer;

#define BLOCK_FIELDS (HAS_size | HAS_address | HAS_thread | HAS_heap | HAS_time | HAS_attributes)
static const uint32_t CARRIED[KIND_COUNT] = {
  [ALLOC] = BLOCK_FIELDS,
  [FREE] = BLOCK_FIELDS & ~HAS_size,
  [REALLOC] = BLOCK_FIELDS | HAS_oldAddress | HAS_outcome,
  [EXISTING] = BLOCK_FIELDS,
  [HEAP_CREATE] = HAS_thread | HAS_heap | HAS_time | HAS_attributes,
  [HEAP_DESTROY] = HAS_thread | HAS_heap | HAS_time | HAS_attributes,
  [THREAD_CREATE] = HAS_thread | HAS_time | HAS_attributes,
  [THREAD_DESTROY] = HAS_thread | HAS_time | HAS_attributes,
  [COMMENT] = HAS_text,
};
/* By kind; comments and kinds without a record have an invalid tag. */
static const uint8_t TAGS[KIND_COUNT] = {
  [ALLOC] = TAG_ALLOC, [FREE] = TAG_FREE, [REALLOC] = TAG_REALLOC_NONE, [EXISTING] = TAG_ALLOC, [RESERVE] = 255,
  [HEAP_CREATE] = 6, [HEAP_DESTROY] = 7, [THREAD_CREATE] = 8, [THREAD_DESTROY] = 9, [COMMENT] = 255, [LOST] = 255, [OTHER] = 255,
};

static void begin_writing(void *state) {
  Writer *writer = state;
  memset(writer, 0, sizeof *writer);
  writer->layout.width[SIZE] = writer->layout.width[ADDR] = 4;
  writer->layout.most[SIZE] = writer->layout.most[ADDR] = UINT32_MAX;
}

static unsigned width_of(uint64_t value) {
  return value >> 32 != 0 ? 8 : value > 0xffff ? 4 : value > 0xff ? 2 : 1;
}

/* Writes the metadata that widens a field. */
static uint8_t *widen(Layout *layout, unsigned field, uint64_t value, uint8_t *out) {
  unsigned width = width_of(value), first = width_of(layout->from[field]);
  if (layout->width[field] == 0) {
    memcpy(out, (uint8_t[]){ TAG_METADATA, 2, (uint8_t)field, NONE }, 4);
    out += 4;
    /* The first value is likely to recur. */
    if (width < first) width = first;
    layout->from[field] = 0;
  }
  memcpy(out, (uint8_t[]){ TAG_METADATA, 1, (uint8_t)field, (uint8_t)width }, 4);
  layout->width[field] = width;
  layout->most[field] = UINT64_MAX >> (64 - 8 * width);
  return out + 4;
}

/* Lays out thread or heap at its first value, which becomes the default. */
static uint8_t *make_default(Layout *layout, unsigned field, uint64_t value, uint8_t *out) {
  memcpy(out, (uint8_t[]){ TAG_METADATA, 2, (uint8_t)field, DEFAULT }, 4);
  store64(out + 4, __builtin_bswap64(value));
  layout->from[field] = value;
  return out + 12;
}

static inline uint8_t *put(uint8_t *out, uint64_t value, unsigned width) {
  /* Shifted twice, because a shift by 64 bits is undefined. */
  unsigned half = 32 - 4 * width;
  store64(out, __builtin_bswap64(value << half << half));
  return out + width;
}

/* One record before it has a layout. */
typedef struct {
  /* Which of thread, heap and time the event has. */
  uint32_t given;
  uint64_t size, old_address, address, thread, heap, time;
} Record;

static inline bool is_within(const Layout *layout, unsigned field, uint64_t value) {
  return value - layout->from[field] <= layout->most[field];
}

/* Widens all fields as necessary, in the same order as the codec. */
static uint8_t *fit(Layout *layout, uint8_t *out, const Record *r) {
  uint32_t first = r->given & ~layout->optional;
  if (!is_within(layout, SIZE, r->size)) out = widen(layout, SIZE, r->size, out);
  if (!is_within(layout, ADDR, r->old_address)) out = widen(layout, ADDR, r->old_address, out);
  if (!is_within(layout, ADDR, r->address)) out = widen(layout, ADDR, r->address, out);
  if (!is_within(layout, TIME, r->time) || (first & HAS_time) != 0) out = widen(layout, TIME, r->time, out);
  if ((first & HAS_thread) != 0) out = make_default(layout, THREAD, r->thread, out);
  else if (!is_within(layout, THREAD, r->thread)) out = widen(layout, THREAD, r->thread, out);
  if ((first & HAS_heap) != 0) out = make_default(layout, HEAP, r->heap, out);
  else if (!is_within(layout, HEAP, r->heap)) out = widen(layout, HEAP, r->heap, out);
  layout->optional |= r->given;
  return out;
}

/* `layout` is a copy of `kept`, so that the compiler knows that nothing else writes to it. */
static inline __attribute__((always_inline)) uint8_t *write_record(Layout *kept, Layout *layout, uint8_t *out, unsigned tag, Record r) {
  if (tag >= TAG_CREATE_THREAD) r.heap = layout->from[HEAP];
  bool fits = is_within(layout, SIZE, r.size) & is_within(layout, ADDR, r.old_address) & is_within(layout, ADDR, r.address) &
    is_within(layout, TIME, r.time) & is_within(layout, THREAD, r.thread) & is_within(layout, HEAP, r.heap) & ((r.given & ~layout->optional) == 0);
  if (unlikely(!fits)) {
    out = fit(kept, out, &(Record){ r.given, r.size, r.old_address, r.address, r.thread, r.heap, r.time });
    *layout = *kept;
  }
  *out++ = (uint8_t)tag;
  if (tag <= TAG_REALLOC_FREED) {
    /* A free's size is not stored: its bytes are overwritten. */
    out = put(out, r.size, tag == TAG_FREE ? 0 : layout->width[SIZE]);
    if (tag > TAG_FREE) out = put(out, r.old_address, layout->width[ADDR]);
    out = put(out, r.address, layout->width[ADDR]);
  }
  out = put(out, r.thread, layout->width[THREAD]);
  if ((layout->optional & (HAS_heap | HAS_time)) != 0) {
    if (tag < TAG_CREATE_THREAD) out = put(out, r.heap, layout->width[HEAP]);
    out = put(out, r.time, layout->width[TIME]);
  }
  return out;
}

/* The outcome of a realloc without one, as in lib/blocks/realloc.ts. */
static unsigned outcome_of(uint32_t fields, const Record *record) {
  if ((fields & HAS_oldAddress) == 0) return OUTCOME_NONE;
  if (record->address == 0) return (fields & HAS_size) != 0 && record->size == 0 && record->old_address != 0 ? OUTCOME_FREED : OUTCOME_NONE;
  if (record->old_address == 0) return OUTCOME_ALLOCATED;
  return record->old_address == record->address ? OUTCOME_NONE : OUTCOME_MOVED;
}

static const char *write_batch(void *state, const Batch *batch, Output *output) {
  Writer *writer = state;
  uint8_t *out = output->bytes;
  uint64_t losses = writer->losses;
  Layout layout = writer->layout;
  for (uint32_t i = 0; i < batch->events; i++) {
    unsigned kind = batch->kind[i], tag = TAGS[kind];
    uint32_t fields = batch->mask[i];
    losses += (fields & ~CARRIED[kind]) != 0;
    if (unlikely(kind == COMMENT || (fields & HAS_attributes) != 0)) return "comments and attributes";
    if (tag > TAG_DESTROY_THREAD) continue;
    out = room(output, out);
    uint32_t stored = fields & CARRIED[kind], given = stored & (HAS_thread | HAS_heap | HAS_time);
    Record record = {
      .given = given,
      .size = (stored & HAS_size) != 0 ? batch->size[i] : 0,
      .address = (stored & HAS_address) != 0 ? batch->address[i] : 0,
      .thread = (given & HAS_thread) != 0 ? batch->thread[i] : 0,
      .heap = unlikely((given & HAS_heap) != 0) ? batch->heap[i] : 0,
      .time = unlikely((given & HAS_time) != 0) ? batch->time[i] : 0,
    };
    if (likely(kind != REALLOC)) {
      out = write_record(&writer->layout, &layout, out, tag, record);
      continue;
    }
    record.old_address = (fields & HAS_oldAddress) != 0 ? batch->oldAddress[i] : 0;
    unsigned outcome = (fields & HAS_outcome) != 0 ? batch->outcome[i] : outcome_of(fields, &record);
    Record part = record;
    part.old_address = 0;
    if (outcome == OUTCOME_MOVED || outcome == OUTCOME_ALLOCATED) out = write_record(&writer->layout, &layout, out, TAG_ALLOC, part);
    part.address = record.old_address;
    part.size = 0;
    if (outcome == OUTCOME_MOVED || outcome == OUTCOME_FREED) out = write_record(&writer->layout, &layout, out, TAG_FREE, part);
    out = write_record(&writer->layout, &layout, out, TAG_REALLOC_NONE + outcome, record);
  }
  writer->losses = losses;
  give(output, out);
  return NULL;
}

static void end_writing(void *state, Output *out) {
  (void)state;
  (void)out;
}

const Format hatf = { "hatf", sizeof(Reader), begin_reading, read_batch, sizeof(Writer), begin_writing, write_batch, end_writing };

/* NDJSON in the canonical form, without lists, base64 and nested objects; any other line is a fault here. */
#include "bytes.h"
#include <inttypes.h>
#include <stdio.h>

/* Strings of up to SHORT bytes are copied in one piece. */
enum { MAX_TEXT = 32, SHORT = 32 };

/* The text between the key of a field and its value, by type. */
#define OPENING_U64 "\":"
#define OPENING_U32 "\":"
#define OPENING_I32 "\":"
#define OPENING_JSON "\":"
#define OPENING_ADDRESS "\":\"0x"
#define OPENING_API "\":\""
#define OPENING_OUTCOME "\":\""
#define OPENING_STRING "\":\""
#define OPENING_BYTES "\":\""
#define OPENING_LIST "\":["
#define KEY(name, type) ",\"" #name OPENING_##type

/* A text that is compared and written in words, followed by zeros. */
typedef struct {
  char bytes[MAX_TEXT];
  unsigned length;
} Text;

#define TEXT(text) { text, sizeof text - 1 }
#define KIND_TEXT(name) TEXT("{\"kind\":\"" name "\"")
static const Text KINDS[KIND_COUNT] = {
  KIND_TEXT("alloc"), KIND_TEXT("free"), KIND_TEXT("realloc"), KIND_TEXT("existing"), KIND_TEXT("reserve"), KIND_TEXT("heap-create"),
  KIND_TEXT("heap-destroy"), KIND_TEXT("thread-create"), KIND_TEXT("thread-destroy"), KIND_TEXT("comment"), KIND_TEXT("lost"), KIND_TEXT("other"),
};
static const Text APIS[API_COUNT] = {
  TEXT("malloc\""), TEXT("calloc\""), TEXT("memalign\""), TEXT("realloc\""), TEXT("free\""), TEXT("new\""), TEXT("delete\""),
  TEXT("kmalloc\""), TEXT("kfree\""), TEXT("kmem_cache_alloc\""), TEXT("kmem_cache_free\""), TEXT("pages\""),
};
static const Text OUTCOMES[OUTCOME_COUNT] = { TEXT("none\""), TEXT("moved\""), TEXT("allocated\""), TEXT("freed\"") };

/* Fields by a hash of the text after a key's quote; FIELD_COUNT if there is none. */
static uint8_t KEY_TABLE[32768];

static inline unsigned key_hash(const uint8_t *p) {
  uint32_t word = load32(p);
  return (word & 31) << 10 | (word >> 8 & 31) << 5 | (word >> 16 & 31);
}

static void prepare(void) {
  memset(KEY_TABLE, FIELD_COUNT, sizeof KEY_TABLE);
#define F(name, type, of) KEY_TABLE[key_hash((const uint8_t *)KEY(name, type) + 2)] = FIELD_##name;
  FIELDS(F)
#undef F
}

static inline bool stands_at(const Text *text, const uint8_t *p) {
  return memcmp(text->bytes, p, text->length) == 0;
}

/* The index of the text at p, or the number of texts if none matches. */
static inline unsigned find(const Text *texts, unsigned count, const uint8_t *p) {
  unsigned found = 0;
  while (found < count && !stands_at(&texts[found], p)) found++;
  return found;
}

/* Writes a text; up to MAX_TEXT bytes are written, whatever its length. */
static inline uint8_t *put_text(uint8_t *out, const Text *text) {
  memcpy(out, text->bytes, MAX_TEXT);
  return out + text->length;
}

typedef struct {
  enum { BARE, OPEN, ENDED } state;
  uint64_t since_header;
} Reader;

static void begin_reading(void *state) {
  prepare();
  memset(state, 0, sizeof(Reader));
}

/* The quote that ends a string without escapes and control characters, or NULL. */
static inline const uint8_t *string_end(const uint8_t *p) {
#ifdef __SSE4_1__
  for (;; p += 16) {
    __m128i text = _mm_loadu_si128((const __m128i *)p);
    __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(text, _mm_set1_epi8(31)), text);
    __m128i special = _mm_or_si128(_mm_cmpeq_epi8(text, _mm_set1_epi8('"')), _mm_cmpeq_epi8(text, _mm_set1_epi8('\\')));
    unsigned stops = (unsigned)_mm_movemask_epi8(_mm_or_si128(control, special));
    if (stops == 0) continue;
    p += __builtin_ctz(stops);
    return *p == '"' ? p : NULL;
  }
#else
  for (;; p++) {
    if (*p == '"') return p;
    if (*p == '\\' || *p < ' ') return NULL;
  }
#endif
}

/* A decimal number in JSON, without leading zeros. */
static inline const uint8_t *number(const uint8_t *p, uint64_t *value) {
  if (unlikely(p[0] == '0' && p[1] - (unsigned)'0' <= 9)) return NULL;
  return decimal(p, value);
}

/* A header or end record. */
static const char *read_other(Reader *reader, const uint8_t *p, uint32_t i) {
  if (memcmp(p, "{\"kind\":\"header\"", 16) == 0) {
    if (reader->state == OPEN) return "a header record where the end record was due";
    reader->state = OPEN;
    reader->since_header = 0;
    return NULL;
  }
  uint64_t count;
  if (memcmp(p, "{\"kind\":\"end\",\"events\":", 23) != 0 || decimal(p + 23, &count) == NULL) return "not a line in the canonical form";
  if (count != reader->since_header + i) return "the end record counts other events than came";
  reader->state = ENDED;
  return NULL;
}

#define READ_ADDRESS(column) \
  p = hex(p, &batch->column[i]); \
  if (unlikely(p == NULL || *p++ != '"')) goto wrong
#define READ_U64(column) \
  p = number(p, &batch->column[i]); \
  if (unlikely(p == NULL)) goto wrong
#define READ_U32(column) \
  p = number(p, &value); \
  if (unlikely(p == NULL || value >> 32 != 0)) goto wrong; \
  batch->column[i] = (uint32_t)value
#define READ_I32(column) \
  negative = *p == '-'; \
  p = number(p + negative, &value); \
  if (unlikely(p == NULL || value > (uint64_t)INT32_MAX + negative)) goto wrong; \
  batch->column[i] = (int32_t)(negative ? -value : value)
#define READ_CODE(column, texts, count) \
  code = find(texts, count, p); \
  if (unlikely(code == count)) goto wrong; \
  batch->column[i] = (uint8_t)code; \
  p += texts[code].length
#define READ_API(column) READ_CODE(column, APIS, API_COUNT)
#define READ_OUTCOME(column) READ_CODE(column, OUTCOMES, OUTCOME_COUNT)
#define READ_STRING(column) \
  quote = string_end(p); \
  if (unlikely(quote == NULL)) goto wrong; \
  batch->column[i] = intern(strings, p, (size_t)(quote - p)); \
  p = quote + 1
#define READ_BYTES(column) goto wrong
#define READ_LIST(column) goto wrong
#define READ_JSON(column) goto wrong

static void read_batch(void *state, Input *input, Batch *batch) {
  Reader *reader = state;
  const uint8_t *start = input->pos, *end = input->end;
  const char *fault = NULL;
  Strings *strings = &batch->strings;
  uint32_t i = 0;
  uint64_t value;
  const uint8_t *quote;
  unsigned code;
  bool negative;
  while (end > start && end[-1] != '\n') end--;
  while (start < end && i < BATCH_EVENTS && strings->used <= BATCH_STRING_BYTES) {
    /* The lengths of the most frequent kinds are constants for the compiler. */
    unsigned kind;
    const uint8_t *p = start;
    if (memcmp(p, KINDS[ALLOC].bytes, 15) == 0 && p[15] == '"') kind = ALLOC, p += 16;
    else if (memcmp(p, KINDS[FREE].bytes, 15) == 0) kind = FREE, p += 15;
    else if ((kind = find(KINDS, KIND_COUNT, p)) < KIND_COUNT) p += KINDS[kind].length;
    if (unlikely(kind == KIND_COUNT)) {
      fault = read_other(reader, p, i);
      if (fault != NULL) break;
      start = (const uint8_t *)memchr(p, '\n', (size_t)(end - p)) + 1;
      continue;
    }
    if (unlikely(reader->state == ENDED)) {
      fault = "an event after the end record";
      break;
    }
    uint32_t mask = 0;
    while (*p == ',') {
      /*
       * A case for each field, so that the start of its value is predicted with the branch, without waiting for the
       * table.
       */
      switch (KEY_TABLE[key_hash(p + 2)]) {
#define F(name, type, of) \
  case FIELD_##name: \
    if (unlikely(memcmp(p, KEY(name, type), sizeof KEY(name, type) - 1) != 0)) goto wrong; \
    p += sizeof KEY(name, type) - 1; \
    mask |= HAS_##name; \
    READ_##type(name); \
    break;
        FIELDS(F)
#undef F
        default:
          goto wrong;
      }
    }
    if (unlikely(p[0] != '}' || p[1] != '\n')) goto wrong;
    batch->kind[i] = (uint8_t)kind;
    batch->mask[i] = mask;
    i++;
    start = p + 2;
  }
  goto done;
wrong:
  fault = "not a line in the canonical form";
done:
  reader->since_header += i;
  if (fault == NULL && input->last && start == end && reader->state == OPEN) fault = "the stream stops without its end record";
  batch->events = i;
  input->pos = start;
  input->fault = fault;
}

typedef struct {
  uint64_t events;
  /* Per string of the batch, 1 if it was checked, is short and needs no escapes. */
  uint8_t is_plain[STRING_SLOTS];
} Writer;

static void begin_writing(void *state) {
  memset(state, 0, sizeof(Writer));
}

/* Whether bytes need no escapes in a JSON string. */
static bool is_plain(const uint8_t *bytes, uint32_t length) {
  for (uint32_t i = 0; i < length; i++) if (bytes[i] < ' ' || bytes[i] > '~' || bytes[i] == '"' || bytes[i] == '\\') return false;
  return true;
}

/* Writes a string that was not checked before in this batch, or is long. NULL if it needs escapes. */
static uint8_t *write_string(Writer *writer, const Strings *strings, uint32_t id, uint8_t *out) {
  const uint8_t *bytes = strings->bytes + strings->starts[id];
  uint32_t length = string_length(strings, id);
  if (length > MARGIN / 8 || !is_plain(bytes, length)) return NULL;
  writer->is_plain[id] = length <= SHORT;
  memcpy(out, bytes, length);
  out[length] = '"';
  return out + length + 1;
}

#define WRITE_ADDRESS(column) \
  out = put_hex(out, batch->column[i]); \
  *out++ = '"'
#define WRITE_U64(column) out = put_decimal(out, batch->column[i])
#define WRITE_U32(column) out = put_decimal(out, batch->column[i])
#define WRITE_I32(column) \
  if (batch->column[i] < 0) *out++ = '-'; \
  out = put_decimal(out, (uint64_t)llabs(batch->column[i]))
#define WRITE_API(column) out = put_text(out, &APIS[batch->column[i]])
#define WRITE_OUTCOME(column) out = put_text(out, &OUTCOMES[batch->column[i]])
#define WRITE_STRING(column) \
  id = batch->column[i]; \
  if (likely(writer->is_plain[id])) { \
    /* A copy of a fixed length is cheaper than one of the right length. */ \
    memcpy(out, strings->bytes + strings->starts[id], SHORT); \
    out += string_length(strings, id); \
    *out++ = '"'; \
  } else { \
    out = write_string(writer, strings, id, out); \
    if (out == NULL) return "a string that has to be escaped, or a long one"; \
  }
#define WRITE_BYTES(column) return "a field that is no number or string"
#define WRITE_LIST(column) return "a field that is no number or string"
#define WRITE_JSON(column) return "a field that is no number or string"

static const char *write_batch(void *state, const Batch *batch, Output *output) {
  Writer *writer = state;
  const Strings *strings = &batch->strings;
  uint8_t *out = output->bytes;
  uint32_t id;
  memset(writer->is_plain, 0, strings->count);
  for (uint32_t i = 0; i < batch->events; i++) {
    out = put_text(room(output, out), &KINDS[batch->kind[i]]);
    for (uint32_t rest = batch->mask[i]; rest != 0; rest &= rest - 1) {
      switch (__builtin_ctz(rest)) {
#define F(name, type, of) \
  case FIELD_##name: \
    memcpy(out, KEY(name, type), sizeof KEY(name, type) - 1); \
    out += sizeof KEY(name, type) - 1; \
    WRITE_##type(name); \
    break;
        FIELDS(F)
#undef F
      }
    }
    *out++ = '}';
    *out++ = '\n';
  }
  writer->events += batch->events;
  give(output, out);
  return NULL;
}

static void end_writing(void *state, Output *out) {
  give(out, out->bytes + sprintf((char *)out->bytes, "{\"kind\":\"end\",\"events\":%" PRIu64 "}\n", ((Writer *)state)->events));
}

const Format ndjson = { "ndjson", sizeof(Reader), begin_reading, read_batch, sizeof(Writer), begin_writing, write_batch, end_writing };

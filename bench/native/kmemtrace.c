/* kmemtrace's relay records of little-endian machines. All-zero records, features and unknown ids are faults here. */
#include "bytes.h"

enum { CORE = 24, WHOLE = 48, TYPES = 3 };

#define SHARED (HAS_sequence | HAS_address | HAS_callSite | HAS_api)
#define ALLOC_FIELDS (SHARED | HAS_size | HAS_usable | HAS_gfpFlags | HAS_node)

static void begin(void *state) {
  memset(state, 0, sizeof(uint64_t));
}

static void read_batch(void *state, Input *input, Batch *batch) {
  static const uint8_t APIS[2][TYPES] = { { API_KMALLOC, API_KMEM_CACHE_ALLOC, API_PAGES }, { API_KFREE, API_KMEM_CACHE_FREE, API_PAGES } };
  (void)state;
  const uint8_t *p = input->pos, *end = input->end;
  const char *fault = NULL;
  uint32_t i = 0;
  while (p < end && i < BATCH_EVENTS) {
    unsigned event = p[0], type = p[1], length = load16(p + 2);
    bool is_alloc = event == 0;
    if (unlikely(event > 1 || type >= TYPES || length != (is_alloc ? WHOLE : CORE))) {
      if (end - p >= 4) fault = "not a record of a usual kind";
      break;
    }
    if (unlikely(end - p < (ptrdiff_t)length)) break;
    batch->sequence[i] = (int32_t)load32(p + 4);
    batch->callSite[i] = load64(p + 8);
    batch->address[i] = load64(p + 16);
    /* For a free, this reads the next record, and the value is not used; a check would cost more. */
    batch->size[i] = load64(p + 24);
    batch->usable[i] = load64(p + 32);
    batch->gfpFlags[i] = load32(p + 40);
    batch->node[i] = (int32_t)load32(p + 44);
    batch->kind[i] = (uint8_t)event;
    batch->api[i] = APIS[event][type];
    batch->mask[i] = is_alloc ? ALLOC_FIELDS : SHARED;
    i++;
    p += length;
  }
  if (fault == NULL && i < BATCH_EVENTS && input->last && p < end) fault = "the input ends within a record";
  batch->events = i;
  input->pos = p;
  input->fault = fault;
}

/* The type of an allocation and of a free by the function, or 255. */
static const uint8_t TYPE_OF[2][API_COUNT] = {
  { 255, 255, 255, 255, 255, 255, 255, 0, 255, 1, 255, 2 },
  { 255, 255, 255, 255, 255, 255, 255, 255, 0, 255, 1, 2 },
};

static const char *write_batch(void *state, const Batch *batch, Output *output) {
  uint64_t *losses = state;
  uint8_t *out = output->bytes;
  for (uint32_t i = 0; i < batch->events; i++) {
    unsigned kind = batch->kind[i];
    uint32_t fields = batch->mask[i];
    bool is_usual = kind <= FREE && (fields & (HAS_attributes | HAS_code | HAS_sequence)) == HAS_sequence;
    if (unlikely(!is_usual)) return "an event that is no usual record";
    bool is_alloc = kind == ALLOC;
    *losses += (fields & ~(is_alloc ? ALLOC_FIELDS : SHARED)) != 0;
    unsigned type = (fields & HAS_api) != 0 ? TYPE_OF[kind][batch->api[i]] : 0;
    if (unlikely(type > TYPES)) {
      type = 0;
      ++*losses;
    }
    out = room(output, out);
    unsigned length = is_alloc ? WHOLE : CORE;
    store32(out, kind | type << 8 | length << 16);
    store32(out + 4, (uint32_t)batch->sequence[i]);
    store64(out + 8, (fields & HAS_callSite) != 0 ? batch->callSite[i] : 0);
    store64(out + 16, (fields & HAS_address) != 0 ? batch->address[i] : 0);
    /* For a free, the next record overwrites this. */
    uint64_t size = (fields & HAS_size) != 0 ? batch->size[i] : 0;
    store64(out + 24, size);
    store64(out + 32, (fields & HAS_usable) != 0 ? batch->usable[i] : size);
    store32(out + 40, (fields & HAS_gfpFlags) != 0 ? batch->gfpFlags[i] : 0);
    store32(out + 44, (fields & HAS_node) != 0 ? (uint32_t)batch->node[i] : UINT32_MAX);
    out += length;
  }
  give(output, out);
  return NULL;
}

static void end_writing(void *state, Output *out) {
  (void)state;
  (void)out;
}

const Format kmemtrace = { "kmemtrace", 64, begin, read_batch, 64, begin, write_batch, end_writing };

/*
 * Runs one loop over one file: `yardstick FORMAT decode|encode FILE ROUNDS [OUT]`. Prints its results and the seconds
 * of each round.
 */
#define _POSIX_C_SOURCE 200809L
#include "columns.h"
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

static const Format *const FORMATS[] = { &mtrc, &mtrc_unresolved, &replay, &hatf, &kmemtrace, &ndjson };

static const struct { size_t offset; FieldType type; } COLUMNS[FIELD_COUNT] = {
#define F(name, type, of) { offsetof(Batch, name), type },
  FIELDS(F)
#undef F
};

static void fail(const char *where, const char *reason) {
  fprintf(stderr, "%s: %s\n", where, reason);
  exit(1);
}

static void *zeroed(size_t size) {
  void *memory = aligned_alloc(64, (size + 63) & ~(size_t)63);
  if (memory == NULL) fail("memory", "there is none");
  return memset(memory, 0, size);
}

/* The contents of a file, followed by zeros; text ends with a line feed. */
static uint8_t *load(const char *path, bool text, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) fail(path, "cannot be read");
  size_t size = (size_t)ftell(file);
  uint8_t *bytes = zeroed(size + 1 + PADDING);
  rewind(file);
  if (fread(bytes, 1, size, file) != size) fail(path, "cannot be read");
  fclose(file);
  if (text && size > 0 && bytes[size - 1] != '\n') bytes[size++] = '\n';
  *length = size;
  return bytes;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static inline uint32_t mix(uint32_t sum, uint32_t word) {
  sum = (sum ^ word) * 0x9e3779b1;
  return sum ^ sum >> 15;
}

/* The checksum of all data of the events, independent of the division into batches, as in bench/native/checksum.mjs. */
static uint32_t checksum(uint32_t sum, const Batch *batch) {
  for (uint32_t i = 0; i < batch->events; i++) {
    sum = mix(mix(sum, batch->kind[i]), batch->mask[i]);
    for (uint32_t rest = batch->mask[i]; rest != 0; rest &= rest - 1) {
      unsigned f = (unsigned)__builtin_ctz(rest);
      const uint8_t *column = (const uint8_t *)batch + COLUMNS[f].offset;
      if (COLUMNS[f].type <= ADDRESS) {
        uint64_t value = ((const uint64_t *)column)[i];
        sum = mix(mix(sum, (uint32_t)value), (uint32_t)(value >> 32));
      } else if (COLUMNS[f].type == API || COLUMNS[f].type == OUTCOME) {
        sum = mix(sum, column[i]);
      } else if (COLUMNS[f].type == U32 || COLUMNS[f].type == I32) {
        sum = mix(sum, ((const uint32_t *)column)[i]);
      } else {
        uint32_t id = ((const uint32_t *)column)[i];
        for (uint32_t b = batch->strings.starts[id]; b < batch->strings.starts[id + 1]; b++) sum = mix(sum, batch->strings.bytes[b]);
      }
    }
  }
  return sum;
}

/* Decodes all input. Each batch is passed to `take`, which returns the next one to fill. */
static uint64_t decode(const Format *format, void *reader, const uint8_t *bytes, size_t length, Batch *batch, Batch *(*take)(Batch *)) {
  Input input = { bytes, bytes + length, true, NULL };
  uint64_t events = 0;
  format->begin_reading(reader);
  do {
    batch->events = 0;
    clear_strings(&batch->strings);
    format->read(reader, &input, batch);
    events += batch->events;
    if (input.fault != NULL) {
      fprintf(stderr, "%s: offset %td, event %" PRIu64 ": %s\n", format->name, input.pos - bytes, events + 1, input.fault);
      exit(1);
    }
    if (batch->events == 0 && input.pos < input.end) fail(format->name, "does not go on");
    batch = take(batch);
  } while (input.pos < input.end);
  return events;
}

static Batch *reuse(Batch *batch) {
  return batch;
}

static uint32_t sum_of_all;
static Batch *add_to_sum(Batch *batch) {
  sum_of_all = checksum(sum_of_all, batch);
  return batch;
}

static Batch **kept;
static size_t kept_count;
static Batch *keep(Batch *batch) {
  kept = realloc(kept, (kept_count + 1) * sizeof *kept);
  kept[kept_count++] = batch;
  return calloc(1, sizeof(Batch));
}

static void only_count(Output *out, size_t n) {
  out->total += n;
}

static void to_file(Output *out, size_t n) {
  out->total += n;
  if (fwrite(out->bytes, 1, n, out->target) != n) fail("output", "cannot be written");
}

static void encode(const Format *format, void *writer, Output *out) {
  format->begin_writing(writer);
  for (size_t b = 0; b < kept_count; b++) {
    const char *fault = format->write(writer, kept[b], out);
    if (fault != NULL) fail(format->name, fault);
  }
  format->end_writing(writer, out);
}

int main(int argc, char **argv) {
  if (argc < 5) fail("usage", "yardstick FORMAT decode|encode FILE ROUNDS [OUT]");
  const Format *format = NULL;
  for (size_t f = 0; f < sizeof FORMATS / sizeof *FORMATS; f++) if (strcmp(FORMATS[f]->name, argv[1]) == 0) format = FORMATS[f];
  if (format == NULL) fail(argv[1], "is no format");
  int rounds = atoi(argv[4]);
  size_t length;
  const uint8_t *bytes = load(argv[3], format == &replay || format == &ndjson, &length);
  void *reader = zeroed(format->reader_size);
  if (strcmp(argv[2], "decode") == 0) {
    Batch *batch = zeroed(sizeof *batch);
    uint64_t events = decode(format, reader, bytes, length, batch, add_to_sum);
    printf("{\"events\":%" PRIu64 ",\"checksum\":%" PRIu32 ",\"seconds\":[", events, sum_of_all);
    for (int round = 0; round < rounds; round++) {
      double start = now();
      decode(format, reader, bytes, length, batch, reuse);
      printf("%s%.9f", round == 0 ? "" : ",", now() - start);
    }
  } else {
    uint64_t events = decode(format, reader, bytes, length, zeroed(sizeof(Batch)), keep);
    void *writer = zeroed(format->writer_size);
    Output *out = zeroed(sizeof *out);
    FILE *file = argc > 5 ? fopen(argv[5], "wb") : NULL;
    out->give = file != NULL ? to_file : only_count;
    out->target = file;
    encode(format, writer, out);
    if (file != NULL && fclose(file) != 0) fail(argv[5], "cannot be written");
    printf("{\"events\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"seconds\":[", events, out->total);
    out->give = only_count;
    for (int round = 0; round < rounds; round++) {
      double start = now();
      encode(format, writer, out);
      printf("%s%.9f", round == 0 ? "" : ",", now() - start);
    }
  }
  printf("]}\n");
  return 0;
}

/*
 * A complete program that converts MTRC to HATF with the fields unchanged: `convert FROM TO`. It reads and writes in
 * pieces, like programs in a pipe.
 */
#include "columns.h"
#include <stdio.h>

/* The input buffer. A record with its names takes at most MOST_RECORD bytes. */
enum { PIECE = 1 << 20, MOST_RECORD = 2 * 65536 + 512 };

static void to_file(Output *out, size_t n) {
  if (fwrite(out->bytes, 1, n, out->target) != n) {
    perror("output");
    exit(1);
  }
}

int main(int argc, char **argv) {
  FILE *from = argc == 3 ? fopen(argv[1], "rb") : NULL, *to = from != NULL ? fopen(argv[2], "wb") : NULL;
  if (to == NULL) {
    perror("usage: convert FROM TO");
    return 2;
  }
  setvbuf(from, NULL, _IONBF, 0);
  setvbuf(to, NULL, _IONBF, 0);
  uint8_t *buffer = calloc(1, PIECE + PADDING);
  Batch *batch = aligned_alloc(64, (sizeof *batch + 63) & ~(size_t)63);
  Output *out = malloc(sizeof *out);
  void *reader = calloc(1, mtrc.reader_size), *writer = calloc(1, hatf.writer_size);
  if (buffer == NULL || batch == NULL || out == NULL || reader == NULL || writer == NULL) abort();
  memset(batch, 0, sizeof *batch);
  out->give = to_file;
  out->target = to;
  mtrc.begin_reading(reader);
  hatf.begin_writing(writer);
  size_t length = 0;
  uint64_t offset = 0;
  for (;;) {
    length += fread(buffer + length, 1, PIECE - length, from);
    bool last = feof(from) || length < PIECE;
    memset(buffer + length, 0, PADDING);
    Input input = { buffer, buffer + length, last, NULL };
    while (last ? input.pos < input.end : input.end - input.pos > MOST_RECORD) {
      batch->events = 0;
      clear_strings(&batch->strings);
      mtrc.read(reader, &input, batch);
      const char *fault = hatf.write(writer, batch, out);
      if (input.fault != NULL || fault != NULL) {
        fprintf(stderr, "offset %llu: %s\n", (unsigned long long)(offset + (uint64_t)(input.pos - buffer)), fault != NULL ? fault : input.fault);
        return 1;
      }
      if (batch->events == 0) break;
    }
    size_t used = (size_t)(input.pos - buffer);
    offset += used;
    length -= used;
    memmove(buffer, input.pos, length);
    if (last) break;
  }
  return fclose(to) != 0;
}

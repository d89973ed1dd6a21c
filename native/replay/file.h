/* Opens a file of operations. Nothing in it is trusted: all is checked before anything runs. */
#ifndef FILE_H
#define FILE_H

#include "format.h"
#include "memory.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
  const char *bytes;
  uint64_t length;
  const struct tail *tail;
  const struct thread *threads;
  const struct chunk *chunks;
  uint32_t *participants; /* per epoch, the number of threads that enter it */
};

/* Whether a table of n entries lies in the file, before its tail. */
static int has_table(const struct file *file, uint64_t at, uint64_t n, uint64_t size) {
  uint64_t room = file->length - sizeof(struct tail);
  return at % 8 == 0 && at >= sizeof(struct head) && at <= room && n <= (room - at) / size;
}

static uint32_t checksum(const char *bytes, uint64_t length) {
  const uint32_t *words = (const uint32_t *)bytes;
  uint32_t sum = 0x811c9dc5u;
  for (uint64_t i = 0; i < length / 4; i++) sum = (sum ^ words[i]) * 0x01000193u;
  return sum;
}

/* What the check of one thread knows. */
struct check {
  const struct file *file;
  unsigned char *born; /* per thread: whether an operation begins it */
  uint64_t calls;
  uint32_t epoch, ended, owed, more, has_more;
};

static const char *check_op(struct check *c, const struct op *op, uint32_t me) {
  const struct tail *tail = c->file->tail;
  uint32_t kind = KIND(op), value = op->value;
  uint64_t size = (uint64_t)c->more << LOW_BITS | LOW(op);
  if (c->owed && kind != TO && kind != MORE) return "a realloc has no result";
  if (c->ended) return "a thread goes on after its end";
  if (c->has_more && kind != TO && kind != WAIT && (kind < MALLOC || kind > REALLOC))
    return "an operation cannot be larger";
  switch (kind) {
  case MALLOC:
  case CALLOC:
  case MEMALIGN:
    if (value >= tail->slots) return "a slot is out of range";
    if (size > MOST_SIZE) return "a size is out of range";
    c->calls++;
    break;
  case REALLOC:
    if (value != NONE && value >= tail->slots) return "a slot is out of range";
    if (size > MOST_SIZE) return "a size is out of range";
    c->owed = 1;
    c->calls++;
    break;
  case TO:
    if (!c->owed) return "a realloc is missing";
    if (value >= tail->slots) return "a slot is out of range";
    if (size > MOST_SIZE) return "a size is out of range";
    c->owed = 0;
    break;
  case FREE:
    if (value != NONE && value >= tail->slots) return "a slot is out of range";
    c->calls++;
    break;
  case MORE:
    if (value > MOST_ALIGNMENT) return "an alignment is out of range";
    c->more = LOW(op);
    c->has_more = 1;
    return NULL;
  case WAIT: {
    uint64_t position = (uint64_t)c->more << 32 | value;
    if (LOW(op) >= tail->threads || LOW(op) == me) return "a thread to wait for is out of range";
    if (position > c->file->threads[LOW(op)].ops) return "a position to wait for is out of range";
    break;
  }
  case EPOCH:
    if (value != NONE && (value >= tail->epochs || (c->epoch != NONE && value <= c->epoch)))
      return "an epoch is out of range";
    c->epoch = value;
    if (value != NONE) c->file->participants[value]++;
    break;
  case SPAWN:
    if (value == 0 || value >= tail->threads || c->born[value]) return "a thread begins twice, or is out of range";
    c->born[value] = 1;
    break;
  case EXIT:
    c->ended = 1;
    break;
  case TIME:
  case PUBLISH:
    break;
  default:
    return "an operation is unknown";
  }
  c->more = c->has_more = 0;
  return NULL;
}

/* What is wrong with the operations of a thread, or NULL. */
static const char *check_thread(struct check *c, uint32_t me) {
  const struct file *file = c->file;
  const struct thread *thread = file->threads + me;
  uint64_t ops = 0, calls = c->calls;
  if (thread->first_chunk > file->tail->chunks || thread->chunks > file->tail->chunks - thread->first_chunk)
    return "chunks are out of range";
  if (thread->chunks == 0) return "a thread has no operations";
  c->epoch = NONE;
  c->ended = c->owed = c->more = c->has_more = 0;
  for (uint64_t i = 0; i < thread->chunks; i++) {
    const struct chunk *chunk = file->chunks + thread->first_chunk + i;
    if (chunk->ops >= file->length || !has_table(file, chunk->offset, chunk->ops + 1, sizeof(struct op)))
      return "a chunk is out of range";
    const struct op *op = (const struct op *)(file->bytes + chunk->offset);
    for (uint64_t k = 0; k < chunk->ops; k++, op++) {
      const char *wrong = check_op(c, op, me);
      if (wrong) return wrong;
    }
    if (KIND(op) != LINK) return "a chunk has no end";
    /* An operation and what belongs to it are in one chunk. */
    if (c->owed || c->has_more) return "an operation is incomplete";
    ops += chunk->ops;
  }
  if (ops != thread->ops || c->calls - calls != thread->calls) return "numbers of operations differ";
  return NULL;
}

/* What is wrong with a file, or NULL. `born` has room for MOST_THREADS. */
static const char *check_file(struct file *file, unsigned char *born) {
  if (file->length < sizeof(struct head) + sizeof(struct tail) || file->length % 8)
    return "it is not a file of operations";
  const struct head *head = (const struct head *)file->bytes;
  const struct tail *tail = (const struct tail *)(file->bytes + file->length - sizeof(struct tail));
  if (memcmp(head->magic, MAGIC, 8)) return "it is not a file of operations";
  if (head->version != VERSION) return "it is of another version";
  if (memcmp(tail->magic, MAGIC, 8)) return "it is truncated";
  file->tail = tail;
  if (tail->checksum != checksum(file->bytes, (uint64_t)((const char *)&tail->checksum - file->bytes)))
    return "its checksum is wrong";
  if (tail->threads == 0 || tail->threads > MOST_THREADS) return "the number of threads is out of range";
  if (!has_table(file, tail->threads_at, tail->threads, sizeof(struct thread)) ||
      !has_table(file, tail->chunks_at, tail->chunks, sizeof(struct chunk)))
    return "a table is out of range";
  file->threads = (const struct thread *)(file->bytes + tail->threads_at);
  file->chunks = (const struct chunk *)(file->bytes + tail->chunks_at);
  if (tail->epochs >= NONE || tail->slots == NONE) return "numbers are out of range";
  /* Each slot is filled by an operation, and each epoch entered by one. */
  if (tail->slots > file->length / sizeof(struct op) || tail->epochs > file->length / sizeof(struct op))
    return "numbers are out of range";
  file->participants = shared(tail->epochs, sizeof *file->participants);
  if (!file->participants) return "there is no memory for its epochs";
  struct check c = {.file = file, .born = born};
  for (uint32_t me = 0; me < tail->threads; me++) {
    const char *wrong = check_thread(&c, me);
    if (wrong) return wrong;
  }
  for (uint32_t me = 1; me < tail->threads; me++)
    if (!born[me]) return "a thread never begins";
  for (uint64_t epoch = 0; epoch < tail->epochs; epoch++)
    if (file->participants[epoch] == 0) return "no thread enters an epoch";
  return c.calls == tail->calls ? NULL : "numbers of calls differ";
}

/* Maps a file. @returns what is wrong, or NULL */
static const char *open_file(struct file *file, const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat stats;
  if (fd < 0 || fstat(fd, &stats) || !S_ISREG(stats.st_mode)) return "it cannot be read";
  file->length = (uint64_t)stats.st_size;
  if (file->length < sizeof(struct head) + sizeof(struct tail)) return "it is not a file of operations";
  void *bytes = mmap(NULL, file->length, PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  if (bytes == MAP_FAILED) return "it cannot be mapped";
  file->bytes = bytes;
  return NULL;
}

#endif

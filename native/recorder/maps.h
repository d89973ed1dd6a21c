/*
 * The list of mappings of this process, as /proc/self/maps has it. Reads it without memory from a heap.
 */
#ifndef HEAPFLOW_RECORDER_MAPS_H
#define HEAPFLOW_RECORDER_MAPS_H

#include "state.h"

/* The buffer has at least one whole line at a time. */
struct maps {
  int fd;
  char *buffer;
  size_t size, used, at;
};

struct mapping {
  uint64_t low, high, offset, device, inode;
  /* "rwxp", with "-" for what it has not. */
  const char *rights;
  /* "" for memory without a name. It stays until the next mapping is read. */
  char *path;
};

static int open_maps(struct maps *m, char *buffer, size_t size) {
  *m = (struct maps){ .fd = open_file("/proc/self/maps", O_RDONLY), .buffer = buffer, .size = size };
  return m->fd >= 0;
}

static void close_maps(struct maps *m) { close_file(m->fd); }

/* Reads a number. */
static char *number(char *p, unsigned base, uint64_t *value) {
  *value = 0;
  for (;; p++) {
    unsigned digit = *p >= '0' && *p <= '9' ? (unsigned)(*p - '0') : *p >= 'a' && *p <= 'f' ? (unsigned)(*p - 'a') + 10 : 16;
    if (digit >= base) return p;
    *value = *value * base + digit;
  }
}

static char *hex(char *p, uint64_t *value) { return number(p, 16, value); }

static char *next_line(struct maps *m) {
  for (;;) {
    char *line = m->buffer + m->at, *end = line, *limit = m->buffer + m->used;
    while (end < limit && *end != '\n') end++;
    if (end < limit) {
      *end = 0;
      m->at = (size_t)(end + 1 - m->buffer);
      return line;
    }
    m->used -= m->at;
    memmove(m->buffer, line, m->used);
    m->at = 0;
    if (m->used == m->size) return NULL;
    ssize_t n = read_bytes(m->fd, m->buffer + m->used, m->size - m->used);
    if (n <= 0) return NULL;
    m->used += (size_t)n;
  }
}

/* The next mapping, by address. Returns 0 if there is none. */
static int next_mapping(struct maps *m, struct mapping *mapping) {
  char *p = next_line(m);
  if (p == NULL) return 0;
  p = hex(p, &mapping->low);
  p = hex(p + (*p != 0), &mapping->high);
  p += *p != 0;
  mapping->rights = p;
  while (*p != 0 && *p != ' ') p++;
  p = hex(p + (*p != 0), &mapping->offset);
  uint64_t minor;
  p = hex(p + (*p != 0), &mapping->device);
  p = hex(p + (*p != 0), &minor);
  mapping->device = mapping->device << 32 | minor;
  p = number(p + (*p != 0), 10, &mapping->inode);
  while (*p == ' ') p++;
  mapping->path = p;
  return 1;
}

#endif

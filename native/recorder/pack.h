/*
 * Writes the format "recorder": numbers of 7 bits a byte, differences where these are smaller, and each frame and stack
 * once. See lib/formats/recorder/README.md.
 */
#ifndef HEAPFLOW_RECORDER_PACK_H
#define HEAPFLOW_RECORDER_PACK_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "shared.h"

enum {
  T_PROCESS = 1, T_MODULE, T_FRAME, T_NODE, T_THREAD, T_LOST, T_END,
  E_MALLOC, E_CALLOC, E_ALIGNED, E_NEW_REALLOC, E_REALLOC, E_FREE, E_RELEASED, E_KEPT,
  SAME_STACK = 0x80,
};

static int out_fd = -1, whole_fd = -1, out_failed;
static uint8_t out[1 << 16];
static size_t out_used;
static uint64_t events;
/* What differences are from. */
static uint64_t last_time, last_address, last_frame;
static uint32_t last_node, last_tid;

struct module {
  uint64_t base, start, end;
  uint32_t number, id_length, path_length;
  uint8_t *text;
};
static struct module *modules;
static size_t module_count;
static uint32_t module_numbers;
/* Frames by address and stacks by frame and parent: open addressing, 0 is none. */
struct entry {
  uint64_t key;
  uint32_t parent, number;
};
struct table {
  struct entry *entries;
  size_t size, used;
};
static struct table frames, nodes;
static uint32_t frame_count, node_count;
/* The nodes of the last stack of each slot, the outermost first. */
static uint32_t *stacks[SLOTS];
static uint32_t depths[SLOTS];

static void pack_flush(void) {
  size_t done = 0;
  while (done < out_used && !out_failed) {
    ssize_t n = write(out_fd, out + done, out_used - done);
    if (n >= 0) done += (size_t)n;
    else if (errno != EINTR) {
      out_failed = 1;
      /* The consumer may have read enough. */
      if (errno != EPIPE) fprintf(stderr, "heapflow: cannot write the recording: %s\n", strerror(errno));
    }
  }
  out_used = 0;
}

static void put_bytes(const void *bytes, size_t n) {
  if (out_used + n > sizeof out) pack_flush();
  memcpy(out + out_used, bytes, n);
  out_used += n;
}

/* The longest record without strings has 8 numbers. */
static void begin_record(uint8_t tag) {
  if (out_used + 128 > sizeof out) pack_flush();
  out[out_used++] = tag;
}

static void put_number(uint64_t value) {
  while (value > 127) {
    out[out_used++] = (uint8_t)(value | 128);
    value >>= 7;
  }
  out[out_used++] = (uint8_t)value;
}

static void put_difference(uint64_t value, uint64_t from) {
  uint64_t difference = value - from;
  put_number(difference << 1 ^ (0 - (difference >> 63)));
}

static void *allocate(void *memory, size_t size) {
  void *result = realloc(memory, size);
  if (result == NULL) {
    fprintf(stderr, "heapflow: out of memory for the stacks of the recording\n");
    _exit(1);
  }
  return result;
}

static uint64_t hash(uint64_t key, uint32_t parent) {
  uint64_t h = (key ^ (uint64_t)parent << 40 ^ parent) * 0x9e3779b97f4a7c15ull;
  return h ^ h >> 29;
}

/* The entry of a key, which has the number 0 if it is new. */
static struct entry *entry_of(struct table *table, uint64_t key, uint32_t parent) {
  if (table->used * 2 >= table->size) {
    struct table old = *table;
    table->size = old.size == 0 ? 4096 : 2 * old.size;
    table->entries = allocate(NULL, table->size * sizeof *table->entries);
    memset(table->entries, 0, table->size * sizeof *table->entries);
    for (size_t i = 0; i < old.size; i++) {
      if (old.entries[i].number == 0) continue;
      size_t at = hash(old.entries[i].key, old.entries[i].parent) & (table->size - 1);
      while (table->entries[at].number != 0) at = (at + 1) & (table->size - 1);
      table->entries[at] = old.entries[i];
    }
    free(old.entries);
  }
  size_t at = hash(key, parent) & (table->size - 1);
  for (;; at = (at + 1) & (table->size - 1)) {
    struct entry *entry = &table->entries[at];
    if (entry->number == 0) {
      entry->key = key;
      entry->parent = parent;
      table->used++;
      return entry;
    }
    if (entry->key == key && entry->parent == parent) return entry;
  }
}

static void clear(struct table *table) {
  if (table->size > 0) memset(table->entries, 0, table->size * sizeof *table->entries);
  table->used = 0;
}

/* "-" stands for descriptor 3; the number of events is then written to descriptor 4 when all is written. */
static int pack_open(const char *path) {
  static const uint8_t magic[8] = { 0x89, 'H', 'F', 'R', 'E', 'C', '\n', 1 };
  if (path[0] == '-') {
    out_fd = 3;
    whole_fd = 4;
    if (fcntl(out_fd, F_SETFD, FD_CLOEXEC) < 0 || fcntl(whole_fd, F_SETFD, FD_CLOEXEC) < 0) return 0;
  } else out_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  put_bytes(magic, sizeof magic);
  return out_fd >= 0;
}

/* Another image of the program begins: nothing of the one before is used again. Its words, if they are known. */
static void pack_process(uint32_t pid, char **words) {
  char path[64], command[4096];
  ssize_t length = 0;
  if (words != NULL) {
    for (; *words != NULL; words++) {
      size_t n = strnlen(*words, sizeof command);
      if ((size_t)length + n + 1 > sizeof command) break;
      memcpy(command + length, *words, n + 1);
      length += (ssize_t)n + 1;
    }
  } else {
    snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) length = read(fd, command, sizeof command);
    if (fd >= 0) close(fd);
  }
  while (length > 0 && command[length - 1] == 0) length--;
  if (length < 0) length = 0;
  for (ssize_t i = 0; i < length; i++) if (command[i] == 0) command[i] = ' ';
  begin_record(T_PROCESS);
  put_number(pid);
  put_number((uint64_t)length);
  put_bytes(command, (size_t)length);
  clear(&frames);
  clear(&nodes);
  for (size_t i = 0; i < module_count; i++) free(modules[i].text);
  module_count = 0;
  module_numbers = frame_count = node_count = last_node = last_tid = 0;
  last_time = last_address = last_frame = 0;
  memset(depths, 0, sizeof depths);
}

static void pack_module(uint64_t base, uint64_t start, uint64_t end, const uint8_t *text, uint64_t id, uint64_t path) {
  if (id > MAX_BUILD_ID || path > MAX_PATH) return;
  for (size_t i = 0; i < module_count; i++) {
    struct module *m = &modules[i];
    if (m->base == base && m->start == start && m->end == end && m->id_length == id && m->path_length == path &&
        memcmp(m->text, text, id + path) == 0) return;
  }
  size_t kept = 0;
  int replaces = 0;
  for (size_t i = 0; i < module_count; i++) {
    if (modules[i].start < end && start < modules[i].end) {
      free(modules[i].text);
      replaces = 1;
    } else modules[kept++] = modules[i];
  }
  module_count = kept;
  /* Addresses have other meanings now. The stacks of threads stay what they were. */
  if (replaces) {
    clear(&frames);
    clear(&nodes);
  }
  modules = allocate(modules, (module_count + 1) * sizeof *modules);
  struct module *m = &modules[module_count++];
  *m = (struct module){ base, start, end, ++module_numbers, (uint32_t)id, (uint32_t)path, NULL };
  m->text = allocate(NULL, id + path + 1);
  memcpy(m->text, text, id + path);
  begin_record(T_MODULE);
  put_number(base);
  put_number(id);
  put_bytes(text, id);
  put_number(path);
  put_bytes(text + id, path);
}

static uint32_t frame_at(uint64_t pc) {
  struct entry *entry = entry_of(&frames, pc, 0);
  if (entry->number != 0) return entry->number;
  /* The call, and not what follows it, unless the instruction was interrupted. */
  uint64_t address = pc >> 63 ? pc & ~((uint64_t)1 << 63) : pc - 1;
  uint32_t module = 0;
  for (size_t i = 0; i < module_count; i++)
    if (address >= modules[i].start && address < modules[i].end) module = modules[i].number;
  begin_record(T_FRAME);
  put_number(module);
  put_difference(address, last_frame);
  last_frame = address;
  return entry->number = ++frame_count;
}

/* Brings the stack of a slot up to date. Returns its node. */
static uint32_t pack_stack(uint32_t slot, uint32_t same, const uint64_t *fresh, uint32_t count) {
  if (same + count > MAX_DEPTH + 1) count = MAX_DEPTH + 1 - same;
  if (stacks[slot] == NULL) stacks[slot] = allocate(NULL, (MAX_DEPTH + 1) * sizeof **stacks);
  uint32_t depth = same < depths[slot] ? same : depths[slot];
  for (uint32_t i = 0; i < count; i++, depth++) {
    uint32_t parent = depth == 0 ? 0 : stacks[slot][depth - 1];
    /* A frame of 0 is that of a walk that ended early. */
    uint32_t frame = fresh[i] == 0 ? 0 : frame_at(fresh[i]);
    struct entry *entry = entry_of(&nodes, frame, parent);
    if (entry->number == 0) {
      entry->number = ++node_count;
      begin_record(T_NODE);
      put_number(frame);
      put_number(node_count - parent);
    }
    stacks[slot][depth] = entry->number;
  }
  depths[slot] = depth;
  return depth == 0 ? 0 : stacks[slot][depth - 1];
}

static void pack_thread(uint32_t tid) {
  if (tid == last_tid) return;
  last_tid = tid;
  begin_record(T_THREAD);
  put_number(tid);
}

/* Times of threads differ by less than the time that a call takes; the order of events is that of their numbers. */
static void put_time(uint64_t time) {
  if (time < last_time) time = last_time;
  put_number(time - last_time);
  last_time = time;
}

static void put_address(uint64_t address) {
  put_difference(address, last_address);
  last_address = address;
}

static void pack_alloc(uint8_t tag, const uint64_t *record, uint32_t node) {
  uint64_t size = record[4], usable = record[5], value = record[6];
  begin_record(node == last_node ? tag | SAME_STACK : tag);
  put_time(record[2]);
  put_address(record[3]);
  put_number(size);
  put_number(usable < size ? 0 : usable - size);
  if (node != last_node) put_difference(node, last_node);
  last_node = node;
  if (tag == E_CALLOC || tag == E_ALIGNED) put_number(value);
  if (tag == E_REALLOC) put_difference(value, record[3]);
  events++;
}

static void pack_free(uint8_t tag, uint64_t time, uint64_t address) {
  begin_record(tag);
  put_time(time);
  put_address(address);
  events++;
}

static void pack_lost(uint32_t tid, uint64_t count) {
  pack_thread(tid);
  begin_record(T_LOST);
  put_number(count);
  events++;
}

static void pack_end(int kind, uint64_t value) {
  begin_record(T_END);
  put_number((uint64_t)kind);
  put_number(value);
  put_number(events);
  pack_flush();
  /* Says that everything was written, and how much. */
  if (whole_fd >= 0 && !out_failed) dprintf(whole_fd, "%llu", (unsigned long long)events);
}

#endif

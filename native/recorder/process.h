/*
 * What the reader knows of a process. A program that a process becomes by exec is another one.
 */
#ifndef HEAPFLOW_RECORDER_PROCESS_H
#define HEAPFLOW_RECORDER_PROCESS_H

#include <stdio.h>
#include <sys/types.h>
#include "shared.h"
#include "tables.h"

/* What the reader shares with all recorded programs, and its size. */
static struct control *control;
static uint32_t region_count = REGIONS, slot_count = SLOTS;

/* Frames, and nodes, that are found without the tables, which the processor's cache cannot hold. Powers of two. */
#define CACHED 4096u
#define CACHED_NODES 8192u
/* Events whose rings are known before it is their turn. A power of two. */
#define HINTS 4096u

/* A module, by its build id and path: `number` and `base` are those of the record, in which it was loaded at `base`. */
struct known_module {
  uint64_t base;
  uint32_t number, id_length, path_length;
  uint8_t *text;
};
/* Where a process has it. */
struct module {
  uint64_t base, start, end;
  uint32_t number;
};
struct cached {
  uint64_t pc;
  uint32_t frame;
};
/* A node by the program counter of its frame, and its parent. */
struct cached_node {
  uint64_t pc;
  uint32_t parent, node;
};
struct name {
  char text[16];
};

enum { BY_FORK, BY_EXEC, BY_START };

struct process {
  /* In the trace; 0 before its first event. */
  uint32_t number;
  uint32_t pid, parent;
  int how;
  struct region *region;
  /* How many slots the region has. */
  uint32_t room;
  int pid_fd, statm_fd;
  /* It has ended, or become another program; and the trace says so. */
  int is_gone, is_over;
  /* It is another program now, which has no region yet. That may come, unless the program is known to be unrecorded. */
  int is_replaced, is_unrecorded;
  /* How often in turn the other program was without the recorder. */
  uint32_t looks;
  /* The mappings of its program, which are none after an exec; NULL if they cannot be read. */
  FILE *maps;
  uint64_t resident;
  /* The number of the next event, its time, and the ring that has it. */
  uint64_t expected, next_time;
  uint32_t last_slot;
  /* Of each ring, how far the program has written when that was last looked at, and how far it was read. */
  uint64_t heads[SLOTS], tails[SLOTS];
  /* By the number of an event, the ring that may have it. */
  uint32_t hints[HINTS];
  uint64_t lost_seen[SLOTS], region_lost_seen;
  /* The old block of a realloc whose end has not come yet. */
  int is_held, is_split[SLOTS];
  uint32_t held_slot, held_tid;
  uint64_t held_address, held_time;
  struct module *modules;
  size_t module_count;
  struct cached cache[CACHED];
  struct cached_node cached_nodes[CACHED_NODES];
  /* The nodes of the last stack of each slot, the outermost first. */
  uint32_t *stacks[SLOTS];
  uint32_t depths[SLOTS];
  /* What the threads are called, if not as the process. */
  struct name own_name, names[SLOTS];
  /* The slot whose name is looked at next. */
  uint32_t next_named;
  /* Of a forked process, the blocks that it has allocated or freed: all others are its parent's. */
  struct table blocks;
};
enum { LIVE = 1, GONE };

#endif

/*
 * What the recorded program and the reader share: a memory file with one page of control, and after it one region for
 * each process that is recorded (exec begins another one). A region has the headers of rings, and the rings. Only what
 * is used of the file takes memory. Where the size of files is limited, there are fewer regions, with fewer rings each.
 */
#ifndef HEAPFLOW_RECORDER_SHARED_H
#define HEAPFLOW_RECORDER_SHARED_H

#include <stddef.h>
#include <stdint.h>

/* The environment variable with the path of the memory file. */
#define VARIABLE "HEAPFLOW_RECORDER"
#define MAGIC 0x36636552u
/* The most processes at once, and the most threads of a process. */
#define REGIONS 256u
#define SLOTS 4096u
/* What a process has of them at first. Address space is only taken when it is needed: it may be limited later. */
#define FIRST_SLOTS 64u
/* Fewer are of no use. */
#define LEAST_REGIONS 4u
#define LEAST_SLOTS 8u
#define RING_BYTES ((size_t)256 << 10)
#define RING_WORDS (RING_BYTES / 8)
/* A multiple of the size of a page, which is at most this. */
#define LARGEST_PAGE ((size_t)65536)
#define CONTROL_BYTES LARGEST_PAGE
/* The most frames of a stack, without the one that says that the walk ended early. */
#define MAX_DEPTH 1024u
/* Longer command lines are cut, in bytes. */
#define MAX_COMMAND 4096u

/* States of a slot. A thread that is ending may still have events; the reader frees its slot when it is gone. */
enum { SLOT_FREE, SLOT_USED, SLOT_ENDING };

struct control {
  uint32_t magic;
  /* The process to record if `children` is 0; all others that get the environment are left alone then. */
  uint32_t pid;
  uint32_t reader;
  uint32_t children;
  /* Settings. A depth of 0 means no stacks. */
  uint32_t depth;
  uint32_t drops;
  uint32_t free_stacks;
  /* The times of events are ticks of the processor, and not ns. */
  uint32_t has_ticks;
  /* How many regions there are, and how many slots each of them has. */
  uint32_t regions;
  uint32_t slots;
  /* The number of processes for which there was no region, and of those that had no address space for one. */
  uint32_t unrecorded;
  uint32_t unmapped;
  /* How many processes have begun: one has a higher number than its parent, and than what it was before an exec. */
  uint32_t begun;
  /* Forked processes that have not begun yet. */
  uint32_t forking;
  /* The reader sleeps on `bell` while `sleeping` is not 0. */
  _Alignas(64) uint32_t bell;
  uint32_t sleeping;
  /* The library with operators of C++ that a program calls, and that are not recorded. */
  char operators[64];
  /* Set when the reader takes no more events. */
  uint32_t closed;
  /* By region, the process that has it; 0 for none. The reader takes it back when the process has ended. */
  _Alignas(64) uint32_t owners[REGIONS];
};
_Static_assert(sizeof(struct control) <= CONTROL_BYTES, "control fits in its page");

/* Positions count words and never wrap. */
struct ring {
  _Alignas(64) uint64_t head;
  uint64_t lost;
  uint32_t state;
  uint32_t tid;
  _Alignas(64) uint64_t tail;
  uint32_t waiting;
};

struct region {
  uint32_t ready;
  uint32_t begun;
  uint32_t pid;
  /* The process that made it, and whether it was forked from that one and has its memory. */
  uint32_t parent;
  uint32_t is_forked;
  /* It may end blocks that it had before: it was forked, or ran already. */
  uint32_t has_inherited;
  /* For how long it ran already, in ms, if its recording did not begin with it. */
  uint32_t is_attached;
  uint64_t age;
  /* When it was started, in ticks: what tells a program that a process becomes from another process of its number. */
  uint64_t started;
  /* The file of the library, as the list of mappings shows it; 0 if that is not known. */
  uint64_t library_device, library_inode;
  /* The most slots that the process may have, and one more than the highest one that was used. */
  uint32_t room;
  uint32_t slots;
  uint32_t command_length;
  /* The number of events that no slot was left for. */
  uint64_t lost;
  /* The words of the command, each of which ends with 0. */
  char command[MAX_COMMAND];
  /* The number of the last event: events have the numbers from 1 on, over all threads. */
  _Alignas(64) uint64_t sequence;
  struct ring rings[SLOTS];
};

/* The size of the part of a region before its rings, of a region, and of the memory file. */
static inline size_t head_bytes(uint32_t slots) {
  return (offsetof(struct region, rings) + slots * sizeof(struct ring) + LARGEST_PAGE - 1) / LARGEST_PAGE * LARGEST_PAGE;
}
static inline size_t region_bytes(uint32_t slots) { return head_bytes(slots) + slots * RING_BYTES; }
static inline size_t file_bytes(uint32_t regions, uint32_t slots) {
  return CONTROL_BYTES + regions * region_bytes(slots);
}

/* The part of its address space that a program whose space is limited (ulimit -v) gives to the recorder. */
#define SPACE_PART 8u

/* How many slots a program may have. */
static inline uint32_t slots_within(uint64_t space, uint32_t slots, size_t thread_bytes) {
  uint64_t most = space / SPACE_PART / (RING_BYTES + thread_bytes);
  if (most >= slots) return slots;
  return most > LEAST_SLOTS ? (uint32_t)most : LEAST_SLOTS;
}

/*
 * Records of words. The first word has the kind in 8 bits, the number of words in 16, how many of the outermost frames
 * of the thread's previous stack this stack has, too, in 16, and the number of further frames in 16. Events have then
 * their number, time (ns, or ticks), address, and (allocations) size, usable size and one more value, and the further
 * frames, the outermost first. A frame of 0 says that the walk ended early. What ends a block in a process that has
 * inherited blocks has one word more before the frames: how many bytes of the block can be used.
 * A module has base, start, end, the length of its build id, and of its path in bytes, and both. An unloaded module has
 * where it started. A name has its bytes in two words.
 */
enum {
  R_MALLOC = 1,
  R_CALLOC,   /* the value is the number of elements */
  R_ALIGNED,  /* the value is the alignment */
  R_REALLOC,  /* the value is the old block, or 0 */
  R_FREE,
  R_OLD,      /* the old block of a realloc that begins */
  R_KEPT,     /* that realloc failed: the old block stays */
  R_RELEASED, /* that realloc freed the old block only */
  R_MODULE,
  R_UNLOADED,
  R_NAME,
  R_THREAD_END, /* the thread ends; with its time */
};
#define EVENT_WORDS 4u
#define ALLOC_WORDS 7u
#define MODULE_WORDS 6u
#define UNLOADED_WORDS 3u
#define NAME_WORDS 5u
#define THREAD_END_WORDS 3u
#define MAX_BUILD_ID 32u
/* The type of Go's own build id. */
#define GO_BUILD_ID 4u
#define MAX_PATH 1024u
/* The most words of a record. */
#define MAX_RECORD (ALLOC_WORDS + MAX_DEPTH + 1)

#endif

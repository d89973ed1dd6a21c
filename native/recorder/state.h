/*
 * The state of the recorder, its memory, and the system calls that it makes.
 */
#ifndef HEAPFLOW_RECORDER_STATE_H
#define HEAPFLOW_RECORDER_STATE_H

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "bytes.h"
#include "injected.h"
#include "machine/machine.h"
#include "shared.h"
#include "unwind.h"

#if !defined(__GLIBC__) || !__GLIBC_PREREQ(2, 17)
#error "heapflow's recorder needs glibc 2.17 or later"
#endif

/* Older headers do not have these. */
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define EXPORT __attribute__((visibility("default")))
#define NOINLINE __attribute__((noinline))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void *__libc_valloc(size_t);
extern void *__libc_pvalloc(size_t);
extern void __libc_free(void *);
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void *);

#define RULES 4096u     /* rules that a thread remembers, by program counter; a power of two */
#define RANGES 16u      /* parts of memory that are known to be stacks of a thread */
#define MODULES 512u    /* modules that a thread has reported */
#define THREADS 4096u   /* the least entries of the table of threads; a power of two */
#define EXACT ((uint64_t)1 << 63) /* the program counter is that of an interrupted instruction */
#define FAR_STEP 0x200000ull

struct remembered {
  uint64_t pc;
  struct rule rule;
};
struct range {
  uint64_t low, high;
};
/* A frame: its registers, and the addresses from which those of its caller were read, so that they can be read again.
   If `fp_at` is 0, the caller has the same frame pointer. If `pc_at` is 0, the walk cannot be checked. */
struct frame {
  uint64_t sp, pc, fp, fp_at, pc_at;
};
/* A thread is busy with a call, or with one that the recorder itself makes. */
enum { IN_CALL = 1, OWN_CALL };
struct thread {
  uint64_t pointer;
  struct ring *ring;
  uint64_t *words;
  uint64_t head, tail;
  uint32_t tid;
  int busy, ending;
  /* How often its destructor has been called. */
  int rounds;
  uint32_t generation;
  /* The stack bounds that were used last. */
  uint64_t low, high;
  struct range ranges[RANGES];
  uint32_t range_count;
  struct range modules[MODULES];
  uint32_t module_count;
  /* The previous walk, the outermost frame first, and whether it ended early. */
  uint32_t depth;
  int is_short;
  struct frame frames[MAX_DEPTH + 1];
  struct frame scratch[MAX_DEPTH + 1];
  /* The return address that was in a register when the last signal of a walk came, where there is one for it. */
  uint64_t link;
  struct remembered rules[RULES];
};
/* A page that is wiped in forked processes. */
struct alive {
  uint32_t alive;
  uint32_t lock;
};

/* What the reader can set; recorder.c has its values. */
static struct injected injected;
/* The first one is for a process that is not recorded. */
static struct alive unrecorded;
static struct alive *alive = &unrecorded;
static struct control *control;
static struct region *region;
static uint64_t *ring_words;
static uint32_t max_depth;
/* One for each slot that this process has now; there is room for more of them, up to `most_slots`. */
static struct thread *threads;
static uint32_t slot_count, most_slots;
/* The threads by their pointers, with open addressing. It is replaced by another one when it is half full. */
struct thread_table {
  uint64_t mask;
  struct {
    uint64_t pointer;
    struct thread *thread;
  } entries[];
};
static struct thread_table no_threads = { 0, { { 0, NULL } } };
static struct thread_table *table = &no_threads;
static uint32_t table_used;
static uint32_t generation = 1;
/* The path of the memory file, this process where the reader is, and whether it had blocks when recording began. */
static char memory_path[PATH_BYTES];
static uint32_t process_id;
static int has_inherited, has_free_stacks, has_ticks;
/* The modules that were reported, over all threads, so that those that were unloaded are known. */
static struct range seen[MODULES];
static uint32_t seen_count;
static uint64_t far_at = FAR;

static inline uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* When an event happens, in the unit of the recording. */
static inline uint64_t event_time(void) { return likely(has_ticks) ? ticks() : now(); }

static long futex(uint32_t *word, int op, uint32_t value, const struct timespec *timeout) {
  return syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

/* These are no points where a thread can be cancelled, as the functions of libc are: malloc is none. */
static int open_file(const char *path, int flags) { return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC); }
static ssize_t read_bytes(int fd, void *bytes, size_t n) { return syscall(SYS_read, fd, bytes, n); }
static void close_file(int fd) { syscall(SYS_close, fd); }
static void pause_for(long ns) {
  struct timespec pause = { 0, ns };
  syscall(SYS_nanosleep, &pause, NULL);
}

/* A program that was started without the recorder gets nothing on its standard error from it. */
static void say(const char *text) {
  if (!injected.is_injected) syscall(SYS_write, 2, text, strlen(text));
}

/* ---- memory ---- */

/* A library may have these functions in place of libc's, and call the allocator in them. */
static void *map_at(uint64_t at, size_t size, int flags, int fd, off_t offset) {
  return (void *)syscall(SYS_mmap, at, size, PROT_READ | PROT_WRITE, flags, fd, offset);
}
static void *map_again(void *memory, size_t from, size_t to, int flags, void *place) {
  return (void *)syscall(SYS_mremap, memory, from, to, flags, place);
}
static void unmap(void *memory, size_t size) { syscall(SYS_munmap, memory, size); }

/* Nothing else is mapped within so many bytes, so that the memory can grow. */
static void *map_within(size_t span, size_t size, int flags, int fd, off_t offset) {
  uint64_t at = __atomic_fetch_add(&far_at, (span + 2 * FAR_STEP - 1) & ~(FAR_STEP - 1), __ATOMIC_RELAXED);
  void *memory = map_at(at, size, flags | MAP_FIXED_NOREPLACE, fd, offset);
  if (memory == MAP_FAILED) memory = map_at(0, size, flags, fd, offset);
  return memory == MAP_FAILED ? NULL : memory;
}

static void *map_private_within(size_t span, size_t size) {
  return map_within(span, size, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static void *map_private(size_t size) { return map_private_within(size, size); }

static size_t table_bytes(uint64_t mask) { return sizeof *table + (mask + 1) * sizeof *table->entries; }

/* Gives the memory of a table back. Other threads may still look at it: they find nothing, and look again. */
static void drop_table(struct thread_table *dropped) {
  if (dropped != &no_threads) madvise(dropped, table_bytes(dropped->mask), MADV_DONTNEED);
}

static void lock(void) {
  while (__atomic_exchange_n(&alive->lock, 1, __ATOMIC_ACQUIRE)) sched_yield();
}

static void unlock(void) { __atomic_store_n(&alive->lock, 0, __ATOMIC_RELEASE); }

#endif

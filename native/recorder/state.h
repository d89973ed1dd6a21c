/*
 * The state of the recorder, its memory, the ring of each thread, and how a process begins to be recorded.
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
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "bytes.h"
#include "injected.h"
#include "shared.h"
#include "unwind.h"

#if !defined(__x86_64__) || !defined(__GLIBC__) || !__GLIBC_PREREQ(2, 17)
#error "heapflow's recorder needs x86-64 and glibc 2.17 or later"
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
#define THREADS 4096u   /* entries of the table of threads; a power of two */
#define EXACT ((uint64_t)1 << 63) /* the program counter is that of an interrupted instruction */
#define FAR 0x200000000000ull
#define FAR_STEP 0x200000ull

struct remembered {
  uint64_t pc;
  struct rule rule;
};
struct range {
  uint64_t low, high;
};
/* A frame: its registers, where its caller's rbp was read (0 for nowhere), and whether the way to its caller can be
   checked by reading the words again. */
struct frame {
  uint64_t sp, pc, bp, bp_at;
  int checkable;
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
static struct thread *threads;
static struct {
  uint64_t pointer;
  struct thread *thread;
} table[THREADS];
static uint32_t table_used;
static uint32_t generation = 1;
/* The path of the memory file, this process where the reader is, and whether it had blocks when recording began. */
static char memory_path[PATH_BYTES];
static uint32_t process_id;
static int has_inherited, has_free_stacks;
/* The modules that were reported, over all threads, so that those that were unloaded are known. */
static struct range seen[MODULES];
static uint32_t seen_count;
static uint64_t far_at = FAR;

static inline uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

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

static void *map(size_t size, int flags, int fd, off_t offset) {
  uint64_t at = __atomic_fetch_add(&far_at, (size + 2 * FAR_STEP - 1) & ~(FAR_STEP - 1), __ATOMIC_RELAXED);
  void *memory = mmap((void *)at, size, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, fd, offset);
  if (memory == MAP_FAILED) memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, offset);
  return memory == MAP_FAILED ? NULL : memory;
}

static void *map_private(size_t size) { return map(size, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0); }

static void lock(void) {
  while (__atomic_exchange_n(&alive->lock, 1, __ATOMIC_ACQUIRE)) sched_yield();
}

static void unlock(void) { __atomic_store_n(&alive->lock, 0, __ATOMIC_RELEASE); }

/* ---- the ring ---- */

static NOINLINE void ring_bell(void) {
  int error = errno;
  __atomic_fetch_add(&control->bell, 1, __ATOMIC_SEQ_CST);
  futex(&control->bell, FUTEX_WAKE, 1, NULL);
  errno = error;
}

static int reader_is_gone(void) {
  /* A reader that has ended but was not waited for is a zombie: the descriptor of the memory file is gone. */
  return syscall(SYS_kill, control->reader, 0) < 0 && errno == ESRCH;
}

/* Waits for room. Returns 0 if there is none: the event is dropped. */
static NOINLINE int wait_for_room(struct thread *t, uint64_t words) {
  int error = errno;
  for (unsigned tries = 1;; tries++) {
    t->tail = __atomic_load_n(&t->ring->tail, __ATOMIC_ACQUIRE);
    if (t->head + words - t->tail <= RING_WORDS) break;
    if (control->drops || __atomic_load_n(&control->closed, __ATOMIC_RELAXED)) goto drop;
    __atomic_store_n(&t->ring->waiting, 1, __ATOMIC_SEQ_CST);
    ring_bell();
    struct timespec timeout = { 0, 100000000 };
    futex((uint32_t *)&t->ring->tail, FUTEX_WAIT, (uint32_t)t->tail, &timeout);
    if (tries % 10 == 0 && reader_is_gone()) {
      control->closed = 1;
      say("heapflow: the reader of the recording is gone; the program runs on without being recorded\n");
      goto drop;
    }
  }
  errno = error;
  return 1;
drop:
  __atomic_fetch_add(&t->ring->lost, 1, __ATOMIC_RELAXED);
  errno = error;
  return 0;
}

static inline int reserve(struct thread *t, uint64_t words) {
  return likely(t->head + words - t->tail <= RING_WORDS) || wait_for_room(t, words);
}

static inline void put(struct thread *t, uint64_t at, uint64_t value) { t->words[at & (RING_WORDS - 1)] = value; }

static inline void commit(struct thread *t, uint64_t words) {
  uint64_t before = t->head;
  t->head = before + words;
  __atomic_store_n(&t->ring->head, t->head, __ATOMIC_RELEASE);
  /* At each eighth of the ring. */
  if (unlikely((before ^ t->head) & (RING_WORDS / 8)) && control->sleeping) ring_bell();
}

/* ---- start ---- */

/* The environment as the kernel gave it: calls come before libc has set `environ`. */
static int read_variable(char *value, size_t size) {
  static char buffer[4096];
  const size_t length = sizeof VARIABLE;
  int fd = open_file("/proc/self/environ", O_RDONLY), found = 0;
  if (fd < 0) return 0;
  /* A match of so many bytes of the name and "="; -1 in another variable; -2 within the value. */
  int matched = 0;
  size_t used = 0;
  ssize_t n;
  while (!found && (n = read_bytes(fd, buffer, sizeof buffer)) > 0) {
    for (ssize_t i = 0; i < n && !found; i++) {
      char c = buffer[i];
      if (matched == -2) {
        if (used + 1 < size) value[used++] = c;
        if (c == 0) value[used] = 0, found = 1;
      } else if (c == 0) matched = 0;
      else if (matched >= 0) {
        matched = c == (VARIABLE "=")[matched] ? matched + 1 : -1;
        if (matched == (int)length) matched = -2;
      }
    }
  }
  close_file(fd);
  return found;
}

/* The number of this process where the reader is: in the namespace of its /proc, through which the file is opened. */
static uint32_t own_pid(void) {
  char text[24];
  ssize_t n = readlink("/proc/self", text, sizeof text - 1);
  uint32_t pid = 0;
  for (ssize_t i = 0; i < n && text[i] >= '0' && text[i] <= '9'; i++) pid = pid * 10 + (uint32_t)(text[i] - '0');
  return pid != 0 ? pid : (uint32_t)getpid();
}

/* Takes a region that no process has. Returns REGIONS if none is free for a while. */
static uint32_t take_region(uint32_t pid) {
  for (int tries = 0; tries < 200 && !control->closed; tries++) {
    for (uint32_t i = 0; i < REGIONS; i++) {
      uint32_t none = 0;
      if (control->owners[i] != 0) continue;
      if (__atomic_compare_exchange_n(&control->owners[i], &none, pid, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) return i;
    }
    ring_bell();
    pause_for(5000000);
  }
  return REGIONS;
}

static void read_command(void) {
  int fd = open_file("/proc/self/cmdline", O_RDONLY);
  if (fd < 0) return;
  ssize_t n = read_bytes(fd, region->command, MAX_COMMAND);
  region->command_length = n > 0 ? (uint32_t)n : 0;
  close_file(fd);
}

/* The time at which this process was started: the 20th number after the name, which may have any characters. */
static uint64_t start_time(void) {
  char text[1024];
  int fd = open_file("/proc/self/stat", O_RDONLY);
  ssize_t n = fd < 0 ? 0 : read_bytes(fd, text, sizeof text - 1);
  if (fd >= 0) close_file(fd);
  text[n > 0 ? n : 0] = 0;
  const char *p = strrchr(text, ')');
  for (int i = 0; p != NULL && i < 20; i++) p = strchr(p + 1, ' ');
  uint64_t time = 0;
  for (p = p == NULL ? "" : p + 1; *p >= '0' && *p <= '9'; p++) time = time * 10 + (uint64_t)(*p - '0');
  return time;
}

/* parent: the process from which this one was forked, or 0. */
static int open_region(const char *path, uint32_t parent) {
  int fd = open_file(path, O_RDWR);
  if (fd < 0) return 0;
  int is_open = 0;
  uint32_t pid = own_pid();
  if (control == NULL) control = map(CONTROL_BYTES, MAP_SHARED, fd, 0);
  if (control == NULL || control->magic != MAGIC || control->closed) goto end;
  if (!control->children && control->pid != pid) goto end;
  uint32_t number = take_region(pid);
  if (number == REGIONS) goto fail;
  region = map(REGION_BYTES, MAP_SHARED | MAP_NORESERVE, fd, (off_t)(CONTROL_BYTES + number * REGION_BYTES));
  if (region == NULL) {
    say("heapflow: there is no address space for the recording; the program is not recorded\n");
    __atomic_store_n(&control->owners[number], 0, __ATOMIC_RELEASE);
    goto fail;
  }
  ring_words = (uint64_t *)(void *)((char *)region + HEAD_BYTES);
  madvise(region, REGION_BYTES, MADV_DONTFORK);
  max_depth = control->depth < MAX_DEPTH ? control->depth : MAX_DEPTH;
  has_free_stacks = max_depth > 0 && control->free_stacks;
  has_inherited = parent != 0;
  process_id = region->pid = pid;
  region->parent = parent != 0 ? parent : (uint32_t)getppid();
  region->is_forked = region->has_inherited = parent != 0;
  region->started = start_time();
  read_command();
  region->begun = __atomic_add_fetch(&control->begun, 1, __ATOMIC_SEQ_CST);
  __atomic_store_n(&region->ready, 1, __ATOMIC_RELEASE);
  ring_bell();
  is_open = 1;
  goto end;
fail:
  __atomic_fetch_add(&control->unrecorded, 1, __ATOMIC_RELAXED);
end:
  /* No descriptor is kept, so the program may close all of its own. */
  close_file(fd);
  return is_open;
}

/*
 * Forks are announced, so that the reader waits for processes that their parent does not. A process that is forked
 * without this is noticed at its first call.
 */
static void before_fork(void) {
  if (injected.state == ON && control->children) __atomic_fetch_add(&control->forking, 1, __ATOMIC_SEQ_CST);
}

static NOINLINE void begin_child(void) {
  int error = errno;
  lock();
  if (!alive->alive && injected.state == ON) {
    memset(table, 0, sizeof table);
    table_used = seen_count = 0;
    /* Another thread may have been about to change what is known of modules. */
    generation++;
    region = NULL;
    if (control->children && open_region(memory_path, process_id)) alive->alive = 1;
    else injected.state = OFF;
  }
  unlock();
  errno = error;
}

static void after_fork(void) {
  if (injected.state != ON || !control->children) return;
  begin_child();
  __atomic_fetch_sub(&control->forking, 1, __ATOMIC_SEQ_CST);
  ring_bell();
}

/*
 * What else the library has that the reader has loaded, when it is called for the first time. That may be in a process
 * that was forked since: `alive` says so, which the reader has set.
 */
static int begin_injected(void) {
  struct injected *in = &injected;
  control = (struct control *)in->control;
  region = (struct region *)in->region;
  alive = (struct alive *)in->alive;
  threads = (struct thread *)in->threads;
  ring_words = (uint64_t *)(void *)((char *)region + HEAD_BYTES);
  far_at = in->far_at;
  process_id = in->pid;
  memcpy(memory_path, in->path, sizeof memory_path);
  max_depth = control->depth < MAX_DEPTH ? control->depth : MAX_DEPTH;
  has_free_stacks = max_depth > 0 && control->free_stacks;
  has_inherited = 1;
  /* Forks are not announced: the lock of their handlers may be held now, by a handler that calls this. */
  return 1;
}

static int begin_loaded(void) {
  struct alive *wiped = map_private(4096);
  threads = map_private(sizeof *threads * SLOTS);
  if (wiped == NULL || threads == NULL || madvise(wiped, 4096, MADV_WIPEONFORK) != 0) return 0;
  alive = wiped;
  if (!read_variable(memory_path, sizeof memory_path) || !open_region(memory_path, 0) ||
      __register_atfork(before_fork, NULL, after_fork, NULL) != 0)
    return 0;
  alive->alive = 1;
  return 1;
}

static NOINLINE void begin(void) {
  int error = errno, before = NOT_BEGUN;
  /* The calls that other threads make meanwhile are not recorded. */
  if (!__atomic_compare_exchange_n(&injected.state, &before, OFF, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return;
  if (injected.is_injected ? begin_injected() : begin_loaded()) __atomic_store_n(&injected.state, ON, __ATOMIC_SEQ_CST);
  errno = error;
}

#endif

/*
 * The state of the recorder, the ring of each thread, and how threads are recognized.
 */
#ifndef HEAPFLOW_RECORDER_THREADS_H
#define HEAPFLOW_RECORDER_THREADS_H

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "shared.h"
#include "unwind.h"

#if !defined(__x86_64__) || !defined(__GLIBC__) || !__GLIBC_PREREQ(2, 35)
#error "heapflow's recorder needs x86-64 and glibc 2.35 or later"
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
struct thread {
  uint64_t pointer;
  struct ring *ring;
  uint64_t *words;
  uint64_t head, tail;
  uint32_t tid;
  int busy, ending;
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

enum { NOT_BEGUN, OFF, ON };
static int state;
static struct alive *alive;
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
static pthread_key_t key;
static uint64_t far_at = FAR;

static long futex(uint32_t *word, int op, uint32_t value, const struct timespec *timeout) {
  return syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

static void say(const char *text) {
  if (write(2, text, strlen(text)) < 0) {}
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
  int fd = open("/proc/self/environ", O_RDONLY | O_CLOEXEC), found = 0;
  if (fd < 0) return 0;
  /* A match of so many bytes of the name and "="; -1 in another variable; -2 within the value. */
  int matched = 0;
  size_t used = 0;
  ssize_t n;
  while (!found && (n = read(fd, buffer, sizeof buffer)) > 0) {
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
  close(fd);
  return found;
}

static void thread_ends(void *unused);

static int open_region(void) {
  static char path[128];
  if (!read_variable(path, sizeof path)) return 0;
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return 0;
  int is_open = 0;
  control = map(CONTROL_BYTES, MAP_SHARED, fd, 0);
  if (control == NULL || control->magic != MAGIC || control->pid != (uint32_t)getpid() || control->closed) goto end;
  uint32_t number = __atomic_fetch_add(&control->regions, 1, __ATOMIC_SEQ_CST);
  if (number >= REGIONS) goto end;
  region = map(REGION_BYTES, MAP_SHARED | MAP_NORESERVE, fd, (off_t)(CONTROL_BYTES + number * REGION_BYTES));
  if (region == NULL) {
    say("heapflow: there is no address space for the recording; the program is not recorded\n");
    goto end;
  }
  ring_words = (uint64_t *)(void *)((char *)region + HEAD_BYTES);
  madvise(region, REGION_BYTES, MADV_DONTFORK);
  max_depth = control->depth < MAX_DEPTH ? control->depth : MAX_DEPTH;
  region->pid = (uint32_t)getpid();
  __atomic_store_n(&region->ready, 1, __ATOMIC_RELEASE);
  is_open = 1;
end:
  /* No descriptor is kept, so the program may close all of its own. */
  close(fd);
  return is_open;
}

static NOINLINE void begin(void) {
  int error = errno;
  state = OFF;
  alive = map_private(4096);
  threads = map_private(sizeof *threads * SLOTS);
  if (alive != NULL && threads != NULL && madvise(alive, 4096, MADV_WIPEONFORK) == 0 && open_region() &&
      pthread_key_create(&key, thread_ends) == 0) {
    alive->alive = 1;
    state = ON;
  }
  errno = error;
}

/* ---- threads ---- */

/*
 * Threads are found by the thread pointer: a variable of each thread would enlarge what pthread_create allocates in the
 * program's heap, and move all later blocks.
 */
static inline uint32_t place_of(uint64_t pointer) { return (uint32_t)(pointer * 0x9e3779b97f4a7c15ull >> 52); }

static inline struct thread *find(uint64_t pointer) {
  for (uint32_t i = place_of(pointer);; i = (i + 1) & (THREADS - 1)) {
    uint64_t found = __atomic_load_n(&table[i].pointer, __ATOMIC_ACQUIRE);
    if (likely(found == pointer)) return table[i].thread;
    if (found == 0) return NULL;
  }
}

static int remember(uint64_t pointer, struct thread *t) {
  uint32_t i = place_of(pointer);
  for (; table[i].pointer != 0; i = (i + 1) & (THREADS - 1)) {
    if (table[i].pointer == pointer) {
      table[i].thread = t;
      return 1;
    }
  }
  if (table_used >= THREADS / 2) return 0;
  table_used++;
  table[i].thread = t;
  __atomic_store_n(&table[i].pointer, pointer, __ATOMIC_RELEASE);
  return 1;
}

/* Gives the thread a slot. Returns 0 if there is none, but one will be free when the reader looks at it. */
static int try_attach(uint64_t pointer, struct thread **result) {
  struct thread *t = NULL;
  int is_ending = 0;
  lock();
  for (uint32_t slot = 0; slot < SLOTS; slot++) {
    struct ring *ring = &region->rings[slot];
    uint32_t slot_state = __atomic_load_n(&ring->state, __ATOMIC_ACQUIRE);
    is_ending |= slot_state == SLOT_ENDING;
    if (slot_state != SLOT_FREE) continue;
    is_ending = 0;
    if (!remember(pointer, &threads[slot])) break;
    t = &threads[slot];
    t->pointer = pointer;
    t->ring = ring;
    t->words = ring_words + (size_t)slot * RING_WORDS;
    t->head = t->tail = ring->head;
    t->tid = ring->tid = (uint32_t)syscall(SYS_gettid);
    t->ending = 0;
    /* Nothing that was remembered of the slot's last thread is used again. */
    t->generation = generation - 1;
    t->range_count = 0;
    t->low = t->high = 0;
    t->module_count = 0;
    if (slot >= region->slots) region->slots = slot + 1;
    __atomic_store_n(&ring->state, SLOT_USED, __ATOMIC_RELEASE);
    break;
  }
  unlock();
  *result = t;
  return !is_ending;
}

static NOINLINE struct thread *attach(uint64_t pointer) {
  int error = errno;
  struct thread *t = NULL;
  for (int tries = 0; !try_attach(pointer, &t) && tries < 100; tries++) {
    struct timespec pause = { 0, 1000000 };
    ring_bell();
    nanosleep(&pause, NULL);
  }
  if (t == NULL) __atomic_fetch_add(&region->lost, 1, __ATOMIC_RELAXED);
  else {
    t->busy = 1;
    pthread_setspecific(key, t);
    t->busy = 0;
  }
  errno = error;
  return t;
}

/* The thread still frees blocks after this. The reader gives its slot to another one when the thread is gone. */
static void thread_ends(void *value) {
  struct thread *t = value;
  if (!alive->alive) return;
  t->ending = 1;
  __atomic_store_n(&t->ring->state, SLOT_ENDING, __ATOMIC_RELEASE);
}

static NOINLINE struct thread *enter_slowly(uint64_t pointer) {
  if (state == NOT_BEGUN) begin();
  /* Forked processes are not recorded. */
  if (state != ON || !alive->alive || control->closed) return NULL;
  struct thread *t = find(pointer);
  if (t == NULL || t->pointer != pointer) return attach(pointer);
  if (t->ending) {
    int error = errno;
    /* Another thread may have got the thread pointer of one that has ended. */
    if (t->tid != (uint32_t)syscall(SYS_gettid)) t = attach(pointer);
    errno = error;
  }
  return t;
}

/* The thread of a call that is to be recorded; NULL if it is not. */
static inline struct thread *enter(void) {
  uint64_t pointer = (uint64_t)__builtin_thread_pointer();
  if (unlikely(state == OFF)) return NULL;
  struct thread *t = find(pointer);
  if (unlikely(t == NULL || t->pointer != pointer || t->ending || !alive->alive || control->closed)) {
    t = enter_slowly(pointer);
    if (t == NULL) return NULL;
  }
  if (unlikely(t->busy)) {
    /* A signal handler that interrupted this code, or what this code calls. */
    __atomic_fetch_add(&t->ring->lost, 1, __ATOMIC_RELAXED);
    return NULL;
  }
  t->busy = 1;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return t;
}

static inline void leave(struct thread *t) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  t->busy = 0;
}

#endif

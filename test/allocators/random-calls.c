/*
 * Executes random allocation calls and logs each with its address, in the order of execution, as memory_replay text:
 *
 *   random-calls SEED PATTERN THREADS CALLS FILE [PAIRS]
 *
 * With PAIRS, the first thread allocates and frees a small block that often before the others start. With PRELOADED
 * defined, the allocator is that of a library in LD_PRELOAD instead of glibc's. PATTERN chooses sizes: see size_of.
 * Threads take turns, free each other's blocks, end and are replaced. Calls that the dynamic linker makes are logged
 * too, because it uses the functions that are defined here.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef PRELOADED
/* The allocator is in a library that is loaded before glibc. */
#include <dlfcn.h>
static void *next(const char *name) {
  void *function = dlsym(RTLD_NEXT, name);
  if (function == NULL) _exit(3);
  return function;
}
#define NEXT(result, name, parameters, arguments)                              \
  static result __libc_##name parameters {                                     \
    static result(*function) parameters;                                       \
    if (function == NULL) function = (result(*) parameters)next(#name);        \
    return function arguments;                                                 \
  }
NEXT(void *, malloc, (size_t size), (size))
NEXT(void *, calloc, (size_t count, size_t size), (count, size))
NEXT(void *, realloc, (void *old, size_t size), (old, size))
NEXT(void *, memalign, (size_t alignment, size_t size), (alignment, size))
NEXT(void, free, (void *block), (block))
#else
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);
#endif

/* The log: mapped once, so that writing it allocates nothing. */
static char *log_at;
static int is_logging;
static __thread int thread_id;

static int own_id(void) {
  if (thread_id == 0) thread_id = (int)syscall(SYS_gettid);
  return thread_id;
}

static void put_decimal(uint64_t value) {
  char digits[20];
  int n = 0;
  do digits[n++] = (char)('0' + value % 10);
  while ((value /= 10) != 0);
  while (n > 0) *log_at++ = digits[--n];
  *log_at++ = ' ';
}

static void put_address(const void *address) {
  uintptr_t value = (uintptr_t)address;
  int shift = 8 * (int)sizeof value - 4;
  *log_at++ = '0';
  *log_at++ = 'x';
  while (shift > 0 && (value >> shift & 15) == 0) shift -= 4;
  for (; shift >= 0; shift -= 4) *log_at++ = "0123456789abcdef"[value >> shift & 15];
  *log_at++ = ' ';
}

static void put_call(int id, const char *name) {
  put_decimal((uint64_t)id);
  log_at[-1] = ':';
  *log_at++ = ' ';
  while (*name != '\0') *log_at++ = *name++;
  *log_at++ = ' ';
}

static void end_call(void) { log_at[-1] = '\n'; }

void *malloc(size_t size) {
  void *block = __libc_malloc(size);
  if (is_logging && block != NULL) {
    put_call(own_id(), "malloc");
    put_address(block);
    put_decimal(size);
    end_call();
  }
  return block;
}

void *calloc(size_t count, size_t size) {
  void *block = __libc_calloc(count, size);
  if (is_logging && block != NULL) {
    put_call(own_id(), "calloc");
    put_address(block);
    put_decimal(count);
    put_decimal(size);
    end_call();
  }
  return block;
}

void *realloc(void *old, size_t size) {
  void *block = __libc_realloc(old, size);
  if (is_logging && block != NULL) {
    put_call(own_id(), "realloc");
    put_address(block);
    put_address(old);
    put_decimal(size);
    end_call();
  }
  return block;
}

void *memalign(size_t alignment, size_t size) {
  void *block = __libc_memalign(alignment, size);
  if (is_logging && block != NULL) {
    put_call(own_id(), "memalign");
    put_address(block);
    put_decimal(alignment);
    put_decimal(size);
    end_call();
  }
  return block;
}

void free(void *block) {
  if (is_logging && block != NULL) {
    put_call(own_id(), "free");
    put_address(block);
    end_call();
  }
  __libc_free(block);
}

/* Random numbers: xorshift, the same everywhere. */
static uint64_t state;

static uint32_t below(uint32_t limit) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return limit == 0 ? 0 : (uint32_t)(state >> 24) % limit;
}

enum { MOST_BLOCKS = 16384, MOST_THREADS = 64 };
static int pattern;
static void *blocks[MOST_BLOCKS];
static int block_count, wanted_blocks = 300, order;
static size_t usual_size = 40;

static size_t size_of(int kind) {
  static const size_t edges[] = {8,   24,  25,   40,   56,   104,  120,  121,  136,  504,  505,
                                 520, 996, 1000, 1009, 1020, 1032, 1033, 1040, 1056, 2040, 65536};
  switch (kind) {
  case 0: return 1 + below(128);                              /* tiny */
  case 1: return below(4097);                                 /* mixed */
  case 2: return 65536 + below(900000);                       /* around the threshold for mappings */
  case 3: return 90000 + below(below(3) != 0 ? 300000 : 5000000);
  case 4: return 1 + below(1u << (3 + below(below(8) != 0 ? 6 : 14)));  /* few large ones */
  case 5: return below(20) != 0 ? usual_size : 1 + below(2000);         /* one size at a time */
  case 6: return edges[below(sizeof edges / sizeof *edges)];            /* where classes of sizes end */
  case 7: return 600 + below(below(3) != 0 ? 3000 : 70000);             /* larger than the cache takes */
  default: return size_of((int)below(8));
  }
}

static void allocate(void) {
  size_t size = size_of(pattern);
  uint32_t choice = below(100);
  if (choice >= 78 && choice < 94 && block_count > 0) {
    int i = below(2) != 0 ? block_count - 1 : (int)below((uint32_t)block_count);
    size_t other = below(4) != 0 ? size : 1 + below(3000);
    void *block = realloc(blocks[i], other == 0 ? 1 : other);
    if (block != NULL) blocks[i] = block;
    return;
  }
  void *block = choice < 60   ? malloc(size)
                : choice < 78 ? calloc(1 + below(3), size / 2 + 1)
                : choice < 94 ? malloc(size)
                              : memalign((size_t)8 << below(below(8) != 0 ? 6 : 11), size);
  if (block != NULL) blocks[block_count++] = block;
}

static void release(void) {
  uint32_t count = (uint32_t)block_count;
  int i = order == 0 ? block_count - 1 : order == 1 ? 0 : order == 2 ? (int)below(count) : (int)(count - 1 - below(count < 30 ? count : 30));
  free(blocks[i]);
  if (order == 1) memmove(blocks, blocks + 1, (size_t)(block_count - 1) * sizeof *blocks);
  else blocks[i] = blocks[block_count - 1];
  block_count--;
}

static void make_call(void) {
  if (below(400) == 0) {
    order = (int)below(4);
    wanted_blocks = (int)(pattern == 2 || pattern == 3 ? 5 + below(50) : 50 + below(2500));
    usual_size = 1 + below(below(2) != 0 ? 300 : 3000);
  }
  if (block_count < MOST_BLOCKS && (block_count == 0 || below(100) < (block_count < wanted_blocks ? 62u : 38u))) allocate();
  else release();
}

/* Turns: only the thread whose number is `turn` runs. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn, thread_count, calls_left;
static pthread_t threads[MOST_THREADS];
static int ids[MOST_THREADS], quotas[MOST_THREADS], is_done[MOST_THREADS];

static void give_turn(int to) {
  pthread_mutex_lock(&lock);
  turn = to;
  pthread_cond_broadcast(&turned);
  pthread_mutex_unlock(&lock);
}

static void await_turn(int self) {
  pthread_mutex_lock(&lock);
  while (turn != self) pthread_cond_wait(&turned, &lock);
  pthread_mutex_unlock(&lock);
}

static void make_calls(void) {
  for (uint32_t n = 1 + below(12); n > 0 && calls_left > 0; n--, calls_left--) make_call();
}

static void *run_thread(void *argument) {
  int self = (int)(intptr_t)argument;
  await_turn(self);
  ids[self] = own_id();
  while (quotas[self]-- > 0 && calls_left > 0) {
    make_calls();
    give_turn((int)below((uint32_t)thread_count));
    await_turn(self);
  }
  is_done[self] = 1;
  give_turn(0);
  return NULL;
}

static void start_thread(int number) {
  quotas[number] = 10 + (int)below(600);
  is_done[number] = 0;
  pthread_create(&threads[number], NULL, run_thread, (void *)(intptr_t)number);
}

/* What a thread leaves in its cache is freed before it can be joined. */
static void join_ended(int starts) {
  for (int i = 1; i < thread_count; i++) {
    if (!is_done[i]) continue;
    pthread_join(threads[i], NULL);
    is_done[i] = 0;
    put_call(ids[i], "thread_done");
    put_address(NULL);
    end_call();
    for (uint32_t n = below(10); n > 0; n--) make_call();
    if (starts) start_thread(i);
    else quotas[i] = -1;
  }
}

int main(int argc, char **argv) {
  if (argc != 6 && argc != 7) return 2;
  state = strtoull(argv[1], NULL, 10) * 0x9e3779b97f4a7c15u + 88172645463325252u;
  pattern = atoi(argv[2]);
  thread_count = atoi(argv[3]);
  calls_left = atoi(argv[4]);
  if (thread_count < 1 || thread_count > MOST_THREADS) return 2;
  for (int i = 0; i < 20; i++) below(1);
  int pairs = argc > 6 ? atoi(argv[6]) : 0;
  size_t room = ((size_t)calls_left + 2 * (size_t)pairs) * 96 + (1u << 20);
  char *first = log_at = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (first == MAP_FAILED) return 1;
  int file = open(argv[5], O_WRONLY | O_CREAT | O_TRUNC, 0644);
  is_logging = 1;
  for (; pairs > 0; pairs--) free(malloc(24));
  for (int i = 1; i < thread_count; i++) start_thread(i);
  while (calls_left > 0) {
    make_calls();
    int next = (int)below((uint32_t)thread_count);
    if (next == 0) continue;
    give_turn(next);
    await_turn(0);
    join_ended(calls_left > 0);
  }
  /* The threads that are left see that there are no more calls. */
  for (int i = 1; i < thread_count; i++) {
    if (quotas[i] < 0) continue;
    give_turn(i);
    await_turn(0);
    join_ended(0);
  }
  is_logging = 0;
  while (first < log_at) {
    ssize_t written = write(file, first, (size_t)(log_at - first));
    if (written <= 0) return 1;
    first += written;
  }
  return 0;
}

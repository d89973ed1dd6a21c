/* Executes the operations of one thread. */
#ifndef RUN_H
#define RUN_H

#include "calls.h"
#include "contents.h"
#include "file.h"
#include "order.h"
#include "watch.h"
#include <pthread.h>

static struct file file;
static void **slots;
static uint64_t *sizes; /* per slot, with --verify */
static uint32_t *addresses_at;
static struct {
  int touch, verify, watch;
  double pace;
  uint64_t *addresses; /* of each allocation, in order; NULL for a block that there is not */
} options;
static struct figures *figures;
static _Atomic uint32_t running, all_over;
static uint64_t started;
static pthread_attr_t attributes;

static void *thread_main(void *number);
static void fail(const char *reason);

static void spawn(uint32_t number, struct figures *own) {
  pthread_t thread;
  uint64_t before = cpu_now();
  atomic_fetch_add(&running, 1);
  if (pthread_create(&thread, &attributes, thread_main, (void *)(uintptr_t)number)) fail("a thread cannot be created");
  own->waiting += cpu_now() - before;
}

/* Waits until the time that the trace has, if the replay follows its times. */
static void await(uint64_t ns, struct figures *own) {
  uint64_t before = cpu_now(), at = started + (uint64_t)((double)ns / options.pace);
  struct timespec t = {(time_t)(at / 1000000000u), (long)(at % 1000000000u)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) continue;
  own->waiting += cpu_now() - before;
}

/* Blocks for any object of their size have this alignment at least. */
static uint64_t alignment_of(uint64_t size) { return size >= 16 ? 16 : size >= 8 ? 8 : 1; }

static void verify_new(void *block, uint64_t size, uint64_t alignment, uint32_t slot, struct figures *own) {
  sizes[slot] = size;
  if ((uintptr_t)block & (alignment - 1)) own->misaligned++;
  fill(block, size, seed_of(slot, size));
}

/* Whether a block has lost what was written to it. */
static int is_damaged(const void *block, uint32_t slot) {
  return !is_intact(block, sizes[slot], sizes[slot], seed_of(slot, sizes[slot]));
}

/* Looks at the blocks that are live when all threads are done. */
static void verify_live(struct figures *own) {
  for (uint32_t slot = 0; slot < file.tail->slots; slot++)
    if (slots[slot] && is_damaged(slots[slot], slot)) own->damaged++;
}

/* Takes the block of a slot. Only verification expects that another thread may do the same, in a damaged file. */
static inline __attribute__((always_inline)) void *take(uint32_t slot, const int verify) {
  void *block = verify ? __atomic_exchange_n(&slots[slot], NULL, __ATOMIC_ACQ_REL) : slots[slot];
  if (!verify) slots[slot] = NULL;
  return block;
}

static inline __attribute__((always_inline)) void put(uint32_t slot, void *block, const int verify) {
  if (verify) __atomic_store_n(&slots[slot], block, __ATOMIC_RELEASE);
  else slots[slot] = block;
}

#define TIMED(call)                                                    \
  do {                                                                 \
    if (watched && --until_time == 0) {                                \
      until_time = EVERY_CALL;                                         \
      uint64_t before = clock_ns(CLOCK_MONOTONIC);                     \
      call;                                                            \
      note_time(clock_ns(CLOCK_MONOTONIC) - before);                   \
    } else                                                             \
      call;                                                            \
    if (watched && --until_moment == 0) {                              \
      until_moment = watch.step;                                       \
      note_moment();                                                   \
    }                                                                  \
  } while (0)

static inline __attribute__((always_inline)) void run_chunks(uint32_t me, const int how, const int verify,
                                                             const int watched) {
  struct figures *own = figures + me;
  const int alone = file.tail->threads == 1;
  const struct chunk *chunk = file.chunks + file.threads[me].first_chunk;
  const struct op *first = (const struct op *)(file.bytes + chunk->offset), *op = first;
  uint64_t position = 0, more = 0, until_moment = watched ? watch.step : 0;
  uint64_t left = file.threads[me].chunks;
  uint32_t alignment = 0, epoch = NONE, until_time = EVERY_CALL;
  for (;; op++) {
    uint32_t word = op->word, value = op->value;
    uint64_t size = more << LOW_BITS | word >> KIND_BITS;
    void *block;
    switch (word & 15u) {
    case MALLOC:
      TIMED(block = functions.malloc(size));
      break;
    case CALLOC:
      TIMED(block = functions.calloc(1, size));
      if (verify && block && !is_zero(block, size)) own->damaged++;
      break;
    case MEMALIGN:
      TIMED(block = functions.memalign((size_t)1 << alignment, size));
      break;
    case REALLOC: {
      void *old = value == NONE ? NULL : take(value, verify);
      uint64_t old_size = verify && value != NONE ? sizes[value] : 0;
      uint32_t to_slot;
      TIMED(block = functions.realloc(old, size));
      if (options.addresses) options.addresses[(*addresses_at)++] = (uintptr_t)block;
      more = 0;
      if ((++op)->word % 16 == MORE) more = (op++)->word >> KIND_BITS;
      to_slot = op->value;
      if (verify && block && old) {
        uint64_t kept = old_size < size ? old_size : size;
        if (!is_intact(block, kept, old_size, seed_of(value, old_size))) own->damaged++;
      }
      if (!verify) old_size = old ? more << LOW_BITS | op->word >> KIND_BITS : 0;
      more = 0;
      if (__builtin_expect(block == NULL, 0)) {
        if (size) own->failed++;
        /* With a size of 0, some allocators free the block and return nothing. */
        put(to_slot, size ? old : NULL, verify);
        if (verify) sizes[to_slot] = 0; /* What is in it belongs to another slot. */
        continue;
      }
      if (verify) verify_new(block, size, alignment_of(size), to_slot, own);
      else touch(block, old_size, size, how);
      put(to_slot, block, verify);
      continue;
    }
    case FREE:
      block = value == NONE ? NULL : take(value, verify);
      if (verify && block && is_damaged(block, value)) own->damaged++;
      TIMED(functions.free(block));
      continue;
    case MORE:
      more = word >> KIND_BITS;
      alignment = value;
      continue;
    case LINK:
      position += (uint64_t)(op - first);
      if (--left == 0) {
        if (!alone) publish(progress + me, position, own);
        return;
      }
      op = first = (const struct op *)(file.bytes + (++chunk)->offset);
      op--;
      continue;
    case WAIT: {
      uint64_t until = more << 32 | value;
      struct progress *other = progress + (word >> KIND_BITS);
      more = 0;
      if (atomic_load_explicit(&other->position, memory_order_acquire) >= until) continue;
      publish(progress + me, position + (uint64_t)(op - first), own);
      wait_slowly(other, until, own);
      continue;
    }
    case EPOCH:
      if (alone) continue;
      publish(progress + me, position + (uint64_t)(op - first), own);
      if (epoch != NONE) leave(epoch, own);
      epoch = value;
      if (epoch != NONE) enter(epoch, own);
      continue;
    case SPAWN:
      spawn(value, own);
      continue;
    case TIME:
      if (options.pace <= 0) continue;
      if (!alone) publish(progress + me, position + (uint64_t)(op - first), own);
      await((uint64_t)(word >> KIND_BITS) << 32 | value, own);
      continue;
    case PUBLISH:
      if (!alone) publish(progress + me, position + (uint64_t)(op - first), own);
      continue;
    default: /* EXIT, which is the last one */
      continue;
    }
    /* A block began. */
    if (__builtin_expect(block == NULL, 0)) {
      if (size) own->failed++;
      if (verify) sizes[value] = 0;
    } else if (verify) {
      uint64_t least = (word & 15u) == MEMALIGN ? (uint64_t)1 << alignment : alignment_of(size);
      verify_new(block, size, least, value, own);
    } else
      touch(block, 0, size, how);
    more = 0;
    put(value, block, verify);
    if (options.addresses) options.addresses[(*addresses_at)++] = (uintptr_t)block;
  }
}

/* Runs a thread in the loop that is compiled for the options. */
static void run_thread(uint32_t me) {
  uint64_t before = cpu_now();
  if (options.verify) run_chunks(me, TOUCH_NONE, 1, 0);
  else if (options.watch) run_chunks(me, options.touch, 0, 1);
  else if (options.touch == TOUCH_NONE) run_chunks(me, TOUCH_NONE, 0, 0);
  else if (options.touch == TOUCH_FIRST) run_chunks(me, TOUCH_FIRST, 0, 0);
  else if (options.touch == TOUCH_PAGE) run_chunks(me, TOUCH_PAGE, 0, 0);
  else run_chunks(me, TOUCH_ALL, 0, 0);
  figures[me].cpu = cpu_now() - before;
}

/* Whether the trace has the end of a thread: EXIT is its last operation. */
static int exits(uint32_t me) {
  const struct thread *thread = file.threads + me;
  const struct chunk *last = file.chunks + thread->first_chunk + thread->chunks - 1;
  const struct op *ops = (const struct op *)(file.bytes + last->offset);
  return last->ops > 0 && KIND(ops + last->ops - 1) == EXIT;
}

static void *thread_main(void *number) {
  uint32_t me = (uint32_t)(uintptr_t)number;
  empty_next = 0x100000000000u + ((uintptr_t)me << 32);
  run_thread(me);
  if (atomic_fetch_sub(&running, 1) == 1) futex_wake(&running, ~0u);
  /* A thread whose end is not in the trace lives until all is over. */
  if (!exits(me))
    while (!atomic_load(&all_over)) futex_wait(&all_over, 0, ~0u);
  return NULL;
}

#endif

/* The order between threads: waits for a position of another thread, and epochs. */
#ifndef ORDER_H
#define ORDER_H

#include "memory.h"
#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#define SPINS 200

#if defined(__x86_64__)
#define RELAX() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define RELAX() __asm__ volatile("yield")
#else
#define RELAX() ((void)0)
#endif

/* How far a thread is. The futex is the low half of the position. */
struct progress {
  _Alignas(64) _Atomic uint64_t position;
  _Atomic uint32_t waiters;
};

/* Figures of a thread, by no one else written. */
struct figures {
  _Alignas(64) uint64_t cpu;  /* ns of processor time, without waits */
  uint64_t waiting;           /* ns of it in waits, wakes and births */
  uint64_t failed, damaged, misaligned;
};

static struct progress *progress;
static struct {
  _Atomic uint32_t *left; /* per epoch: how many threads have not left it */
  uint32_t count;
  _Alignas(64) _Atomic uint32_t frontier; /* all epochs below are over */
  _Atomic uint32_t waiters[32];
} epochs;

static uint32_t *low_half(_Atomic uint64_t *word) {
  return (uint32_t *)word + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static void futex_wait(void *word, uint32_t value, uint32_t bits) {
  syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value, NULL, NULL, bits);
}

static void futex_wake(void *word, uint32_t bits) {
  syscall(SYS_futex, word, FUTEX_WAKE_BITSET_PRIVATE, 0x7fffffff, NULL, NULL, bits);
}

static uint64_t cpu_now(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

/* Lets others see that a thread has executed so many operations. */
static void publish(struct progress *own, uint64_t position, struct figures *figures) {
  atomic_exchange(&own->position, position);
  if (atomic_load(&own->waiters) == 0) return;
  uint64_t before = cpu_now();
  futex_wake(low_half(&own->position), ~0u);
  figures->waiting += cpu_now() - before;
}

static __attribute__((noinline)) void wait_slowly(struct progress *other, uint64_t position, struct figures *figures) {
  uint64_t before = cpu_now(), now;
  for (int i = 0; i < SPINS; i++) {
    if (atomic_load_explicit(&other->position, memory_order_acquire) >= position) goto over;
    RELAX();
  }
  atomic_fetch_add(&other->waiters, 1);
  while ((now = atomic_load(&other->position)) < position) futex_wait(low_half(&other->position), (uint32_t)now, ~0u);
  atomic_fetch_sub(&other->waiters, 1);
over:
  figures->waiting += cpu_now() - before;
}

static __attribute__((noinline)) void enter_slowly(uint32_t epoch, struct figures *figures) {
  uint64_t before = cpu_now();
  for (int i = 0; i < SPINS; i++) {
    if (atomic_load_explicit(&epochs.frontier, memory_order_acquire) >= epoch) goto over;
    RELAX();
  }
  /* Only those are woken that wait for this epoch, or for one that is a multiple of 32 away. */
  uint32_t bit = epoch & 31, now;
  atomic_fetch_add(&epochs.waiters[bit], 1);
  while ((now = atomic_load(&epochs.frontier)) < epoch) futex_wait(&epochs.frontier, now, 1u << bit);
  atomic_fetch_sub(&epochs.waiters[bit], 1);
over:
  figures->waiting += cpu_now() - before;
}

/* A thread leaves an epoch. If it is the last one, later epochs may be entered. */
static void leave(uint32_t epoch, struct figures *figures) {
  if (atomic_fetch_sub(&epochs.left[epoch], 1) != 1) return;
  uint32_t at = atomic_load(&epochs.frontier);
  while (at < epochs.count && atomic_load(&epochs.left[at]) == 0) {
    if (!atomic_compare_exchange_strong(&epochs.frontier, &at, at + 1)) continue;
    at++;
    if (atomic_load(&epochs.waiters[at & 31]) == 0) continue;
    uint64_t before = cpu_now();
    futex_wake(&epochs.frontier, 1u << (at & 31));
    figures->waiting += cpu_now() - before;
  }
}

static void enter(uint32_t epoch, struct figures *figures) {
  if (atomic_load_explicit(&epochs.frontier, memory_order_acquire) < epoch) enter_slowly(epoch, figures);
}

#endif

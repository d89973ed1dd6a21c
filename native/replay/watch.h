/* Samples of a run of its own: how long single calls take, and the resident set over time. */
#ifndef WATCH_H
#define WATCH_H

#include "memory.h"
#include <stdatomic.h>

/* Each doubling of a time has so many classes. */
#define PARTS 8
#define CLASSES (48 * PARTS)
#define MOST_MOMENTS 512
#define EVERY_CALL 61

struct moment {
  uint64_t calls, ns, anonymous, data;
};

static struct {
  _Atomic uint32_t *times;  /* per class, the number of sampled calls */
  struct moment *moments;
  _Atomic uint32_t count;
  _Atomic uint64_t done;    /* calls of all threads, counted by `step` */
  uint64_t step, started;
  uint64_t clock;           /* ns that reading the clock takes */
} watch;

static uint32_t class_of(uint64_t ns) {
  if (ns < PARTS) return (uint32_t)ns;
  uint32_t power = 63 - (uint32_t)__builtin_clzll(ns);
  uint32_t at = (power - 2) * PARTS + (uint32_t)(ns >> (power - 3) & (PARTS - 1));
  return at < CLASSES ? at : CLASSES - 1;
}

static void note_time(uint64_t ns) {
  ns = ns > watch.clock ? ns - watch.clock : 0;
  atomic_fetch_add_explicit(&watch.times[class_of(ns)], 1, memory_order_relaxed);
}

/* Called by each thread after `step` calls of its own. */
static void note_moment(void) {
  uint64_t done = atomic_fetch_add(&watch.done, watch.step) + watch.step;
  uint32_t at = atomic_fetch_add(&watch.count, 1);
  if (at >= MOST_MOMENTS) return;
  uint64_t ns = clock_ns(CLOCK_MONOTONIC) - watch.started;
  struct resident now = resident();
  watch.moments[at] = (struct moment){done, ns, now.anonymous, now.data};
}

static int begin_watch(uint64_t all_calls) {
  watch.times = shared(CLASSES, sizeof *watch.times);
  watch.moments = shared(MOST_MOMENTS, sizeof *watch.moments);
  if (watch.step == 0) watch.step = all_calls / (MOST_MOMENTS / 2) + 1;
  watch.clock = ~(uint64_t)0;
  for (int i = 0; i < 1000; i++) {
    uint64_t before = clock_ns(CLOCK_MONOTONIC), ns = clock_ns(CLOCK_MONOTONIC) - before;
    if (ns < watch.clock) watch.clock = ns;
  }
  return watch.times && watch.moments;
}

#endif

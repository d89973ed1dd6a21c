/*
 * The reader's clock, and the times of events: ns of CLOCK_MONOTONIC. Where the kernel itself makes this clock from a
 * counter of the processor, the recorded program reads only the counter, which takes half of the time, and the reader
 * converts it.
 */
#ifndef HEAPFLOW_RECORDER_CLOCK_H
#define HEAPFLOW_RECORDER_CLOCK_H

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "machine/machine.h"

/* A counter that is read at the same time as the clock was read within so many ticks, or it is tried again. */
#define NEAR_TICKS 2000u
#define TRIES 5
/* Events are not further away from the moment at which the clock was read, in ticks: days. */
#define FAR_TICKS ((int64_t)1 << 50)

struct moment {
  uint64_t ticks, ns;
};
static int has_ticks;
/* The rate is that since the first moment. It is not long ago: the counter may go on while the clock stands still. */
#define LONG_NS 10000000000u
static struct moment first_moment, last_moment;
static double ns_per_tick;

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static struct moment this_moment(void) {
  struct moment found = { 0, 0 };
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < TRIES && least > NEAR_TICKS; i++) {
    uint64_t before = ticks(), ns = now(), between = ticks() - before;
    if (between >= least) continue;
    least = between;
    found = (struct moment){ before + between / 2, ns };
  }
  return found;
}

/* Finds out whether events have ticks. */
static int begin_clock(void) {
  char text[16] = "";
  int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  has_ticks = CAN_TICK && n > 0 && strcmp(text, "tsc\n") == 0;
  first_moment = last_moment = this_moment();
  return has_ticks;
}

/* Reads the clock, by which the ticks of events are converted from now on. */
static uint64_t note_clock(void) {
  if (!has_ticks) return now();
  struct moment moment = this_moment();
  if (moment.ns - first_moment.ns > LONG_NS) first_moment = last_moment;
  if (moment.ticks > first_moment.ticks)
    ns_per_tick = (double)(moment.ns - first_moment.ns) / (double)(moment.ticks - first_moment.ticks);
  last_moment = moment;
  return moment.ns;
}

static uint64_t time_of(uint64_t recorded) {
  if (!has_ticks) return recorded;
  int64_t after = (int64_t)(recorded - last_moment.ticks);
  /* The program has written over it. */
  if (after > FAR_TICKS || after < -FAR_TICKS) return last_moment.ns;
  return last_moment.ns + (uint64_t)(int64_t)((double)after * ns_per_tick);
}

#endif

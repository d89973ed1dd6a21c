/*
 * The ring of a thread: room, words, and waking the reader.
 */
#ifndef HEAPFLOW_RECORDER_RING_H
#define HEAPFLOW_RECORDER_RING_H

#include "state.h"

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
  /* What happens after the end of the recording is not lost. */
  if (!control->closed) __atomic_fetch_add(&t->ring->lost, 1, __ATOMIC_RELAXED);
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

#endif

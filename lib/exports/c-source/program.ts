/**
 * The program before its tables. Nothing of it depends on the trace. The places of blocks, the threads and the tables
 * of their operations follow it.
 */
export const PROGRAM = String.raw`/*
 * This program makes the calls of a heap-allocation trace again: malloc, calloc, realloc, posix_memalign and free, with
 * the sizes and in the order of the trace. Each thread of the trace is a thread here. heapflow has made it of a trace.
 *
 *   cc -std=c11 -O1 -pthread -o calls calls.c && ./calls
 *
 * All bytes of new blocks are written to. With -DTOUCH=0 no block is written to. The program calls no other function
 * that allocates, except pthread_create. It prints nothing unless a call fails; then the exit status is 1.
 *
 * The calls are in tables, below: an operation is a letter and its numbers, see the list. A block has a slot from its
 * allocation to its free, and later blocks have the same slot. The end of this file has the number of calls.
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef TOUCH
#define TOUCH 1
#endif

/* No slot: the null pointer. No epoch. */
#define NONE 0xffffffffu

enum operation {
  END, /* the table ends */
  M,   /* size, slot: malloc */
  C,   /* size, slot: calloc */
  A,   /* logarithm of the alignment, size, slot: posix_memalign */
  R,   /* size, slot of the old block or NONE, slot of the new block: realloc */
  F,   /* slot or NONE: free */
  H,   /* the higher 32 bits of the next size or number */
  W,   /* thread, number: wait until that thread has made so many steps */
  E,   /* epoch or NONE: leave an epoch, and enter this one when all before it are over */
  S,   /* thread: it begins */
  X,   /* the thread ends before the program does */
  P    /* lets threads that wait see how far this one is */
};
/* How many numbers each operation has, and how many steps it is. */
static const unsigned char numbers[] = {0, 2, 2, 3, 3, 1, 1, 2, 1, 1, 0, 0};
static const unsigned char steps[] = {0, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1};

struct thread {
  const uint32_t *const *tables; /* the last one is NULL */
  pthread_cond_t moved;
  uint64_t done; /* its steps, as far as others can see */
  uint64_t failed;
  unsigned waiting;
  int is_over;
};
#define THREAD(tables) {tables, PTHREAD_COND_INITIALIZER, 0, 0, 0, 0}

/* These are at the end of this file. */
extern struct thread threads[];
extern const uint32_t thread_count, epoch_count;
extern uint32_t epoch_threads[]; /* how many threads have to leave each epoch */
extern void *slots[];

/* What threads share, except the slots, is used under this lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_over = PTHREAD_COND_INITIALIZER, end = PTHREAD_COND_INITIALIZER;
#define GATES 32
static pthread_cond_t gates[GATES]; /* for those who wait for an epoch */
static uint32_t first_epoch;        /* all before it are over */
static uint32_t running;
static int is_end;
static pthread_attr_t detached;

static void *thread_main(void *thread);

static void start(struct thread *thread) {
  pthread_t id;
  pthread_mutex_lock(&lock);
  running++;
  pthread_mutex_unlock(&lock);
  if (pthread_create(&id, &detached, thread_main, thread) != 0) {
    fputs("a thread cannot be created\n", stderr);
    _Exit(2);
  }
}

static void publish(struct thread *own, uint64_t done) {
  pthread_mutex_lock(&lock);
  own->done = done;
  if (own->waiting > 0) pthread_cond_broadcast(&own->moved);
  pthread_mutex_unlock(&lock);
}

static void wait_for(struct thread *other, uint64_t done) {
  pthread_mutex_lock(&lock);
  other->waiting++;
  while (other->done < done) pthread_cond_wait(&other->moved, &lock);
  other->waiting--;
  pthread_mutex_unlock(&lock);
}

static void change_epoch(uint32_t from, uint32_t to) {
  pthread_mutex_lock(&lock);
  if (from != NONE) epoch_threads[from]--;
  while (first_epoch < epoch_count && epoch_threads[first_epoch] == 0) {
    first_epoch++;
    pthread_cond_broadcast(&gates[first_epoch % GATES]);
  }
  if (to != NONE)
    while (first_epoch < to) pthread_cond_wait(&gates[to % GATES], &lock);
  pthread_mutex_unlock(&lock);
}

/* Writes to a new block. */
static void *made(void *block, uint64_t size, struct thread *own) {
  if (block == NULL && size > 0) own->failed++;
  if (TOUCH && block != NULL) memset(block, 0x5a, (size_t)size);
  return block;
}

static void *aligned(uint32_t power, uint64_t size) {
  void *block;
  return posix_memalign(&block, (size_t)1 << power, (size_t)size) == 0 ? block : NULL;
}

/* The block stays where it is if there is no memory for the new one. */
static void *resized(void *old, uint64_t size, struct thread *own) {
  void *block = realloc(old, (size_t)size);
  if (block != NULL || size == 0) return made(block, size, own);
  own->failed++;
  return old;
}

/* Takes the block of a slot. */
static void *take(uint32_t slot) {
  void *block = NULL;
  if (slot != NONE) {
    block = slots[slot];
    slots[slot] = NULL;
  }
  return block;
}

static void run(struct thread *own) {
  uint64_t done = 0, high = 0;
  uint32_t epoch = NONE;
  for (const uint32_t *const *table = own->tables; *table != NULL; table++)
    for (const uint32_t *op = *table; *op != END; done += steps[*op], op += 1 + numbers[*op]) {
      uint64_t size = high << 32 | op[1];
      void *block;
      if (*op != H) high = 0;
      switch (*op) {
      case M:
        slots[op[2]] = made(malloc((size_t)size), size, own);
        break;
      case C:
        slots[op[2]] = made(calloc(1, (size_t)size), size, own);
        break;
      case A:
        size = size >> 32 << 32 | op[2];
        slots[op[3]] = made(aligned(op[1], size), size, own);
        break;
      case R:
        block = take(op[2]);
        slots[op[3]] = resized(block, size, own);
        break;
      case F:
        free(take(op[1]));
        break;
      case H:
        high = op[1];
        break;
      case W:
        publish(own, done);
        wait_for(threads + op[1], size >> 32 << 32 | op[2]);
        break;
      case E:
        if (thread_count == 1) break;
        publish(own, done);
        change_epoch(epoch, op[1]);
        epoch = op[1];
        break;
      case S:
        start(threads + op[1]);
        break;
      case X:
        own->is_over = 1;
        break;
      case P:
        if (thread_count > 1) publish(own, done);
        break;
      }
    }
  if (thread_count > 1) publish(own, done);
}

static void *thread_main(void *thread) {
  struct thread *own = thread;
  run(own);
  pthread_mutex_lock(&lock);
  if (--running == 0) pthread_cond_signal(&all_over);
  /* A thread whose end is not in the trace lives until all calls are made. */
  while (!own->is_over && !is_end) pthread_cond_wait(&end, &lock);
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void count_threads_of_epochs(void) {
  for (uint32_t i = 0; i < thread_count; i++)
    for (const uint32_t *const *table = threads[i].tables; *table != NULL; table++)
      for (const uint32_t *op = *table; *op != END; op += 1 + numbers[*op])
        if (*op == E && op[1] != NONE) epoch_threads[op[1]]++;
}

int main(void) {
  uint64_t failed = 0;
  if (thread_count > 1) {
    count_threads_of_epochs();
    for (int i = 0; i < GATES; i++) pthread_cond_init(&gates[i], NULL);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  }
  run(threads);
  pthread_mutex_lock(&lock);
  while (running > 0) pthread_cond_wait(&all_over, &lock);
  is_end = 1;
  pthread_cond_broadcast(&end);
  for (uint32_t i = 0; i < thread_count; i++) failed += threads[i].failed;
  pthread_mutex_unlock(&lock);
  if (failed == 0) return 0;
  fprintf(stderr, "%llu calls failed\n", (unsigned long long)failed);
  return 1;
}

`

/*
 * How threads are recognized, and get rings.
 */
#ifndef HEAPFLOW_RECORDER_THREADS_H
#define HEAPFLOW_RECORDER_THREADS_H

#include "begin.h"
#include "objects.h"

/*
 * Threads are found by the thread pointer: a variable of each thread would enlarge what pthread_create allocates in the
 * program's heap, and move all later blocks.
 */
static inline uint64_t place_of(uint64_t pointer) { return pointer * 0x9e3779b97f4a7c15ull >> 40; }

/* The entry of a pointer, or the one where it would be. */
static inline uint64_t entry_in(const struct thread_table *in, uint64_t pointer) {
  uint64_t i = place_of(pointer) & in->mask;
  for (;; i = (i + 1) & in->mask) {
    uint64_t found = __atomic_load_n(&in->entries[i].pointer, __ATOMIC_ACQUIRE);
    if (likely(found == pointer) || found == 0) return i;
  }
}

static inline struct thread *find(uint64_t pointer) {
  for (;;) {
    struct thread_table *now = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
    struct thread *t = now->entries[entry_in(now, pointer)].thread;
    /* A table that was replaced meanwhile is empty. */
    if (likely(t != NULL) || now == __atomic_load_n(&table, __ATOMIC_ACQUIRE)) return t;
  }
}

static void put_thread(struct thread_table *in, uint64_t pointer, struct thread *t) {
  uint64_t i = entry_in(in, pointer);
  if (in->entries[i].pointer == 0) table_used++;
  in->entries[i].thread = t;
  __atomic_store_n(&in->entries[i].pointer, pointer, __ATOMIC_RELEASE);
}

/* Makes another table, without the pointers of threads that are gone. Returns 0 if there is no memory for it. */
static int replace_table(void) {
  struct thread_table *before = table;
  uint64_t entries = THREADS;
  while (entries < 4 * (uint64_t)region->slots) entries *= 2;
  struct thread_table *made = map_private(table_bytes(entries - 1));
  if (made == NULL) return 0;
  made->mask = entries - 1;
  table_used = 0;
  for (uint32_t slot = 0; slot < region->slots && slot < slot_count; slot++)
    if (__atomic_load_n(&region->rings[slot].state, __ATOMIC_ACQUIRE) != SLOT_FREE)
      put_thread(made, threads[slot].pointer, &threads[slot]);
  __atomic_store_n(&table, made, __ATOMIC_RELEASE);
  drop_table(before);
  return 1;
}

static int remember(uint64_t pointer, struct thread *t) {
  if (2 * (uint64_t)table_used >= table->mask && !replace_table()) return 0;
  put_thread(table, pointer, t);
  return 1;
}

/* Gives the thread a slot. Returns 0 if there is none, but one will be free when the reader looks at it. */
static int try_attach(uint64_t pointer, struct thread **result) {
  struct thread *t = NULL;
  int is_ending = 0;
  lock();
  for (uint32_t slot = 0; slot < slot_count || add_slots(); slot++) {
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
    t->ending = t->busy = t->is_short = t->rounds = 0;
    t->depth = 0;
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

/*
 * Before 2.34, glibc has the functions for values of threads in a library of its own. A program without it has one
 * thread, until it loads another library that needs it.
 */
typedef int create_key(pthread_key_t *made, void (*at_end)(void *));
typedef int set_value(pthread_key_t key, const void *value);
#pragma weak pthread_key_create
#pragma weak pthread_setspecific
static set_value *set_specific;
static void thread_ends(void *value);

static void *thread_function(const char *name) {
  struct object found;
  static const char *const libraries[] = { "libpthread", "libc.so", "libc-2" };
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
    void *function = find_called(libraries[i], &found) ? function_of(&found, name) : NULL;
    if (function != NULL) return function;
  }
  return NULL;
}

/* Makes the value whose destructor is called when a thread ends. */
static void make_key(void) {
  create_key *create = NULL;
  set_value *set = NULL;
  pthread_key_t made;
#ifndef WITHOUT_FIND_OBJECT
  create = pthread_key_create;
  set = pthread_setspecific;
#endif
  lock();
  if (create == NULL || set == NULL) {
    create = (create_key *)thread_function("pthread_key_create");
    set = (set_value *)thread_function("pthread_setspecific");
  }
  if (!injected.has_key && create != NULL && create(&made, thread_ends) == 0) {
    injected.key = made;
    injected.has_key = 1;
  }
  if (injected.has_key) __atomic_store_n(&set_specific, set, __ATOMIC_RELEASE);
  unlock();
}

static NOINLINE struct thread *attach(uint64_t pointer) {
  int error = errno;
  struct thread *t = NULL;
  for (int tries = 0; !try_attach(pointer, &t) && tries < 100; tries++) {
    ring_bell();
    pause_for(1000000);
  }
  if (t == NULL) __atomic_fetch_add(&region->lost, 1, __ATOMIC_RELAXED);
  else {
    t->busy = OWN_CALL;
    if (set_specific == NULL) make_key();
    if (set_specific != NULL) set_specific(injected.key, t);
    t->busy = 0;
  }
  errno = error;
  return t;
}

/* Reports the name of the calling thread. */
static void report_name(struct thread *t) {
  uint64_t name[3] = { 0 };
  if (prctl(PR_GET_NAME, name) != 0 || !reserve(t, NAME_WORDS)) return;
  put(t, t->head, R_NAME | NAME_WORDS << 8);
  put(t, t->head + 1, __atomic_add_fetch(&region->sequence, 1, __ATOMIC_SEQ_CST));
  put(t, t->head + 2, 0);
  put(t, t->head + 3, name[0]);
  put(t, t->head + 4, name[1]);
  commit(t, NAME_WORDS);
}

/* Reports that the calling thread ends. */
static void report_end(struct thread *t) {
  if (!reserve(t, THREAD_END_WORDS)) return;
  put(t, t->head, R_THREAD_END | THREAD_END_WORDS << 8);
  put(t, t->head + 1, __atomic_add_fetch(&region->sequence, 1, __ATOMIC_SEQ_CST));
  put(t, t->head + 2, event_time());
  commit(t, THREAD_END_WORDS);
}

/*
 * The destructor of the thread's value. The destructors of other values free blocks after it, so it asks for another
 * round of all of them, until the last one. Then libc gives the thread's cache and arena back. The reader gives its
 * slot to another thread when this one is gone.
 */
static void thread_ends(void *value) {
  struct thread *t = value;
  /* That of a thread of the parent process is no thread of this one. */
  if (injected.state != ON || !alive->alive || find(thread_pointer()) != t) return;
  int is_last = ++t->rounds >= PTHREAD_DESTRUCTOR_ITERATIONS;
  if (!t->busy) {
    t->busy = IN_CALL;
    if (t->rounds == 1) report_name(t);
    if (is_last) report_end(t);
    else set_specific(injected.key, t);
    t->busy = 0;
  }
  if (!is_last) return;
  t->ending = 1;
  __atomic_store_n(&t->ring->state, SLOT_ENDING, __ATOMIC_RELEASE);
}

static NOINLINE struct thread *enter_state(uint64_t pointer) {
  if (injected.state == NOT_BEGUN) begin();
  if (injected.state == ON && !alive->alive) begin_child();
  if (injected.state != ON || !alive->alive || control->closed) return NULL;
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

static NOINLINE struct thread *enter_slowly(uint64_t pointer) {
  __atomic_add_fetch(&injected.inside, 1, __ATOMIC_SEQ_CST);
  struct thread *t = enter_state(pointer);
  __atomic_sub_fetch(&injected.inside, 1, __ATOMIC_SEQ_CST);
  return t;
}

/* The thread of a call that is to be recorded; NULL if it is not. */
static inline struct thread *enter(void) {
  uint64_t pointer = thread_pointer();
  if (unlikely(injected.state == OFF)) return NULL;
  struct thread *t = find(pointer);
  if (unlikely(t == NULL || t->pointer != pointer || t->ending || !alive->alive || control->closed)) {
    t = enter_slowly(pointer);
    if (t == NULL) return NULL;
  }
  if (unlikely(t->busy)) {
    /* A signal handler that interrupted this code; or a block that libc needs for the value of a thread. */
    if (t->busy != OWN_CALL) __atomic_fetch_add(&t->ring->lost, 1, __ATOMIC_RELAXED);
    return NULL;
  }
  t->busy = IN_CALL;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return t;
}

static inline void leave(struct thread *t) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  t->busy = 0;
}

#endif

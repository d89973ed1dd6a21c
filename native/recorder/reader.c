/*
 * Starts a program with the recorder (recorder.c) loaded, drains the rings of its threads, and writes what they hold in
 * the format "recorder" (lib/formats/recorder/README.md). It outlives the program, and ends as the program did.
 *
 *   reader OUTPUT LIBRARY DEPTH DROPS PROGRAM [ARGUMENT]...
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "pack.h"
#include "shared.h"

#define IDLE_NS 50000000

static struct control *control;
static int memory_fd;
static pid_t program;
static char **program_words;
/* The image that is being drained: its number, and its mapped region. */
static uint32_t image;
static struct region *region;
static uint64_t expected;
static uint32_t last_slot;
static uint64_t lost_seen[SLOTS], region_lost_seen;
/* The old block of a realloc whose end has not come yet. */
static int is_held, is_split[SLOTS];
static uint32_t held_slot, held_tid;
static uint64_t held_address, held_time;

static const uint64_t *words_of(uint32_t slot) {
  return (const uint64_t *)(const void *)((const char *)region + HEAD_BYTES + slot * RING_BYTES);
}

static uint64_t head_of(uint32_t slot) { return __atomic_load_n(&region->rings[slot].head, __ATOMIC_ACQUIRE); }

static uint64_t word(uint32_t slot, uint64_t at) { return words_of(slot)[at & (RING_WORDS - 1)]; }

static int is_next(uint32_t slot) {
  uint64_t tail = region->rings[slot].tail;
  return head_of(slot) != tail && word(slot, tail + 1) == expected;
}

/* The slot with the event of the expected number. When the program has ended, numbers that no event has are passed. */
static int next_slot(uint32_t *slot, int is_over) {
  if (is_next(last_slot)) return *slot = last_slot, 1;
  uint32_t slots = region->slots < SLOTS ? region->slots : SLOTS;
  for (uint32_t i = 0; i < slots; i++)
    if (is_next(i)) return *slot = i, 1;
  if (!is_over) return 0;
  int is_found = 0;
  for (uint32_t i = 0; i < slots; i++) {
    uint64_t tail = region->rings[i].tail;
    if (head_of(i) == tail) continue;
    if (!is_found || word(i, tail + 1) < expected) expected = word(i, tail + 1), *slot = i;
    is_found = 1;
  }
  return is_found;
}

/* Ends a realloc whose old block another thread may have got before its end: it becomes a free and an allocation. */
static void split_held(void) {
  if (!is_held) return;
  is_held = 0;
  is_split[held_slot] = 1;
  pack_thread(held_tid);
  pack_free(E_RELEASED, held_time, held_address);
}

static void take(uint32_t slot) {
  struct ring *ring = &region->rings[slot];
  uint64_t tail = ring->tail, first = word(slot, tail);
  uint32_t kind = first & 255, words = first >> 8 & 0xffff, same = first >> 24 & 0xffff, fresh = first >> 40 & 0xffff;
  static uint64_t record[MAX_RECORD + 256];
  if (words > MAX_RECORD) words = MAX_RECORD;
  for (uint32_t i = 0; i < words; i++) record[i] = word(slot, tail + i);
  if (is_held && held_slot != slot) split_held();
  if (kind == R_MODULE) {
    pack_module(record[2], record[3], record[4], (const uint8_t *)(record + 1 + MODULE_WORDS), record[5], record[6]);
  } else if (kind == R_OLD) {
    is_held = 1;
    held_slot = slot;
    held_tid = ring->tid;
    held_address = record[3];
    held_time = record[2];
  } else {
    int is_whole = is_held;
    is_held = 0;
    pack_thread(ring->tid);
    uint32_t node = words >= ALLOC_WORDS ? pack_stack(slot, same, record + ALLOC_WORDS, fresh) : 0;
    switch (kind) {
      case R_MALLOC: pack_alloc(E_MALLOC, record, node); break;
      case R_CALLOC: pack_alloc(E_CALLOC, record, node); break;
      case R_ALIGNED: pack_alloc(E_ALIGNED, record, node); break;
      case R_REALLOC:
        pack_alloc(record[6] == 0 || is_split[slot] ? E_NEW_REALLOC : E_REALLOC, record, node);
        break;
      case R_FREE: pack_free(E_FREE, record[2], record[3]); break;
      case R_RELEASED: if (is_whole) pack_free(E_RELEASED, record[2], record[3]); break;
      case R_KEPT: if (is_split[slot]) pack_free(E_KEPT, record[2], record[3]); break;
      default: break;
    }
    if (kind == R_REALLOC || kind == R_RELEASED || kind == R_KEPT) is_split[slot] = 0;
  }
  expected++;
  last_slot = slot;
  __atomic_store_n(&ring->tail, tail + words, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&ring->waiting, __ATOMIC_SEQ_CST) && head_of(slot) - ring->tail < RING_WORDS / 2) {
    __atomic_store_n(&ring->waiting, 0, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, (uint32_t *)&ring->tail, FUTEX_WAKE, 1, NULL, NULL, 0);
  }
}

static void note_losses(void) {
  for (uint32_t i = 0; i < region->slots && i < SLOTS; i++) {
    uint64_t lost = __atomic_load_n(&region->rings[i].lost, __ATOMIC_RELAXED);
    if (lost == lost_seen[i]) continue;
    pack_lost(region->rings[i].tid, lost - lost_seen[i]);
    lost_seen[i] = lost;
  }
  uint64_t lost = __atomic_load_n(&region->lost, __ATOMIC_RELAXED);
  if (lost != region_lost_seen) pack_lost(0, lost - region_lost_seen);
  region_lost_seen = lost;
}

/* Gives the slots of threads that are gone to others. */
static void free_slots(void) {
  for (uint32_t i = 0; i < region->slots && i < SLOTS; i++) {
    struct ring *ring = &region->rings[i];
    if (__atomic_load_n(&ring->state, __ATOMIC_ACQUIRE) != SLOT_ENDING) continue;
    if (syscall(SYS_tgkill, program, ring->tid, 0) == 0 || errno != ESRCH || head_of(i) != ring->tail) continue;
    if (is_held && held_slot == i) continue;
    is_split[i] = 0;
    __atomic_store_n(&ring->state, SLOT_FREE, __ATOMIC_RELEASE);
  }
}

/* Begins the next image, if there is one. */
static int open_image(void) {
  if (region != NULL) munmap(region, REGION_BYTES);
  region = NULL;
  if (image >= __atomic_load_n(&control->regions, __ATOMIC_ACQUIRE) || image >= REGIONS) return 0;
  off_t at = (off_t)(CONTROL_BYTES + image * REGION_BYTES);
  struct region *next = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, at);
  if (next == MAP_FAILED) {
    fprintf(stderr, "heapflow: cannot map the memory of the recording: %s\n", strerror(errno));
    control->closed = 1;
    return 0;
  }
  if (!__atomic_load_n(&next->ready, __ATOMIC_ACQUIRE)) {
    munmap(next, REGION_BYTES);
    return 0;
  }
  region = next;
  expected = 1;
  last_slot = 0;
  region_lost_seen = 0;
  is_held = 0;
  memset(lost_seen, 0, sizeof lost_seen);
  memset(is_split, 0, sizeof is_split);
  pack_process((uint32_t)program, image == 0 ? program_words : NULL);
  return 1;
}

static void drain(int is_over) {
  for (;;) {
    if (region == NULL && !open_image()) return;
    /* When another image has begun, this one has ended. Its last events are there then. */
    int has_next = __atomic_load_n(&control->regions, __ATOMIC_ACQUIRE) > image + 1;
    uint32_t slot = 0;
    while (next_slot(&slot, is_over || has_next)) take(slot);
    note_losses();
    free_slots();
    if (!has_next) return;
    image++;
    if (!open_image()) return;
  }
}

static void on_child(int signal) {
  (void)signal;
  if (control != NULL) __atomic_fetch_add(&control->bell, 1, __ATOMIC_SEQ_CST);
}

static void start(char **words, const char *library, const char *path) {
  const char *before = getenv("LD_PRELOAD");
  char *preload;
  if (asprintf(&preload, "%s%s%s", library, before != NULL ? " " : "", before != NULL ? before : "") < 0) _exit(126);
  control->pid = (uint32_t)getpid();
  setenv("LD_PRELOAD", preload, 1);
  setenv(VARIABLE, path, 1);
  execvp(words[0], words);
  _exit(errno == ENOENT ? 127 : 126);
}

int main(int count, char **words) {
  if (count < 6) return 2;
  if (!pack_open(words[1])) {
    fprintf(stderr, "heapflow: %s: %s\n", words[1], strerror(errno));
    return 2;
  }
  memory_fd = memfd_create("heapflow", MFD_CLOEXEC);
  if (memory_fd < 0 || ftruncate(memory_fd, (off_t)(CONTROL_BYTES + REGIONS * REGION_BYTES)) < 0) {
    fprintf(stderr, "heapflow: no shared memory for the recording: %s\n", strerror(errno));
    return 2;
  }
  control = mmap(NULL, CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
  if (control == MAP_FAILED) return 2;
  control->magic = MAGIC;
  control->reader = (uint32_t)getpid();
  control->depth = (uint32_t)strtoul(words[3], NULL, 10);
  control->drops = words[4][0] == '1';
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), memory_fd);

  struct sigaction child = { .sa_handler = on_child }, ignored = { .sa_handler = SIG_IGN };
  sigaction(SIGCHLD, &child, NULL);
  /* The signals of a terminal are for the program; those that are sent to this process are passed on by its parent. */
  const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE, SIGTSTP };
  struct sigaction old[sizeof signals / sizeof *signals];
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) sigaction(signals[i], &ignored, &old[i]);
  program_words = words + 5;
  program = fork();
  if (program < 0) {
    fprintf(stderr, "heapflow: cannot start a process: %s\n", strerror(errno));
    return 2;
  }
  if (program == 0) {
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) sigaction(signals[i], &old[i], NULL);
    start(words + 5, words[2], path);
  }

  int status = 0;
  for (;;) {
    uint32_t bell = __atomic_load_n(&control->bell, __ATOMIC_SEQ_CST);
    int is_over = waitpid(program, &status, WNOHANG) == program;
    __atomic_store_n(&control->sleeping, 0, __ATOMIC_SEQ_CST);
    drain(is_over);
    pack_flush();
    if (is_over) break;
    __atomic_store_n(&control->sleeping, 1, __ATOMIC_SEQ_CST);
    struct timespec timeout = { 0, IDLE_NS };
    syscall(SYS_futex, &control->bell, FUTEX_WAIT, bell, &timeout, NULL, 0);
  }
  control->closed = 1;
  if (WIFSIGNALED(status)) {
    pack_end(1, (uint64_t)WTERMSIG(status));
    struct rlimit none = { 0, 0 };
    struct sigaction usual = { .sa_handler = SIG_DFL };
    setrlimit(RLIMIT_CORE, &none);
    sigaction(WTERMSIG(status), &usual, NULL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
  }
  pack_end(0, (uint64_t)WEXITSTATUS(status));
  return WEXITSTATUS(status);
}

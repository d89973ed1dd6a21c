/*
 * The processes that are recorded: when they begin and end, and the order of their events.
 */
#ifndef HEAPFLOW_RECORDER_PROCESSES_H
#define HEAPFLOW_RECORDER_PROCESSES_H

#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include "drain.h"
#include "replaced.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

static int memory_fd;
/* How long a process that has ended is kept for processes that it has forked. */
#define BEGIN_NS 500000000u

/* By region. A region that is taken but not ready is mapped, and has no process yet. */
static struct process *processes[REGIONS];
static struct region *regions[REGIONS];
/* So much of a region is mapped. */
static size_t mapped_bytes[REGIONS];
static uint32_t region_end;
/* The command of the first process. */
static char first_command[MAX_COMMAND];
static uint32_t first_length;

static int read_file(const char *path, char *text, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
  if (fd >= 0) close(fd);
  text[n > 0 ? n : 0] = 0;
  return n > 0;
}

static struct name name_of(uint32_t pid, uint32_t tid) {
  char path[64], text[32];
  struct name name = { { 0 } };
  snprintf(path, sizeof path, "/proc/%u/task/%u/comm", pid, tid);
  if (!read_file(path, text, sizeof text)) return name;
  text[strcspn(text, "\n")] = 0;
  memcpy(name.text, text, strnlen(text, sizeof name.text - 1));
  return name;
}

/* The process that had a number when another one began: it may have ended since, or be another program now. */
static struct process *process_at(uint32_t pid, uint32_t begun) {
  struct process *found = NULL;
  for (uint32_t i = 0; i < region_end; i++) {
    struct process *p = processes[i];
    if (p == NULL || p->pid != pid || p->region->begun >= begun) continue;
    if (found == NULL || p->region->begun > found->region->begun) found = p;
  }
  return found;
}

/* Gives the region of a process that has ended to others. */
static void release_region(uint32_t i) {
  munmap(regions[i], mapped_bytes[i]);
  regions[i] = NULL;
  off_t at = (off_t)file_bytes(i, slot_count), size = (off_t)region_bytes(slot_count);
  if (fallocate(memory_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, size) < 0) return;
  __atomic_store_n(&control->owners[i], 0, __ATOMIC_SEQ_CST);
}

/*
 * The program that was there before another one took its place in the same process. It may have taken that of others
 * whose end was not seen yet, or their number is that of another process now: none of them is there any more.
 */
static struct process *before_exec(const struct process *p) {
  struct process *last = NULL;
  for (uint32_t i = 0; i < region_end; i++) {
    struct process *other = processes[i];
    if (other == NULL || other->pid != p->pid) continue;
    other->is_gone = 1;
    other->is_replaced = 0;
    if (p->region->is_forked || other->region->started != p->region->started) continue;
    if (last == NULL || other->region->begun > last->region->begun) last = other;
  }
  return last;
}

/* How many slots of a region are mapped. */
static uint32_t room_of(uint32_t i) { return (uint32_t)((mapped_bytes[i] - head_bytes(slot_count)) / RING_BYTES); }

static void begin_process(uint32_t i) {
  struct process *p = allocate_zeros(sizeof *p);
  char path[64];
  p->region = regions[i];
  p->room = room_of(i);
  p->pid = p->region->pid;
  p->expected = 1;
  p->pid_fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
  snprintf(path, sizeof path, "/proc/%u/statm", p->pid);
  p->statm_fd = open(path, O_RDONLY | O_CLOEXEC);
  p->own_name = name_of(p->pid, p->pid);
  watch_program(p);
  struct process *before = before_exec(p), *parent = process_at(p->region->parent, p->region->begun);
  p->how = before != NULL ? BY_EXEC : p->region->is_forked ? BY_FORK : BY_START;
  if (before != NULL) parent = before;
  if (parent != NULL && !parent->is_over) pack_switch(parent);
  p->parent = parent == NULL ? 0 : parent->number;
  if (p->region->is_forked && parent != NULL && p->region->command_length == 0) {
    /* It may not be able to read its own. */
    p->region->command_length = parent->region->command_length;
    memcpy(p->region->command, parent->region->command, MAX_COMMAND);
  }
  if (p->region->is_forked && parent != NULL && parent->module_count > 0) {
    p->modules = allocate(NULL, parent->module_count * sizeof *p->modules);
    memcpy(p->modules, parent->modules, parent->module_count * sizeof *p->modules);
    p->module_count = parent->module_count;
  }
  processes[i] = p;
  if (process_count > 0) return;
  if (p->pid == control->pid && p->how != BY_EXEC && first_length > 0) pack_first(p, first_command, first_length);
  else pack_first(p, p->region->command, p->region->command_length);
  if (p->region->is_attached) pack_attached(p->region->age);
}

/* The trace has all events of the program. time: when it was still there. */
static void end_program(struct process *p, uint64_t time) {
  if (p->is_over) return;
  note_losses(p);
  pack_process_end(p, time);
  p->is_over = p->number != 0;
}

static void forget_process(uint32_t i) {
  struct process *p = processes[i];
  if (p->pid_fd >= 0) close(p->pid_fd);
  if (p->maps != NULL) fclose(p->maps);
  if (p->statm_fd >= 0) close(p->statm_fd);
  for (uint32_t slot = 0; slot < p->room; slot++) free(p->stacks[slot]);
  free(p->modules);
  free(p->blocks.entries);
  free(p);
  processes[i] = NULL;
  release_region(i);
}

/* Maps so many bytes of a region. */
static int map_region(uint32_t i, size_t size) {
  off_t at = (off_t)file_bytes(i, slot_count);
  void *region = regions[i] == NULL ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, at)
                                    : mremap(regions[i], mapped_bytes[i], size, MREMAP_MAYMOVE);
  if (region == MAP_FAILED) {
    fprintf(stderr, "heapflow: cannot map the memory of the recording: %s\n", strerror(errno));
    control->closed = 1;
    return 0;
  }
  regions[i] = region;
  mapped_bytes[i] = size;
  if (i >= region_end) region_end = i + 1;
  return 1;
}

/* Whether a region has a process that has begun, but was not seen before. Maps it. */
static int is_new(uint32_t i) {
  uint32_t owner = __atomic_load_n(&control->owners[i], __ATOMIC_ACQUIRE);
  if (owner == 0 || processes[i] != NULL || control->closed) return 0;
  if (regions[i] == NULL && !map_region(i, head_bytes(slot_count))) return 0;
  if (__atomic_load_n(&regions[i]->ready, __ATOMIC_ACQUIRE)) {
    uint32_t room = regions[i]->room < slot_count ? regions[i]->room : slot_count;
    return room_of(i) > 0 || map_region(i, head_bytes(slot_count) + room * RING_BYTES);
  }
  if (syscall(SYS_kill, owner, 0) < 0 && errno == ESRCH) release_region(i);
  return 0;
}

/*
 * Looks for processes that have begun, in the order in which they did. What is ready before another one was seen first
 * is seen when all are looked at again. Returns whether there were any.
 */
static int find_processes(void) {
  uint32_t last = 0;
  for (uint32_t i = 0; i < region_count; i++)
    if (is_new(i) && regions[i]->begun > last) last = regions[i]->begun;
  int is_any = last > 0;
  while (last > 0) {
    uint32_t next = REGIONS;
    for (uint32_t i = 0; i < region_count; i++)
      if (is_new(i) && regions[i]->begun <= last && (next == REGIONS || regions[i]->begun < regions[next]->begun)) next = i;
    if (next == REGIONS) break;
    begin_process(next);
  }
  return is_any;
}

/* Whether processes are forked that have not begun yet, as far as that is not long ago: they may never begin. */
static int are_forked(void) {
  static uint64_t since;
  if (__atomic_load_n(&control->forking, __ATOMIC_SEQ_CST) == 0) {
    since = 0;
    return 0;
  }
  if (since == 0) since = now();
  return now() - since < BEGIN_NS;
}

/*
 * Notes which processes have ended. Their events are all there then. `program` is waited for by the caller. One whose
 * children have not begun yet stays until they have: they need what is known of it.
 */
static void find_ended(pid_t program) {
  for (uint32_t i = 0; i < region_end; i++) {
    struct process *p = processes[i];
    if (p == NULL || (p->is_gone && !p->is_replaced) || p->pid == (uint32_t)program) continue;
    if (!has_ended(p) || are_forked()) continue;
    p->is_gone = 1;
    p->is_replaced = 0;
  }
}

/*
 * Takes what has come until `limit`, of all processes in the order of time. What one of them has from before, but shows
 * later, has the time of the event before it. A process ends before what others do after its last event, because they
 * may have waited for it. Returns the number of events.
 */
static uint64_t drain(uint64_t limit) {
  static uint64_t drained;
  uint64_t taken = 0;
  for (;;) {
    struct process *first = NULL;
    uint64_t other = limit;
    for (uint32_t i = 0; i < region_end; i++) {
      struct process *p = processes[i];
      if (p == NULL) continue;
      if (!find_next(p)) {
        if (p->is_gone) end_program(p, drained);
        /* What takes its place may have a region later, or start others. */
        if (p->is_gone && !p->is_replaced) forget_process(i);
        continue;
      }
      if (first == NULL || p->next_time < first->next_time) {
        if (first != NULL && first->next_time < other) other = first->next_time;
        first = p;
      } else if (p->next_time < other) other = p->next_time;
    }
    if (first == NULL || (first->next_time > limit && !first->is_gone)) break;
    do take(first), taken++;
    while (find_next(first) && (first->next_time <= other || (first->is_gone && other == limit)));
  }
  for (uint32_t i = 0; i < region_end; i++) {
    struct process *p = processes[i];
    if (p == NULL || p->is_gone) continue;
    for (uint32_t slot = 0; slot < slots_of(p); slot++) give_back(p, slot);
    note_losses(p);
    free_slots(p);
  }
  drained = limit;
  return taken;
}

/* Whether there are events that were numbered, but are not all there yet. */
static int are_pending(void) {
  for (uint32_t i = 0; i < region_end; i++) {
    struct process *p = processes[i];
    if (p != NULL && p->expected <= __atomic_load_n(&p->region->sequence, __ATOMIC_SEQ_CST)) return 1;
  }
  return 0;
}

/* Whether processes are recorded, or may be: with_replaced counts those that are programs now that are not recorded. */
static int are_running(int with_replaced) {
  for (uint32_t i = 0; i < region_end; i++)
    if (processes[i] != NULL && (with_replaced || !processes[i]->is_unrecorded)) return 1;
  return 0;
}

/* Notes how many bytes of each process are resident, where that has changed. */
static void note_resident(uint64_t time) {
  for (uint32_t i = 0; i < region_end; i++) {
    struct process *p = processes[i];
    char text[128];
    if (p == NULL || p->number == 0 || p->is_gone || p->statm_fd < 0) continue;
    ssize_t n = pread(p->statm_fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    const char *second = strchr(text, ' ');
    if (second == NULL) continue;
    uint64_t bytes = strtoull(second, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
    /* It was that of the program if this is still there. */
    if (bytes == 0 || bytes == p->resident || has_left(p)) continue;
    p->resident = bytes;
    pack_resident(p, time, bytes);
  }
}

/* Notes which processes became other programs, and says which of those are not recorded. */
static void note_replaced(void) {
  for (uint32_t i = 0; i < region_end; i++) {
    struct process *p = processes[i];
    if (p == NULL || (p->is_gone && !p->is_replaced) || !has_left(p)) continue;
    if (!p->is_unrecorded) look_at_next(p);
    if (p->is_replaced && !are_forked()) p->is_gone = 1;
  }
}

/* So many names of a process are looked at in a round: the system is asked for each. */
#define NAMES 512u

/* Notes what threads are called. Those that end say it themselves. */
static void note_names(void) {
  for (uint32_t i = 0; i < region_end; i++) {
    struct process *p = processes[i];
    if (p == NULL || p->is_gone) continue;
    uint32_t slots = slots_of(p);
    for (uint32_t n = 0; n < NAMES && n < slots; n++) {
      uint32_t slot = p->next_named++ % slots;
      const struct ring *ring = &p->region->rings[slot];
      if (__atomic_load_n(&ring->state, __ATOMIC_ACQUIRE) != SLOT_USED) continue;
      struct name name = name_of(p->pid, ring->tid);
      if (name.text[0] != 0 && !has_left(p)) name_thread(p, slot, &name);
    }
  }
}

#endif

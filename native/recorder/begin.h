/*
 * How a process begins to be recorded: one that was started with the library, was forked, or ran already.
 */
#ifndef HEAPFLOW_RECORDER_BEGIN_H
#define HEAPFLOW_RECORDER_BEGIN_H

#include "operators.h"
#include "redirect.h"
#include "ring.h"

/* A part of a file of /proc, which is read before the process is recorded. */
static char file_text[4096];

/* The environment as the kernel gave it: calls come before libc has set `environ`. */
static int read_variable(char *value, size_t size) {
  const size_t length = sizeof VARIABLE;
  int fd = open_file("/proc/self/environ", O_RDONLY), found = 0;
  if (fd < 0) return 0;
  /* A match of so many bytes of the name and "="; -1 in another variable; -2 within the value. */
  int matched = 0;
  size_t used = 0;
  ssize_t n;
  while (!found && (n = read_bytes(fd, file_text, sizeof file_text)) > 0) {
    for (ssize_t i = 0; i < n && !found; i++) {
      char c = file_text[i];
      if (matched == -2) {
        if (used + 1 < size) value[used++] = c;
        if (c == 0) value[used] = 0, found = 1;
      } else if (c == 0) matched = 0;
      else if (matched >= 0) {
        matched = c == (VARIABLE "=")[matched] ? matched + 1 : -1;
        if (matched == (int)length) matched = -2;
      }
    }
  }
  close_file(fd);
  return found;
}

/* The number of this process where the reader is: in the namespace of its /proc, through which the file is opened. */
static uint32_t own_pid(void) {
  char text[24];
  ssize_t n = readlink("/proc/self", text, sizeof text - 1);
  uint32_t pid = 0;
  for (ssize_t i = 0; i < n && text[i] >= '0' && text[i] <= '9'; i++) pid = pid * 10 + (uint32_t)(text[i] - '0');
  return pid != 0 ? pid : (uint32_t)getpid();
}

/* Takes a region that no process has. Returns REGIONS if none is free for a while. */
static uint32_t take_region(uint32_t pid) {
  for (int tries = 0; tries < 200 && !control->closed; tries++) {
    for (uint32_t i = 0; i < REGIONS && i < control->regions; i++) {
      uint32_t none = 0;
      if (control->owners[i] != 0) continue;
      if (__atomic_compare_exchange_n(&control->owners[i], &none, pid, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) return i;
    }
    ring_bell();
    pause_for(5000000);
  }
  return REGIONS;
}

static void read_command(void) {
  int fd = open_file("/proc/self/cmdline", O_RDONLY);
  if (fd < 0) return;
  ssize_t n = read_bytes(fd, region->command, MAX_COMMAND);
  region->command_length = n > 0 ? (uint32_t)n : 0;
  close_file(fd);
}

/* The time at which this process was started: the 20th number after the name, which may have any characters. */
static uint64_t start_time(void) {
  char text[1024];
  int fd = open_file("/proc/self/stat", O_RDONLY);
  ssize_t n = fd < 0 ? 0 : read_bytes(fd, text, sizeof text - 1);
  if (fd >= 0) close_file(fd);
  text[n > 0 ? n : 0] = 0;
  const char *p = strrchr(text, ')');
  for (int i = 0; p != NULL && i < 20; i++) p = strchr(p + 1, ' ');
  uint64_t time = 0;
  for (p = p == NULL ? "" : p + 1; *p >= '0' && *p <= '9'; p++) time = time * 10 + (uint64_t)(*p - '0');
  return time;
}

/*
 * Notes which file the library is: a program that has it, but no region yet, is going to be recorded. A program that
 * takes the place of one into which the reader has loaded the library is not.
 */
static void note_library(void) {
  /* A forked process has the same. */
  static uint64_t device, inode;
  const uint64_t own = (uint64_t)(uintptr_t)&note_library;
  struct maps maps;
  struct mapping mapping;
  if (inode == 0 && !injected.is_injected && open_maps(&maps, file_text, sizeof file_text)) {
    while (inode == 0 && next_mapping(&maps, &mapping))
      if (mapping.low <= own && own < mapping.high) device = mapping.device, inode = mapping.inode;
    close_maps(&maps);
  }
  region->library_device = device;
  region->library_inode = inode;
}

static void take_settings(void) {
  ring_words = (uint64_t *)(void *)((char *)region + head_bytes(control->slots));
  max_depth = control->depth < MAX_DEPTH ? control->depth : MAX_DEPTH;
  has_free_stacks = max_depth > 0 && control->free_stacks;
  has_ticks = CAN_TICK && control->has_ticks;
}

static uint32_t slots_that_fit(void) {
  struct rlimit space;
  if (syscall(SYS_prlimit64, 0, RLIMIT_AS, NULL, &space) < 0) space.rlim_cur = RLIM_INFINITY;
  return slots_within(space.rlim_cur, control->slots, sizeof *threads);
}

static size_t own_bytes(uint32_t slots) { return head_bytes(control->slots) + slots * RING_BYTES; }

static int resize_memory(void *memory, size_t from, size_t to) {
  return map_again(memory, from, to, 0, NULL) != MAP_FAILED;
}

/* Takes more slots, in place: their memory is used meanwhile. Returns 0 if there is no address space for them. */
static int add_slots(void) {
  const size_t each = sizeof *threads;
  uint32_t count = 2 * slot_count < most_slots ? 2 * slot_count : most_slots, fit = slots_that_fit();
  if (count > fit) count = fit;
  if (count <= slot_count || !resize_memory(threads, each * slot_count, each * count)) return 0;
  if (!resize_memory(region, own_bytes(slot_count), own_bytes(count))) {
    resize_memory(threads, each * count, each * slot_count);
    return 0;
  }
  slot_count = count;
  injected.threads_bytes = each * count;
  injected.region_bytes = own_bytes(count);
  return 1;
}

/*
 * Maps a part of the memory file. A forked process may be unable to open it, for want of a descriptor, of the rights,
 * or of its path: there it takes what is mapped already, the control page, which mremap maps once more at any length.
 */
static void *map_file(int fd, size_t span, size_t size, off_t at) {
  if (fd >= 0) return map_within(span, size, MAP_SHARED | MAP_NORESERVE, fd, at);
  char *place = map_private_within(span, size), *all = MAP_FAILED;
  if (place != NULL) all = map_again(control, 0, (size_t)at + size, MREMAP_MAYMOVE, NULL);
  if (all == MAP_FAILED) {
    if (place != NULL) unmap(place, size);
    return NULL;
  }
  void *moved = map_again(all + at, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, place);
  unmap(all, (size_t)at);
  return moved == MAP_FAILED ? NULL : moved;
}

/* Maps a region, and what this process has of its threads, for the first slots. Others are added when threads come. */
static int map_slots(int fd, uint32_t number) {
  int is_first = threads == NULL;
  if (is_first) {
    most_slots = slots_that_fit();
    slot_count = most_slots < FIRST_SLOTS ? most_slots : FIRST_SLOTS;
  }
  off_t at = (off_t)file_bytes(number, control->slots);
  for (; slot_count >= LEAST_SLOTS; slot_count /= 2) {
    if (is_first) threads = map_private_within(sizeof *threads * most_slots, sizeof *threads * slot_count);
    region = threads == NULL ? NULL : map_file(fd, own_bytes(most_slots), own_bytes(slot_count), at);
    if (region != NULL) return 1;
    if (is_first && threads != NULL) unmap(threads, sizeof *threads * slot_count);
    if (is_first) threads = NULL;
  }
  return 0;
}

/* parent: the process from which this one was forked, or 0. */
static int open_region(const char *path, uint32_t parent) {
  int fd = open_file(path, O_RDWR), is_open = 0;
  if (fd < 0 && control == NULL) return 0;
  uint32_t pid = own_pid();
  if (control == NULL) control = map_within(CONTROL_BYTES, CONTROL_BYTES, MAP_SHARED, fd, 0);
  if (control == NULL || control->magic != MAGIC || control->closed) goto end;
  if (!control->children && control->pid != pid) goto end;
  uint32_t number = take_region(pid);
  if (number == REGIONS) {
    __atomic_fetch_add(&control->unrecorded, 1, __ATOMIC_RELAXED);
    goto end;
  }
  if (!map_slots(fd, number)) {
    __atomic_store_n(&control->owners[number], 0, __ATOMIC_RELEASE);
    __atomic_fetch_add(&control->unmapped, 1, __ATOMIC_RELAXED);
    goto end;
  }
  madvise(region, own_bytes(slot_count), MADV_DONTFORK);
  region->room = most_slots;
  take_settings();
  has_inherited = parent != 0;
  process_id = region->pid = pid;
  region->parent = parent != 0 ? parent : (uint32_t)getppid();
  region->is_forked = region->has_inherited = parent != 0;
  region->started = start_time();
  note_library();
  read_command();
  region->begun = __atomic_add_fetch(&control->begun, 1, __ATOMIC_SEQ_CST);
  __atomic_store_n(&region->ready, 1, __ATOMIC_RELEASE);
  ring_bell();
  is_open = 1;
end:
  /* No descriptor is kept, so the program may close all of its own. */
  if (fd >= 0) close_file(fd);
  return is_open;
}

/*
 * Forks are announced, so that the reader waits for processes that their parent does not. A process that is forked
 * without this is noticed at its first call.
 */
static void before_fork(void) {
  if (injected.state == ON && control->children) __atomic_fetch_add(&control->forking, 1, __ATOMIC_SEQ_CST);
}

static NOINLINE void begin_child(void) {
  int error = errno;
  lock();
  if (!alive->alive && injected.state == ON) {
    drop_table(table);
    table = &no_threads;
    table_used = seen_count = 0;
    /* Another thread may have been about to change what is known of modules. */
    generation++;
    region = NULL;
    if (control->children && open_region(memory_path, process_id)) alive->alive = 1;
    else injected.state = OFF;
  }
  unlock();
  errno = error;
}

static void after_fork(void) {
  if (injected.state != ON) return;
  /* Emulators of other machines, such as qemu's, promise to wipe the page, but do not. */
  if (alive->alive && process_id != own_pid()) memset(alive, 0, sizeof *alive);
  if (!control->children) return;
  begin_child();
  __atomic_fetch_sub(&control->forking, 1, __ATOMIC_SEQ_CST);
  ring_bell();
}

/*
 * What else the library has that the reader has loaded, when it is called for the first time. That may be in a process
 * that was forked since: `alive` says so, which the reader has set. The region is not there then.
 */
static int begin_injected(void) {
  struct injected *in = &injected;
  control = (struct control *)in->control;
  region = (struct region *)in->region;
  alive = (struct alive *)in->alive;
  threads = (struct thread *)in->threads;
  slot_count = (uint32_t)(in->threads_bytes / in->thread_bytes);
  most_slots = in->most_slots;
  far_at = in->far_at;
  process_id = in->pid;
  memcpy(memory_path, in->path, sizeof memory_path);
  take_settings();
  has_inherited = 1;
  /* Forks are not announced: the lock of their handlers may be held now, by a handler that calls this. */
  return 1;
}

static int begin_loaded(void) {
  struct alive *wiped = map_private(4096);
  if (wiped == NULL || madvise(wiped, 4096, MADV_WIPEONFORK) != 0) return 0;
  alive = wiped;
  if (!read_variable(memory_path, sizeof memory_path) || !open_region(memory_path, 0) ||
      __register_atfork(before_fork, NULL, after_fork, NULL) != 0)
    return 0;
  alive->alive = 1;
  redirect_libc();
  note_operators();
  return 1;
}

static NOINLINE void begin(void) {
  int error = errno, before = NOT_BEGUN;
  /* The calls that other threads make meanwhile are not recorded. */
  if (!__atomic_compare_exchange_n(&injected.state, &before, OFF, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return;
  if (injected.is_injected ? begin_injected() : begin_loaded()) __atomic_store_n(&injected.state, ON, __ATOMIC_SEQ_CST);
  errno = error;
}

#endif

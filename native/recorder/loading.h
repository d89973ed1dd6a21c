/*
 * Maps the library into a stopped process, and what a recording shares with the reader.
 */
#ifndef HEAPFLOW_RECORDER_LOADING_H
#define HEAPFLOW_RECORDER_LOADING_H

#include <sys/mman.h>
#include "library.h"
#include "memory.h"
#include "shared.h"

/* More than anything takes when it has grown. */
#define ATTACH_STEP 0x80000000ull

static uint64_t attach_at;
/* What was mapped, which is given back if something fails later. */
static struct { uint64_t at, size; } mapped[8];
static size_t mapped_count;

/* Maps memory in the process. Returns 0 if that fails. */
static uint64_t map_there(struct tracee *t, uint64_t size, int rights, int flags, int64_t fd, uint64_t offset) {
  int64_t result = -EEXIST;
  for (int tries = 0; tries < 64 && result == -EEXIST; tries++) {
    result = call(t, SYS_mmap, attach_at, size, (uint64_t)rights, (uint64_t)(flags | MAP_FIXED_NOREPLACE), (uint64_t)fd,
                  offset);
    attach_at += (size + ATTACH_STEP - 1) & ~(ATTACH_STEP - 1);
  }
  if (result >= 0) {
    mapped[mapped_count].at = (uint64_t)result;
    mapped[mapped_count++].size = size;
    return (uint64_t)result;
  }
  return (uint64_t)fail("process %d gets no memory for the recorder: %s", t->pid, strerror((int)-result));
}

/* Makes a memory file in the process, and opens it here. */
static int make_there(struct tracee *t, uint64_t name_at, const char *name, int64_t *there) {
  char path[64];
  if (!write_memory(t, name_at, name, strlen(name) + 1)) return -1;
  *there = call(t, SYS_memfd_create, name_at, MFD_CLOEXEC, 0, 0, 0, 0);
  if (*there < 0) {
    fail("process %d cannot make a file in memory: %s", t->pid, strerror((int)-*there));
    return -1;
  }
  snprintf(path, sizeof path, "/proc/%d/fd/%d", t->worker, (int)*there);
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) fail("the memory of process %d cannot be shared: %s", t->pid, strerror(errno));
  return fd;
}

static void close_there(struct tracee *t, int64_t fd) {
  if (fd >= 0) call(t, SYS_close, (uint64_t)fd, 0, 0, 0, 0, 0);
}

/* An instruction for system calls, in the code of a module. */
static int find_instruction(struct tracee *t, const struct images *images) {
  static uint8_t code[1 << 16];
  for (size_t n = 0; n < images->count; n++) {
    const struct image *image = &images->list[n];
    if (!is_called(image, "libc")) continue;
    for (uint32_t p = 0; p < image->count; p++) {
      const Elf64_Phdr *part = &image->parts[p];
      if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
      for (uint64_t at = 0; at + sizeof code <= part->p_memsz; at += sizeof code - 1) {
        uint64_t from = image->base + part->p_vaddr + at;
        if (!read_memory(t, from, code, sizeof code)) continue;
        const uint8_t *found = memmem(code, sizeof code, CALL_INSTRUCTION, CALL_BYTES);
        if (found == NULL) continue;
        t->instruction = from + (uint64_t)(found - code);
        return 1;
      }
    }
  }
  return fail("process %d has no instruction for system calls", t->pid);
}

/* Maps the library. Returns where it is; 0 if that fails. */
static uint64_t map_library(struct tracee *t, const struct library *l, uint64_t name_at) {
  int64_t there = -1;
  uint64_t base = 0;
  int fd = make_there(t, name_at, LIBRARY_NAME, &there);
  if (fd < 0) goto end;
  if (write(fd, l->bytes, l->size) != (ssize_t)l->size) {
    fail("there is no memory for the recorder's library: %s", strerror(errno));
    goto end;
  }
  base = map_there(t, l->span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  for (unsigned i = 0; base != 0 && i < l->head->e_phnum; i++) {
    const Elf64_Phdr *part = &l->parts[i];
    if (part->p_type != PT_LOAD) continue;
    uint64_t from = part->p_vaddr & ~(PAGE - 1), size = part->p_vaddr + part->p_memsz - from;
    int rights = PROT_READ | (part->p_flags & PF_X ? PROT_EXEC : 0), flags = MAP_PRIVATE | MAP_FIXED;
    uint64_t offset = part->p_offset & ~(PAGE - 1);
    int is_data = (part->p_flags & PF_W) != 0;
    int64_t result = call(t, SYS_mmap, base + from, size, (uint64_t)(is_data ? PROT_READ | PROT_WRITE : rights),
                          (uint64_t)(is_data ? flags | MAP_ANONYMOUS : flags), (uint64_t)(is_data ? -1 : there),
                          is_data ? 0 : offset);
    if (result >= 0) continue;
    fail("process %d must not execute the recorder's code: %s", t->pid, strerror((int)-result));
    base = 0;
  }
end:
  if (fd >= 0) close(fd);
  close_there(t, there);
  return base;
}

/* How many slots the process may have. */
static uint32_t room_there(const struct tracee *t, size_t thread_bytes) {
  struct rlimit space;
  if (prlimit(t->pid, RLIMIT_AS, NULL, &space) < 0) space.rlim_cur = RLIM_INFINITY;
  return slots_within(space.rlim_cur, slot_count, thread_bytes);
}

/* What is mapped for a recording: the memory file is shared with the reader, `file` here. */
static int map_memory(struct tracee *t, struct injected *in, const struct injected *earlier, int *file) {
  int64_t there = -1;
  int is_whole = 0;
  const int own = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, both = PROT_READ | PROT_WRITE;
  *file = make_there(t, in->alive, "heapflow", &there);
  if (*file < 0) goto end;
  const char *fault = size_file(*file);
  if (fault != NULL) {
    fail("no shared memory for the recording: %s", fault);
    goto end;
  }
  if (earlier->control != 0) {
    /* Nothing uses what an earlier recording had. */
    call(t, SYS_munmap, earlier->control, CONTROL_BYTES, 0, 0, 0, 0);
    call(t, SYS_munmap, earlier->region, earlier->region_bytes, 0, 0, 0, 0);
    call(t, SYS_munmap, earlier->threads, earlier->threads_bytes, 0, 0, 0, 0);
    call(t, SYS_munmap, earlier->alive, PAGE, 0, 0, 0, 0);
  }
  in->control = map_there(t, CONTROL_BYTES, both, MAP_SHARED, there, 0);
  if (in->control == 0) goto end;
  /* Without memory that is promised before it is used, there is less. */
  in->most_slots = room_there(t, in->thread_bytes);
  uint32_t slots = in->most_slots < FIRST_SLOTS ? in->most_slots : FIRST_SLOTS;
  for (; slots >= LEAST_SLOTS && in->threads == 0; slots /= 2) {
    in->threads_bytes = (uint64_t)in->thread_bytes * slots;
    in->region_bytes = head_bytes(slot_count) + slots * RING_BYTES;
    in->threads = map_there(t, in->threads_bytes, both, own, -1, 0);
  }
  if (in->threads == 0) goto end;
  in->region = map_there(t, in->region_bytes, both, MAP_SHARED | MAP_NORESERVE, there, CONTROL_BYTES);
  if (in->region == 0) goto end;
  is_whole = call(t, SYS_madvise, in->alive, PAGE, MADV_WIPEONFORK, 0, 0, 0) == 0 &&
             call(t, SYS_madvise, in->region, in->region_bytes, MADV_DONTFORK, 0, 0, 0) == 0;
  if (!is_whole) fail("this system is too old for the recorder: it takes Linux 4.14");
end:
  close_there(t, there);
  return is_whole;
}

#endif

/*
 * Whether the program that a process was is still there: an exec may have put another one in its place, which is
 * recorded or not. The list of mappings shows it: in a descriptor from before the exec it stays that of the
 * old program, and is empty after the exec. What cannot be read is not known, and nothing is said of it.
 */
#ifndef HEAPFLOW_RECORDER_REPLACED_H
#define HEAPFLOW_RECORDER_REPLACED_H

#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "process.h"

/* The number of checks in a row that must find a new program without the recorder before it is reported. */
#define REPLACED 5u

/* The recording began with a process that ran already: no program that takes the place of another one is recorded. */
static int is_attached;

/* Whether a process has no /proc, or another one, in which it finds neither the recording nor its own number. */
static int is_contained(uint32_t pid) {
  char path[64];
  struct stat own, other;
  snprintf(path, sizeof path, "/proc/%u/root/proc", pid);
  if (stat(path, &other) < 0) return errno == ENOENT;
  return stat("/proc", &own) == 0 && own.st_dev != other.st_dev;
}

static int has_ended(const struct process *p) {
  if (p->pid_fd < 0) return syscall(SYS_kill, p->pid, 0) < 0 && errno == ESRCH;
  struct pollfd poll_fd = { p->pid_fd, POLLIN, 0 };
  return poll(&poll_fd, 1, 0) == 1;
}

/* The numbers of a file in lists of mappings, which may differ from those that stat gives. */
struct mapped_file {
  unsigned long long device, inode;
};

static int is_same_file(const struct mapped_file *a, const struct mapped_file *b) {
  return a->inode != 0 && a->inode == b->inode && a->device == b->device;
}

struct mapped {
  unsigned long long low, high;
  int is_code;
  struct mapped_file file;
};

/* Reads the next mapping. Returns 0 if there is none. */
static int read_mapped(FILE *maps, struct mapped *m) {
  static char *line;
  static size_t size;
  char rights[8];
  unsigned major, minor;
  if (getline(&line, &size, maps) <= 0) return 0;
  if (sscanf(line, "%llx-%llx %7s %*x %x:%x %llu", &m->low, &m->high, rights, &major, &minor, &m->file.inode) != 6)
    return 0;
  m->is_code = rights[2] == 'x';
  m->file.device = (unsigned long long)major << 32 | minor;
  return 1;
}

static FILE *maps_of(uint32_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%u/maps", pid);
  return fopen(path, "re");
}

/* The memory file of the recording. */
static const struct mapped_file *memory_file(void) {
  static struct mapped_file file;
  struct mapped m;
  if (file.inode != 0) return &file;
  FILE *maps = maps_of((uint32_t)getpid());
  while (maps != NULL && read_mapped(maps, &m))
    if (m.low <= (uint64_t)(uintptr_t)control && (uint64_t)(uintptr_t)control < m.high) file = m.file;
  if (maps != NULL) fclose(maps);
  return &file;
}

/* What a program has of the recorder: it cannot be known, nothing, not yet anything, or its library or memory. */
enum recorder { RECORDER_UNKNOWN, RECORDER_NONE, RECORDER_NOT_YET, RECORDER_LOADED, RECORDER_ACTIVE };

/*
 * The dynamic linker maps the library before all others: a program in which only its own file and the linker are mapped
 * may still get it.
 */
static enum recorder recorder_in(FILE *maps, const struct mapped_file *library) {
  struct mapped m;
  struct mapped_file codes[2] = { { 0, 0 }, { 0, 0 } };
  enum recorder found = RECORDER_UNKNOWN;
  unsigned count = 0;
  if (memory_file()->inode == 0) return RECORDER_UNKNOWN;
  while (read_mapped(maps, &m)) {
    if (is_same_file(&m.file, memory_file())) return RECORDER_ACTIVE;
    if (is_same_file(&m.file, library)) found = RECORDER_LOADED;
    if (found == RECORDER_UNKNOWN) found = RECORDER_NONE;
    if (!m.is_code || m.file.inode == 0) continue;
    if (is_same_file(&m.file, &codes[0]) || is_same_file(&m.file, &codes[1])) continue;
    if (count < 2) codes[count] = m.file;
    count++;
  }
  if (!feof(maps)) return RECORDER_UNKNOWN;
  return found == RECORDER_NONE && count == 2 ? RECORDER_NOT_YET : found;
}

/* Begins to watch the program of a process, which may be another one already. */
static void watch_program(struct process *p) {
  const struct mapped_file none = { 0, 0 };
  p->maps = maps_of(p->pid);
  if (p->maps == NULL) return;
  enum recorder found = recorder_in(p->maps, &none);
  /* An empty list is that of a program that has left since. */
  if (found == RECORDER_ACTIVE || (found == RECORDER_UNKNOWN && feof(p->maps))) return;
  p->is_replaced = found != RECORDER_UNKNOWN;
  fclose(p->maps);
  p->maps = NULL;
}

/* Whether the program is there no more. The process may be another one, or about to end. */
static int has_left(const struct process *p) {
  char byte;
  return p->is_replaced || (p->maps != NULL && pread(fileno(p->maps), &byte, 1, 0) == 0);
}

static void say_unrecorded(const struct process *p, int is_inside) {
  char path[64], program[4096];
  snprintf(path, sizeof path, "/proc/%u/exe", p->pid);
  ssize_t length = readlink(path, program, sizeof program - 1);
  program[length > 0 ? length : 0] = 0;
  fprintf(stderr, "heapflow: process %u is another program now%s%s, which is not recorded: %s\n", p->pid,
          length > 0 ? ", " : "", program,
          is_inside     ? "it has another /proc, as in a container: run hf-record there"
          : is_attached ? "hf-record has not started the process"
                        : "it is linked statically, has the rights of another user, or was started without LD_PRELOAD in "
                          "its environment");
}

/*
 * Looks at a process whose program has left. Notes whether it is another program, and says so if that is not recorded.
 * One that is recorded has a region when it calls the allocator for the first time.
 */
static void look_at_next(struct process *p) {
  const struct mapped_file library = { p->region->library_device, p->region->library_inode };
  FILE *maps = maps_of(p->pid);
  /* Without the right to read the list, there is one. */
  int is_there = maps == NULL && (errno == EACCES || errno == EPERM);
  enum recorder found = maps == NULL ? RECORDER_UNKNOWN : recorder_in(maps, &library);
  if (maps != NULL) fclose(maps);
  /* Before it has ended, no other process has its number. */
  if (has_ended(p)) return;
  if (is_there || found != RECORDER_UNKNOWN) p->is_replaced = 1;
  int is_other = found == RECORDER_NONE && (library.inode != 0 || is_attached);
  int is_inside = found == RECORDER_LOADED && is_contained(p->pid);
  p->looks = is_other || is_inside ? p->looks + 1 : 0;
  if (p->looks < REPLACED) return;
  p->is_unrecorded = 1;
  say_unrecorded(p, is_inside);
}

#endif

/*
 * What keeps a process that runs already from being recorded: each reason is one sentence.
 */
#ifndef HEAPFLOW_RECORDER_OBSTACLES_H
#define HEAPFLOW_RECORDER_OBSTACLES_H

#include "injected.h"
#include "modules.h"

/* Whether a process is in another namespace of a kind than this one. */
static int is_elsewhere(pid_t pid, const char *kind) {
  char path[64], own[64] = "", other[64] = "";
  snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, kind);
  if (readlink(path, other, sizeof other - 1) < 0) return 0;
  snprintf(path, sizeof path, "/proc/self/ns/%s", kind);
  return readlink(path, own, sizeof own - 1) > 0 && strcmp(own, other) != 0;
}

/* What can be known before it is stopped. */
static int can_attach(pid_t pid) {
  char text[64];
  if (pid <= 0 || (kill(pid, 0) < 0 && errno == ESRCH)) return fail("no process has the number %d", pid);
  if (pid == getpid() || pid == getppid()) return fail("process %d is hf-record itself", pid);
  long long group = status_number(pid, "Tgid", 10), tracer = status_number(pid, "TracerPid", 10);
  if (group < 0) return fail("no process has the number %d", pid);
  if (group != pid) return fail("%d is the number of a thread: its process is %lld", pid, group);
  if (read_of(pid, "stat", text, sizeof text) > 0 && strstr(text, ") Z") != NULL)
    return fail("process %d has ended", pid);
  if (status_number(pid, "VmSize", 10) < 0)
    return fail("process %d has no program: it is a thread of the kernel, or has ended", pid);
  if (tracer > 0) return fail("process %d is traced by process %lld, such as a debugger: end that first", pid, tracer);
  if (is_elsewhere(pid, "pid"))
    return fail("process %d is in a container: run hf-record there", pid);
  return 1;
}

/* What program it is. */
static int is_suitable(const struct tracee *t) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/exe", t->worker);
  union { Elf64_Ehdr head; uint8_t bytes[4096]; } file;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail("process %d has no program: it is a thread of the kernel, or has ended", t->pid);
  ssize_t n = pread(fd, &file, sizeof file, 0);
  close(fd);
  if (n < (ssize_t)sizeof file.head || memcmp(file.head.e_ident, ELFMAG, SELFMAG) != 0)
    return fail("the program of process %d cannot be read", t->pid);
  if (file.head.e_ident[EI_CLASS] != ELFCLASS64)
    return fail("process %d runs a program for 32 bits, which the recorder cannot record", t->pid);
  if (file.head.e_machine != MACHINE_NUMBER)
    return fail("process %d runs a program for another architecture (number %u)", t->pid, file.head.e_machine);
  const Elf64_Phdr *parts = (const Elf64_Phdr *)(const void *)(file.bytes + file.head.e_phoff);
  for (unsigned i = 0; i < file.head.e_phnum; i++) {
    if (file.head.e_phoff + (i + 1) * sizeof *parts > (uint64_t)n) break;
    if (parts[i].p_type == PT_INTERP) return 1;
  }
  return fail("process %d runs a program that is linked statically: link it without -static to record it", t->pid);
}

static int has_part(const struct tracee *t, const char *part) {
  char line[1024];
  int is_found = 0;
  FILE *maps = open_maps(t->worker);
  while (maps != NULL && !is_found && fgets(line, sizeof line, maps) != NULL) is_found = strstr(line, part) != NULL;
  if (maps != NULL) fclose(maps);
  return is_found;
}

/* Finds the C library, and the addresses of the functions to replace. */
static int find_originals(const struct tracee *t, const struct images *images, struct injected *in) {
  const struct image *libc = image_called(images, "libc.so.6");
  if (libc == NULL) libc = image_called(images, "libc-2.");
  if (libc == NULL && has_part(t, "/ld-musl-"))
    return fail("process %d uses another C library (musl): build the program for glibc to record it", t->pid);
  if (libc == NULL || function_in(t, libc, "__libc_malloc") == 0)
    return fail("process %d does not use glibc, which the recorder needs", t->pid);
  for (size_t i = 0; i < images->count; i++) {
    const struct image *image = &images->list[i];
    if (image != libc && !is_called(image, "ld-") && function_in(t, image, "malloc") != 0)
      return fail("process %d has the allocator of %s, which the recorder cannot replace while it runs: "
                  "start the program with hf-record", t->pid, image->path);
  }
  for (int i = 0; i < HOOKS; i++) in->originals[i] = function_in(t, libc, hook_names[i]);
  const struct image *loader = image_called(images, "libdl");
  if (in->originals[HOOK_DLCLOSE] == 0 && loader != NULL)
    in->originals[HOOK_DLCLOSE] = function_in(t, loader, hook_names[HOOK_DLCLOSE]);
  return 1;
}

#endif

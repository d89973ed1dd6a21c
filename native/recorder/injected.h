/*
 * What the library and the reader share when the reader loads the library into a process that runs already (attach.h).
 * The reader finds it by its name among the symbols of the library.
 */
#ifndef HEAPFLOW_RECORDER_INJECTED_H
#define HEAPFLOW_RECORDER_INJECTED_H

#include <stdint.h>

/* Changes with the layout. */
#define INJECTED_MAGIC 0x34616668u
#define INJECTED_NAME "heapflow_injected"
#define PATH_BYTES 128u

/* The functions of libc that are replaced, by those of the library with the same names. */
#define HOOK_NAMES                                                                                            \
  "malloc", "calloc", "realloc", "free", "memalign", "aligned_alloc", "posix_memalign", "valloc", "pvalloc", \
  "reallocarray", "dlclose", "cfree", "free_sized", "free_aligned_sized"
enum { HOOKS = 14, HOOK_MALLOC = 0, HOOK_DLCLOSE = 10 };
static const char *const hook_names[HOOKS] = { HOOK_NAMES };

/* States of the library. */
enum { NOT_BEGUN, OFF, ON };

/* Addresses are those of the process. */
struct injected {
  uint32_t magic;
  /* Set when the reader has loaded the library, and not the dynamic linker. */
  uint32_t is_injected;
  /* The process, where the reader is. */
  uint32_t pid;
  /* How many threads are in the slow part of the code, where they are not marked as busy yet. */
  uint32_t inside;
  /* The key of thread ends stays when recording ends, because its destructor may still be called. */
  uint32_t key, has_key;
  int32_t state;
  /* Of what a thread has: how large it is, and where it says that it is busy. */
  uint32_t thread_bytes, busy_at;
  uint64_t control, region, alive, threads;
  /* How large two of them are. */
  uint64_t region_bytes, threads_bytes;
  uint32_t most_slots;
  /* Where the library may map memory. */
  uint64_t far_at;
  uint64_t hooks[HOOKS], originals[HOOKS];
  /* The path of the memory file, for forked processes. */
  char path[PATH_BYTES];
};

#endif

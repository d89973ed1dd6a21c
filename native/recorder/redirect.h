/*
 * Functions that are looked up in libc itself: by modules that are loaded with RTLD_DEEPBIND, as PHP loads its
 * extensions, and by dlsym, as Python's ctypes calls it for libc. That a library is preloaded has no effect there. So
 * libc's table of symbols, in this process, names the functions of this library. Where that cannot be written, such
 * calls are not recorded.
 */
#ifndef HEAPFLOW_RECORDER_REDIRECT_H
#define HEAPFLOW_RECORDER_REDIRECT_H

#include "objects.h"

struct redirection {
  /* The memory of this process, which can be written this way though its mapping cannot. */
  int memory;
  uint64_t hook;
  uint64_t *original;
};

static int redirect_symbol(void *to, const struct object *object, const Elf64_Sym *symbol) {
  const struct redirection *r = to;
  const uint64_t at = (uint64_t)(uintptr_t)&symbol->st_value, value = r->hook - object->base;
  uint64_t found = 0;
  if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC) return 0;
  /* An emulator may open its own memory instead of that of the program that it runs. */
  if (!read_own(r->memory, at, &found, sizeof found) || found != symbol->st_value) return 0;
  *r->original = object->base + found;
  syscall(SYS_pwrite64, r->memory, &value, sizeof value, at);
  return 0;
}

static void redirect_libc(void) {
  struct object libc, own;
  lock();
  int is_found = find_object((uint64_t)(uintptr_t)__libc_malloc, &libc) == OBJECT &&
                 find_object((uint64_t)(uintptr_t)&injected, &own) == OBJECT;
  unlock();
  int memory = is_found ? open_file("/proc/self/mem", O_RDWR) : -1;
  if (memory < 0) return;
  for (int i = 0; i < HOOKS; i++) {
    /* The dynamic linker may have stored a function of this name in another module. */
    injected.hooks[i] = (uint64_t)(uintptr_t)function_of(&own, hook_names[i]);
    struct redirection r = { memory, injected.hooks[i], &injected.originals[i] };
    if (r.hook != 0) find_symbols(&libc, hook_names[i], redirect_symbol, &r);
  }
  close_file(memory);
}

#endif

/*
 * The usable size of a block, by the library that allocates it. A program that is linked with another allocator gets
 * the blocks of libc here, and must not ask the other one for their size.
 */
#ifndef HEAPFLOW_USABLE_H
#define HEAPFLOW_USABLE_H

#include "objects.h"

typedef size_t usable_size_function(void *block);

static usable_size_function *usable_size_of_libc;

/* Returns whether the function is known. */
static int find_usable_size(void) {
  struct object libc;
  if (usable_size_of_libc != NULL) return 1;
  if (object_at((uint64_t)(uintptr_t)__libc_malloc, &libc) != OBJECT) return 0;
  usable_size_of_libc = (usable_size_function *)function_of(&libc, "malloc_usable_size");
  return usable_size_of_libc != NULL;
}

static inline size_t usable_size(void *block) {
  return usable_size_of_libc != NULL || find_usable_size() ? usable_size_of_libc(block) : 0;
}

#endif

/*
 * The usable size of a block, by the library that allocates it. A program that is linked with another allocator gets
 * the blocks of libc here, and must not ask the other one for their size.
 */
#ifndef HEAPFLOW_USABLE_H
#define HEAPFLOW_USABLE_H

#include "state.h"

static inline uintptr_t in_memory(const struct link_map *map, uintptr_t value) {
  return value < map->l_addr ? value + map->l_addr : value;
}

/* A function of a loaded module, by its hash table (GNU): dlsym would allocate. */
static void *function_of(const struct link_map *map, const char *name) {
  const Elf64_Sym *symbols = NULL;
  const char *names = NULL;
  const uint32_t *table = NULL;
  for (const Elf64_Dyn *d = map->l_ld; d->d_tag != DT_NULL; d++) {
    if (d->d_tag == DT_SYMTAB) symbols = (const Elf64_Sym *)in_memory(map, d->d_un.d_ptr);
    else if (d->d_tag == DT_STRTAB) names = (const char *)in_memory(map, d->d_un.d_ptr);
    else if (d->d_tag == DT_GNU_HASH) table = (const uint32_t *)in_memory(map, d->d_un.d_ptr);
  }
  if (symbols == NULL || names == NULL || table == NULL || table[0] == 0) return NULL;
  uint32_t hash = 5381;
  for (const char *c = name; *c != 0; c++) hash = hash * 33 + (unsigned char)*c;
  const uint32_t *buckets = table + 4 + (size_t)table[2] * 2;
  const uint32_t *chain = buckets + table[0];
  for (uint32_t i = buckets[hash % table[0]]; i >= table[1] && i != 0; i++) {
    uint32_t found = chain[i - table[1]];
    if ((found | 1) == (hash | 1) && symbols[i].st_shndx != SHN_UNDEF && strcmp(names + symbols[i].st_name, name) == 0)
      return (void *)(map->l_addr + symbols[i].st_value);
    if (found & 1) break;
  }
  return NULL;
}

typedef size_t usable_size_function(void *block);

static usable_size_function *usable_size_of_libc;

/* Returns whether the function is known. */
static int find_usable_size(void) {
  struct dl_find_object found;
  if (usable_size_of_libc != NULL) return 1;
  if (_dl_find_object((void *)__libc_malloc, &found) != 0) return 0;
  usable_size_of_libc = (usable_size_function *)function_of(found.dlfo_link_map, "malloc_usable_size");
  return usable_size_of_libc != NULL;
}

static inline size_t usable_size(void *block) {
  return usable_size_of_libc != NULL || find_usable_size() ? usable_size_of_libc(block) : 0;
}

#endif

/*
 * Allocators that are libraries, such as jemalloc, also have the operators of C++. Their malloc is replaced, but these
 * operators take blocks from a heap of their own, which is not recorded: the reader says so.
 */
#ifndef HEAPFLOW_RECORDER_OPERATORS_H
#define HEAPFLOW_RECORDER_OPERATORS_H

#include "objects.h"

/* The symbol of `operator new`. */
#define NEW "_Znwm"

/* Whether a module calls `operator new` of another one, by its relocations. */
static int calls_new(const struct object *object) {
  const Elf64_Sym *symbols = NULL;
  const char *names = NULL;
  struct { const Elf64_Rela *list; uint64_t bytes; } tables[2] = { { NULL, 0 }, { NULL, 0 } };
  for (const Elf64_Dyn *d = object->dynamic; d != NULL && d->d_tag != DT_NULL; d++) {
    const uintptr_t value = d->d_un.d_ptr;
    if (d->d_tag == DT_SYMTAB) symbols = (const Elf64_Sym *)in_memory(object, value);
    else if (d->d_tag == DT_STRTAB) names = (const char *)in_memory(object, value);
    else if (d->d_tag == DT_RELA) tables[0].list = (const Elf64_Rela *)in_memory(object, value);
    else if (d->d_tag == DT_RELASZ) tables[0].bytes = value;
    else if (d->d_tag == DT_JMPREL) tables[1].list = (const Elf64_Rela *)in_memory(object, value);
    else if (d->d_tag == DT_PLTRELSZ) tables[1].bytes = value;
  }
  if (symbols == NULL || names == NULL) return 0;
  for (int k = 0; k < 2; k++)
    for (uint64_t i = 0; tables[k].list != NULL && i < tables[k].bytes / sizeof(Elf64_Rela); i++) {
      const Elf64_Sym *symbol = &symbols[ELF64_R_SYM(tables[k].list[i].r_info)];
      if (symbol->st_shndx == SHN_UNDEF && strcmp(names + symbol->st_name, NEW) == 0) return 1;
    }
  return 0;
}

static struct object visited(const struct dl_phdr_info *info) {
  struct object object = { .base = info->dlpi_addr };
  for (unsigned i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
      object.dynamic = (const Elf64_Dyn *)(object.base + info->dlpi_phdr[i].p_vaddr);
  return object;
}

/* Takes the path of the module whose operators are called, if it is an allocator. Modules come in order of lookup. */
static int find_operators(struct dl_phdr_info *info, size_t size, void *path) {
  const struct object object = visited(info);
  (void)size;
  if (function_of(&object, NEW) == NULL) return 0;
  if (function_of(&object, "malloc") != NULL) *(const char **)path = info->dlpi_name;
  return 1;
}

static int find_caller(struct dl_phdr_info *info, size_t size, void *none) {
  const struct object object = visited(info);
  (void)size, (void)none;
  return function_of(&object, NEW) == NULL && calls_new(&object);
}

/* The first program that has them is enough. */
static void note_operators(void) {
  const char *path = NULL;
  if (control->operators[0] != 0) return;
  dl_iterate_phdr(find_operators, &path);
  if (path == NULL || !dl_iterate_phdr(find_caller, NULL)) return;
  const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
  memcpy(control->operators, name, strnlen(name, sizeof control->operators - 1));
}

#endif

/*
 * The file of the recorder's library, which the reader loads into a process, and its relocation.
 */
#ifndef HEAPFLOW_RECORDER_LIBRARY_H
#define HEAPFLOW_RECORDER_LIBRARY_H

#include <fcntl.h>
#include <sys/stat.h>
#include "injected.h"
#include "modules.h"

#define PAGE 4096ull
#define MAX_LIBRARY ((size_t)8 << 20)

/* The file of the library. */
struct library {
  uint8_t *bytes;
  size_t size;
  const Elf64_Ehdr *head;
  const Elf64_Phdr *parts;
  const Elf64_Sym *symbols;
  const char *names;
  size_t symbol_count;
  /* The length of its memory, and the start and the length of the writable part. */
  uint64_t span, data_at, data_bytes;
  uint64_t injected_at;
};

static const uint8_t *in_file(const struct library *l, uint64_t address) {
  for (unsigned i = 0; i < l->head->e_phnum; i++) {
    const Elf64_Phdr *part = &l->parts[i];
    if (part->p_type == PT_LOAD && address >= part->p_vaddr && address - part->p_vaddr < part->p_filesz)
      return l->bytes + part->p_offset + (address - part->p_vaddr);
  }
  return NULL;
}

static int read_library(struct library *l, const char *path) {
  struct stat stats;
  memset(l, 0, sizeof *l);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &stats) < 0 || (size_t)stats.st_size > MAX_LIBRARY) goto unreadable;
  l->size = (size_t)stats.st_size;
  l->bytes = allocate(NULL, l->size + 1);
  if (read(fd, l->bytes, l->size) != (ssize_t)l->size || l->size < sizeof *l->head) goto unreadable;
  close(fd);
  l->head = (const Elf64_Ehdr *)(const void *)l->bytes;
  l->parts = (const Elf64_Phdr *)(const void *)(l->bytes + l->head->e_phoff);
  for (unsigned i = 0; i < l->head->e_phnum; i++) {
    const Elf64_Phdr *part = &l->parts[i];
    if (part->p_type != PT_LOAD) continue;
    uint64_t end = (part->p_vaddr + part->p_memsz + PAGE - 1) & ~(PAGE - 1);
    if (end > l->span) l->span = end;
    if (!(part->p_flags & PF_W)) continue;
    if (l->data_bytes != 0) return fail("%s has two parts of data", path);
    l->data_at = part->p_vaddr & ~(PAGE - 1);
    l->data_bytes = end - l->data_at;
  }
  const Elf64_Shdr *sections = (const Elf64_Shdr *)(const void *)(l->bytes + l->head->e_shoff);
  for (unsigned i = 0; i < l->head->e_shnum; i++) {
    if (sections[i].sh_type != SHT_DYNSYM) continue;
    l->symbols = (const Elf64_Sym *)(const void *)(l->bytes + sections[i].sh_offset);
    l->symbol_count = sections[i].sh_size / sizeof(Elf64_Sym);
    l->names = (const char *)l->bytes + sections[sections[i].sh_link].sh_offset;
  }
  for (size_t i = 0; i < l->symbol_count; i++)
    if (strcmp(l->names + l->symbols[i].st_name, INJECTED_NAME) == 0) l->injected_at = l->symbols[i].st_value;
  return l->injected_at != 0 || fail("%s is not the recorder's library", path);
unreadable:
  if (fd >= 0) close(fd);
  return fail("%s cannot be read", path);
}

static uint64_t function_for(const struct tracee *t, const struct images *images, const char *name) {
  for (size_t i = 0; i < images->count; i++) {
    const struct image *image = &images->list[i];
    if (!is_called(image, "libc.so") && !is_called(image, "libc-2") && !is_called(image, "ld-") &&
        !is_called(image, "libpthread") && !is_called(image, "libdl"))
      continue;
    uint64_t found = function_in(t, image, name);
    if (found != 0) return found;
  }
  return 0;
}

/* Stores the addresses that the library needs in its data. */
static int relocate(const struct tracee *t, const struct images *images, const struct library *l, uint64_t base,
                    uint8_t *data) {
  const Elf64_Shdr *sections = (const Elf64_Shdr *)(const void *)(l->bytes + l->head->e_shoff);
  for (unsigned s = 0; s < l->head->e_shnum; s++) {
    if (sections[s].sh_type != SHT_RELA || !(sections[s].sh_flags & SHF_ALLOC)) continue;
    const Elf64_Rela *list = (const Elf64_Rela *)(const void *)(l->bytes + sections[s].sh_offset);
    for (uint64_t i = 0; i < sections[s].sh_size / sizeof *list; i++) {
      const Elf64_Rela *r = &list[i];
      uint64_t value = 0, type = ELF64_R_TYPE(r->r_info), number = ELF64_R_SYM(r->r_info);
      if (r->r_offset < l->data_at || r->r_offset + 8 > l->data_at + l->data_bytes || number >= l->symbol_count)
        return fail("the recorder's library has a reference to code");
      const Elf64_Sym *symbol = &l->symbols[number];
      const char *name = l->names + symbol->st_name;
      if (is_relative(type)) value = base + (uint64_t)r->r_addend;
      else if (is_of_symbol(type)) {
        value = symbol->st_shndx != SHN_UNDEF ? base + symbol->st_value : function_for(t, images, name);
        if (value == 0 && ELF64_ST_BIND(symbol->st_info) != STB_WEAK)
          return fail("process %d has a C library that is too old for the recorder: it has no %s", t->pid, name);
        if (has_addend(type)) value += (uint64_t)r->r_addend;
      } else return fail("the recorder's library has a reference of unknown type");
      memcpy(data + (r->r_offset - l->data_at), &value, sizeof value);
    }
  }
  return 1;
}

#endif

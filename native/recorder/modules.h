/*
 * The modules of a stopped process, as they are in its memory, and their symbols.
 */
#ifndef HEAPFLOW_RECORDER_MODULES_H
#define HEAPFLOW_RECORDER_MODULES_H

#include <elf.h>
#include <link.h>
#include "tracee.h"

#define MAX_PARTS 64u
#define MAX_NAME 256u
/* More data of a module than this is not looked through, in bytes; and more memory in all. */
#define MAX_DATA ((uint64_t)1 << 30)
#define MAX_MEMORY ((uint64_t)4 << 30)
/* Of a mapping that is larger, even finding out which pages are used takes too long. */
#define MAX_MAPPING ((uint64_t)1 << 38)

/* Where memory of the library is put if it is free there. */
#define ATTACH_AT 0x210000000000ull
#define ATTACH_SPAN ((uint64_t)1 << 40)

/* An ELF file that is mapped from its beginning. */
struct image {
  uint64_t start, base;
  Elf64_Phdr parts[MAX_PARTS];
  uint32_t count;
  uint64_t symbols, names, hashes;
  char path[512];
};

struct images {
  struct image *list;
  size_t count;
};

/* Reads what an image has of symbols. Addresses are relocated or not, depending on the dynamic linker. */
static int read_image(const struct tracee *t, struct image *image) {
  Elf64_Ehdr head;
  if (!read_memory(t, image->start, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return 0;
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(Elf64_Phdr)) return 0;
  image->count = head.e_phnum < MAX_PARTS ? head.e_phnum : MAX_PARTS;
  if (!read_memory(t, image->start + head.e_phoff, image->parts, image->count * sizeof(Elf64_Phdr))) return 0;
  uint64_t dynamic = 0, bytes = 0;
  int is_based = 0;
  for (uint32_t i = 0; i < image->count; i++) {
    const Elf64_Phdr *part = &image->parts[i];
    if (part->p_type == PT_LOAD && !is_based) image->base = image->start - (part->p_vaddr & ~4095ull), is_based = 1;
    if (part->p_type == PT_DYNAMIC) dynamic = part->p_vaddr, bytes = part->p_memsz;
  }
  if (!is_based || dynamic == 0) return 0;
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= bytes && at < 65536; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn d;
    if (!read_memory(t, image->base + dynamic + at, &d, sizeof d)) return 0;
    if (d.d_tag == DT_NULL) break;
    uint64_t value = d.d_un.d_ptr < image->base ? d.d_un.d_ptr + image->base : d.d_un.d_ptr;
    if (d.d_tag == DT_SYMTAB) image->symbols = value;
    else if (d.d_tag == DT_STRTAB) image->names = value;
    else if (d.d_tag == DT_GNU_HASH) image->hashes = value;
  }
  return image->symbols != 0 && image->names != 0 && image->hashes != 0;
}

/* A mapping of the list of them. */
struct mapping {
  uint64_t low, high, offset;
  char rights[8], path[512];
};

static int parse_mapping(const char *line, struct mapping *m) {
  unsigned long long low, high, offset;
  int at = 0;
  m->path[0] = 0;
  if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %n", &low, &high, m->rights, &offset, &at) < 4) return 0;
  if (at > 0) {
    size_t n = strcspn(line + at, "\n");
    if (n >= sizeof m->path) n = sizeof m->path - 1;
    memcpy(m->path, line + at, n);
    m->path[n] = 0;
  }
  m->low = low;
  m->high = high;
  m->offset = offset;
  return 1;
}

static FILE *open_maps(pid_t tid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/maps", tid);
  return fopen(path, "re");
}

/* What the memory of the library is called in the list of mappings. */
#define LIBRARY_NAME "heapflow-recorder"
#define LIBRARY_PATH "/memfd:" LIBRARY_NAME

static int is_library(const char *path) { return strncmp(path, LIBRARY_PATH, sizeof LIBRARY_PATH - 1) == 0; }

/* The modules of a process, without the library. Those that are files of data only have no tables of symbols. */
static struct images images_of(const struct tracee *t) {
  struct images images = { NULL, 0 };
  FILE *maps = open_maps(t->worker);
  char line[1024];
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    struct mapping m;
    if (!parse_mapping(line, &m) || m.offset != 0 || m.path[0] != '/' || m.rights[0] != 'r' || is_library(m.path)) continue;
    struct image image;
    memset(&image, 0, sizeof image);
    image.start = m.low;
    snprintf(image.path, sizeof image.path, "%s", m.path);
    if (!read_image(t, &image)) continue;
    images.list = allocate(images.list, (images.count + 1) * sizeof image);
    images.list[images.count++] = image;
  }
  if (maps != NULL) fclose(maps);
  return images;
}

static int has_name(const struct tracee *t, const struct image *image, uint32_t at, const char *name) {
  char found[MAX_NAME];
  size_t n = strlen(name) + 1;
  return n <= sizeof found && read_memory(t, image->names + at, found, n) && memcmp(found, name, n) == 0;
}

/*
 * Finds the definitions of a symbol, by the hash table. Calls `found` for each, with its place in the process.
 */
typedef void found_symbol(void *to, uint64_t at, const Elf64_Sym *symbol);

static void find_symbols(const struct tracee *t, const struct image *image, const char *name, found_symbol *found,
                         void *to) {
  uint32_t head[4], hash = 5381, i, link;
  for (const char *c = name; *c != 0; c++) hash = hash * 33 + (unsigned char)*c;
  if (!read_memory(t, image->hashes, head, sizeof head) || head[0] == 0) return;
  uint64_t buckets = image->hashes + 16 + (uint64_t)head[2] * 8, chain = buckets + (uint64_t)head[0] * 4;
  if (!read_memory(t, buckets + (uint64_t)(hash % head[0]) * 4, &i, 4) || i < head[1]) return;
  for (uint32_t steps = 0; steps < 65536; i++, steps++) {
    if (!read_memory(t, chain + (uint64_t)(i - head[1]) * 4, &link, 4)) return;
    Elf64_Sym symbol;
    uint64_t at = image->symbols + (uint64_t)i * sizeof symbol;
    if ((link | 1) == (hash | 1) && read_memory(t, at, &symbol, sizeof symbol) && symbol.st_shndx != SHN_UNDEF &&
        has_name(t, image, symbol.st_name, name))
      found(to, at, &symbol);
    if (link & 1) return;
  }
}

static void take_value(void *to, uint64_t at, const Elf64_Sym *symbol) {
  (void)at;
  /* What an indirect function is only the dynamic linker knows. */
  if (ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC) *(uint64_t *)to = symbol->st_value;
}

/* The address of a function of a module; 0 for none. */
static uint64_t function_in(const struct tracee *t, const struct image *image, const char *name) {
  uint64_t value = 0;
  find_symbols(t, image, name, take_value, &value);
  return value == 0 ? 0 : value + image->base;
}

/* The last part of the path of a module, which may have been deleted since. */
static int is_called(const struct image *image, const char *beginning) {
  const char *name = strrchr(image->path, '/');
  return name != NULL && strncmp(name + 1, beginning, strlen(beginning)) == 0;
}

static const struct image *image_called(const struct images *images, const char *beginning) {
  for (size_t i = 0; i < images->count; i++) if (is_called(&images->list[i], beginning)) return &images->list[i];
  return NULL;
}

/* Words that are replaced: what is `from[i]` becomes `to[i]`. */
struct replacement {
  const uint64_t *from, *to;
  size_t count;
  uint64_t least, most;
};

static void replace_between(const struct tracee *t, const struct replacement *r, uint64_t at, uint64_t end) {
  static uint64_t words[1 << 16];
  at = (at + 7) & ~7ull;
  while (at + 8 <= end) {
    size_t bytes = end - at < sizeof words ? (end - at) & ~7ull : sizeof words;
    /* Up to the next page, where pages are missing. */
    if (!read_memory(t, at, words, bytes)) {
      uint64_t next = (at | 4095) + 1;
      if (next - at > bytes || !read_memory(t, at, words, bytes = next - at)) {
        at = next;
        continue;
      }
    }
    for (size_t i = 0; i < bytes / 8; i++) {
      if (words[i] < r->least || words[i] > r->most) continue;
      for (size_t k = 0; k < r->count; k++) {
        if (r->from[k] == 0 || r->to[k] == 0 || words[i] != r->from[k]) continue;
        write_memory(t, at + i * 8, &r->to[k], 8);
        break;
      }
    }
    at += bytes;
  }
}

/* The same for the pages of a mapping that the process has used. Returns how many bytes these are, `limit` at most. */
static uint64_t replace_used(const struct tracee *t, const struct replacement *r, int pages, uint64_t at, uint64_t end,
                             uint64_t limit) {
  static uint64_t entries[4096];
  uint64_t used = 0;
  for (; at < end && used < limit; at += sizeof entries / 8 * 4096) {
    size_t count = (end - at) / 4096 < sizeof entries / 8 ? (end - at) / 4096 : sizeof entries / 8;
    if (pread(pages, entries, count * 8, (off_t)(at / 4096 * 8)) != (ssize_t)(count * 8)) break;
    for (size_t i = 0, from; i < count && used < limit; i++) {
      /* In memory, or swapped out. */
      for (from = i; i < count && entries[i] >> 62 != 0; i++) used += 4096;
      replace_between(t, r, at + from * 4096, at + i * 4096);
    }
  }
  return used < limit ? used : limit;
}

/* Whether a mapping is memory of the program's own: a heap, or a stack. */
static int is_memory(const struct mapping *m) {
  if (strncmp(m->rights, "rw-p", 4) != 0 || m->low - ATTACH_AT < ATTACH_SPAN) return 0;
  return m->path[0] == 0 || (m->path[0] == '[' && m->path[1] != 'v');
}

/* The process has more memory than is looked through. */
static int is_too_large;

/*
 * Replaces words of the writable data of all modules: the tables through which modules call functions of others, and
 * pointers to such functions. Then it replaces pointers in heaps and on stacks.
 */
static void replace_words(const struct tracee *t, const struct images *images, const uint64_t *from, const uint64_t *to,
                          size_t count) {
  struct replacement r = { from, to, count, ~0ull, 0 };
  for (size_t i = 0; i < count; i++) {
    if (from[i] == 0 || to[i] == 0) continue;
    if (from[i] < r.least) r.least = from[i];
    if (from[i] > r.most) r.most = from[i];
  }
  for (size_t n = 0; n < images->count; n++) {
    const struct image *image = &images->list[n];
    for (uint32_t p = 0; p < image->count; p++) {
      const Elf64_Phdr *part = &image->parts[p];
      if (part->p_type != PT_LOAD || !(part->p_flags & PF_W) || part->p_memsz > MAX_DATA) continue;
      replace_between(t, &r, image->base + part->p_vaddr, image->base + part->p_vaddr + part->p_memsz);
    }
  }
  char name[64], line[1024];
  snprintf(name, sizeof name, "/proc/%d/pagemap", t->pid);
  int pages = open(name, O_RDONLY | O_CLOEXEC);
  FILE *maps = pages < 0 ? NULL : open_maps(t->worker);
  uint64_t left = MAX_MEMORY;
  is_too_large = 0;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    struct mapping m;
    if (!parse_mapping(line, &m) || !is_memory(&m)) continue;
    if (m.high - m.low <= MAX_MAPPING) left -= replace_used(t, &r, pages, m.low, m.high, left);
    else is_too_large = 1;
  }
  if (left == 0) is_too_large = 1;
  if (maps != NULL) fclose(maps);
  if (pages >= 0) close(pages);
}

struct redirection {
  const struct tracee *tracee;
  uint64_t from, to, base;
};

static void redirect_symbol(void *to, uint64_t at, const Elf64_Sym *symbol) {
  const struct redirection *r = to;
  uint64_t value = r->to - r->base;
  if (symbol->st_value + r->base == r->from)
    write_memory(r->tracee, at + offsetof(Elf64_Sym, st_value), &value, sizeof value);
}

/* From now on the dynamic linker finds another function by this name, for modules that it loads, and for dlsym. */
static void redirect(const struct tracee *t, const struct images *images, const char *name, uint64_t from, uint64_t to) {
  if (from == 0 || to == 0) return;
  for (size_t i = 0; i < images->count; i++) {
    struct redirection r = { t, from, to, images->list[i].base };
    find_symbols(t, &images->list[i], name, redirect_symbol, &r);
  }
}

#endif

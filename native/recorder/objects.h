/*
 * The modules of this process: which one has an address, and its tables. Since 2.35 glibc tells that, without a lock.
 * Before that, the list of mappings and the headers of the files that are mapped do: what dl_iterate_phdr takes is a
 * lock that another thread may hold while it waits for this one, or held when this process was forked.
 */
#ifndef HEAPFLOW_RECORDER_OBJECTS_H
#define HEAPFLOW_RECORDER_OBJECTS_H

#include "maps.h"

#define MAX_PARTS 64u
#define GAPS 64u
/* So long, in ns, it is remembered that there is no module somewhere: one may be loaded there. */
#define GAP_NS 100000000u
#define MAPS_BYTES 16384u

struct object {
  uint64_t start, end;
  /* What is added to the addresses of the file. */
  uint64_t base;
  /* .eh_frame_hdr, or NULL. */
  const uint8_t *frames;
  const Elf64_Dyn *dynamic;
  /* Of glibc; NULL where the list of mappings is read. */
  const struct link_map *module;
};

/* NO_LIST: it cannot be known, because the list of mappings cannot be read now. */
enum { NO_OBJECT, OBJECT, NO_LIST };

/* ---- what glibc tells ---- */

/* struct dl_find_object, which older headers do not have. */
struct found_object {
  unsigned long long flags;
  void *start, *end;
  struct link_map *module;
  void *frames;
  unsigned long long reserved[7];
};
extern int find_by_glibc(void *address, struct found_object *found) __asm__("_dl_find_object") __attribute__((weak));

static inline int has_find_object(void) {
#ifdef WITHOUT_FIND_OBJECT
  /* Tests do without it where it is. */
  return 0;
#else
  return find_by_glibc != NULL;
#endif
}

/* ---- what the list of mappings tells ---- */

struct known {
  struct object object;
  char path[MAX_PATH];
};
/* Where no module is: a mapping that is none, or no mapping. */
struct gap {
  uint64_t low, high, until;
  int is_mapped;
};
/* Memory of its own; all of it is used under the lock. */
struct catalog {
  uint32_t count, next, next_gap;
  /* That of the last dlclose when it was made. */
  uint32_t generation;
  struct gap gaps[GAPS];
  Elf64_Phdr parts[MAX_PARTS];
  char text[MAPS_BYTES];
  struct known list[MODULES];
};
static struct catalog *catalog;

static struct known *known_at(uint64_t address) {
  for (uint32_t i = 0; i < catalog->count; i++)
    if (address >= catalog->list[i].object.start && address < catalog->list[i].object.end) return &catalog->list[i];
  return NULL;
}

/* Reads memory that another thread may unmap. Where that is forbidden, it is read as it is. */
static int read_own(int fd, uint64_t at, void *to, size_t n) {
  if (fd >= 0) return syscall(SYS_pread64, fd, to, n, at) == (long)n;
  memcpy(to, (const void *)at, n);
  return 1;
}

/* Adds the module whose file is mapped from its beginning at `start`, if it has the address. */
static void add_object(uint64_t start, uint64_t address, const char *path) {
  Elf64_Ehdr head;
  Elf64_Phdr *parts = catalog->parts;
  struct object found = { .start = start };
  int fd = open_file("/proc/self/mem", O_RDONLY), has_base = 0;
  int is_read = read_own(fd, start, &head, sizeof head) && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
                head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_phentsize == sizeof *parts && head.e_phnum <= MAX_PARTS &&
                read_own(fd, start + head.e_phoff, parts, head.e_phnum * sizeof *parts);
  if (fd >= 0) close_file(fd);
  if (!is_read) return;
  for (unsigned i = 0; i < head.e_phnum; i++) {
    if (parts[i].p_type != PT_LOAD) continue;
    if (!has_base) found.base = start - (parts[i].p_vaddr & ~(uint64_t)4095), has_base = 1;
    uint64_t end = (found.base + parts[i].p_vaddr + parts[i].p_memsz + 4095) & ~(uint64_t)4095;
    if (end > found.end) found.end = end;
  }
  if (!has_base || address < start || address >= found.end) return;
  for (unsigned i = 0; i < head.e_phnum; i++) {
    uint64_t at = found.base + parts[i].p_vaddr;
    if (parts[i].p_type == PT_GNU_EH_FRAME) found.frames = (const uint8_t *)at;
    else if (parts[i].p_type == PT_DYNAMIC) found.dynamic = (const Elf64_Dyn *)at;
  }
  struct known *known = &catalog->list[catalog->count < MODULES ? catalog->count++ : catalog->next++ % MODULES];
  static const char deleted[] = " (deleted)";
  size_t length = strnlen(path, MAX_PATH - 1);
  if (length >= sizeof deleted && strcmp(path + length - (sizeof deleted - 1), deleted) == 0) length -= sizeof deleted - 1;
  known->object = found;
  memcpy(known->path, path, length);
  known->path[length] = 0;
}

/*
 * Adds the modules that are not known. An address in none of them is in a gap: a mapping that is no module,
 * or no mapping. Code is in mappings that may be executed.
 */
static int read_objects(uint64_t address) {
  struct maps maps;
  struct mapping m;
  uint64_t start = 0, end_before = 0;
  struct gap gap = { 0, ~(uint64_t)0, 0, 0 };
  char path[MAX_PATH] = "";
  if (!open_maps(&maps, catalog->text, sizeof catalog->text)) return 0;
  while (next_mapping(&maps, &m)) {
    int is_vdso = strcmp(m.path, "[vdso]") == 0;
    if (m.offset == 0 && (m.path[0] == '/' || is_vdso)) {
      start = m.low;
      const char *name = is_vdso ? "linux-vdso.so.1" : m.path;
      size_t length = strnlen(name, MAX_PATH - 1);
      memcpy(path, name, length);
      path[length] = 0;
    }
    if (m.rights[2] == 'x' && path[0] != 0 && known_at(m.low) == NULL) add_object(start, m.low, path);
    if (address >= m.high) gap.low = m.high;
    else if (address >= m.low) gap = (struct gap){ m.low, m.high, 0, 1 };
    else if (m.low < gap.high) gap.high = m.low;
    end_before = m.high;
  }
  close_maps(&maps);
  if (end_before == 0) return 0;
  if (known_at(address) != NULL) return 1;
  gap.until = now() + GAP_NS;
  catalog->gaps[catalog->next_gap++ % GAPS] = gap;
  return 1;
}

/* Whether it is known that no module has the address. Where nothing was mapped, a module may be by now. */
static int is_in_gap(uint64_t address) {
  uint64_t time = now();
  for (uint32_t i = 0; i < GAPS; i++) {
    struct gap *gap = &catalog->gaps[i];
    if (address < gap->low || address >= gap->high || time >= gap->until) continue;
    uint8_t byte;
    int fd = gap->is_mapped ? -1 : open_file("/proc/self/mem", O_RDONLY);
    if (fd < 0) return 1;
    int is_mapped = read_own(fd, address, &byte, 1);
    close_file(fd);
    if (!is_mapped) return 1;
    gap->until = 0;
  }
  return 0;
}

/* Returns whether there is memory for the catalog. What it had before a dlclose may be gone. */
static int open_catalog(void) {
  if (catalog == NULL && (catalog = map_private(sizeof *catalog)) == NULL) return 0;
  uint32_t current = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
  if (catalog->generation != current) {
    catalog->count = catalog->next = 0;
    memset(catalog->gaps, 0, sizeof catalog->gaps);
    catalog->generation = current;
  }
  return 1;
}

static int find_by_maps(uint64_t address, struct object *found) {
  if (!open_catalog()) return NO_LIST;
  const struct known *known = known_at(address);
  if (known == NULL) {
    if (is_in_gap(address)) return NO_OBJECT;
    if (!read_objects(address)) return NO_LIST;
    known = known_at(address);
  }
  if (known == NULL) return NO_OBJECT;
  *found = known->object;
  return OBJECT;
}

/* ---- both ---- */

/* The module with an address. The lock is held. */
static int find_object(uint64_t address, struct object *found) {
  if (!has_find_object()) return find_by_maps(address, found);
  struct found_object glibc;
  if (find_by_glibc((void *)address, &glibc) != 0) return NO_OBJECT;
  *found = (struct object){ (uint64_t)glibc.start, (uint64_t)glibc.end, glibc.module->l_addr, glibc.frames,
                            glibc.module->l_ld, glibc.module };
  return OBJECT;
}

/* The same, where the lock is not held. */
static int object_at(uint64_t address, struct object *found) {
  if (has_find_object()) return find_object(address, found);
  lock();
  int result = find_object(address, found);
  unlock();
  return result;
}

/* Finds a module by the beginning of the last part of its path, in the list of mappings. The lock is held. */
static int find_called(const char *beginning, struct object *found) {
  if (!open_catalog() || !read_objects((uint64_t)(uintptr_t)&catalog)) return 0;
  size_t n = strlen(beginning);
  for (uint32_t i = 0; i < catalog->count; i++) {
    const char *name = strrchr(catalog->list[i].path, '/');
    if (name == NULL || strnlen(name + 1, n) < n || memcmp(name + 1, beginning, n) != 0) continue;
    *found = catalog->list[i].object;
    return 1;
  }
  return 0;
}

/* The path of the program, which cannot be read after chroot. */
static char program_path[MAX_PATH];
static size_t program_length;

static size_t read_program_path(char *path) {
  if (program_length == 0) {
    ssize_t n = readlink("/proc/self/exe", program_path, MAX_PATH);
    program_length = n > 0 ? (size_t)n : 0;
  }
  memcpy(path, program_path, program_length);
  return program_length;
}

/*
 * Copies the path of a module, which has MAX_PATH bytes at most. Returns its length. A relative path depends on the
 * folder in which the module was loaded: the list of mappings has the whole one.
 */
static size_t path_of(const struct object *object, char *path) {
  size_t length = object->module == NULL ? 0 : strnlen(object->module->l_name, MAX_PATH);
  if (object->module != NULL && length == 0) return read_program_path(path);
  if (length > 0) memcpy(path, object->module->l_name, length);
  if (length > 0 && path[0] == '/') return length;
  lock();
  int is_open = open_catalog();
  const struct known *known = is_open ? known_at(object->start) : NULL;
  if (is_open && known == NULL && read_objects(object->start)) known = known_at(object->start);
  if (known != NULL && known->object.start == object->start) {
    length = strlen(known->path);
    memcpy(path, known->path, length);
  }
  unlock();
  return length;
}

/* ---- functions of modules ---- */

static inline uintptr_t in_memory(const struct object *object, uintptr_t value) {
  return value < object->base ? value + object->base : value;
}

/* Called for each definition of a symbol, of which there is one for each version. Returns 1 for no more of them. */
typedef int found_symbol(void *to, const struct object *object, const Elf64_Sym *symbol);

/* The symbols of a loaded module, by its hash table (GNU): dlsym would allocate. */
static void find_symbols(const struct object *object, const char *name, found_symbol *found, void *to) {
  const Elf64_Sym *symbols = NULL;
  const char *names = NULL;
  const uint32_t *table = NULL;
  if (object->dynamic == NULL) return;
  for (const Elf64_Dyn *d = object->dynamic; d->d_tag != DT_NULL; d++) {
    if (d->d_tag == DT_SYMTAB) symbols = (const Elf64_Sym *)in_memory(object, d->d_un.d_ptr);
    else if (d->d_tag == DT_STRTAB) names = (const char *)in_memory(object, d->d_un.d_ptr);
    else if (d->d_tag == DT_GNU_HASH) table = (const uint32_t *)in_memory(object, d->d_un.d_ptr);
  }
  if (symbols == NULL || names == NULL || table == NULL || table[0] == 0) return;
  uint32_t hash = 5381;
  for (const char *c = name; *c != 0; c++) hash = hash * 33 + (unsigned char)*c;
  const uint32_t *buckets = table + 4 + (size_t)table[2] * 2;
  const uint32_t *chain = buckets + table[0];
  for (uint32_t i = buckets[hash % table[0]]; i >= table[1] && i != 0; i++) {
    uint32_t link = chain[i - table[1]];
    if ((link | 1) == (hash | 1) && symbols[i].st_shndx != SHN_UNDEF &&
        strcmp(names + symbols[i].st_name, name) == 0 && found(to, object, &symbols[i]))
      return;
    if (link & 1) return;
  }
}

static int take_function(void *to, const struct object *object, const Elf64_Sym *symbol) {
  *(void **)to = (void *)(object->base + symbol->st_value);
  return 1;
}

static void *function_of(const struct object *object, const char *name) {
  void *function = NULL;
  find_symbols(object, name, take_function, &function);
  return function;
}

#endif

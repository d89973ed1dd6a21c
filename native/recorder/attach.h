/*
 * Recording of a process that runs already. The reader loads the library into it, without its dynamic linker, and
 * replaces the addresses of libc's functions in all modules by those of the library. All threads are stopped meanwhile,
 * and no code of the program runs: its heap stays as it is, and its locks do not matter.
 */
#ifndef HEAPFLOW_RECORDER_ATTACH_H
#define HEAPFLOW_RECORDER_ATTACH_H

#include <sys/mman.h>
#include <sys/stat.h>
#include "injected.h"
#include "modules.h"
#include "shared.h"

/* Where memory of the library is put if it is free there. */
#define ATTACH_AT 0x210000000000ull
#define ATTACH_STEP 0x40000000ull
#define PAGE 4096ull
#define MAX_LIBRARY ((size_t)8 << 20)

static const char *const hook_names[HOOKS] = { HOOK_NAMES };

/* The file of the library. */
struct library {
  uint8_t *bytes;
  size_t size;
  const Elf64_Ehdr *head;
  const Elf64_Phdr *parts;
  const Elf64_Sym *symbols;
  const char *names;
  size_t symbol_count;
  /* Of its memory: how long it is, and where what can be written is. */
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

/* ---- what is in the way ---- */

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
  if (file.head.e_machine != EM_X86_64)
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

/* ---- a library that is there already ---- */

static void undo(const struct tracee *t, const struct images *images, const struct injected *in) {
  for (int i = 0; i < HOOKS; i++) redirect(t, images, hook_names[i], in->hooks[i], in->originals[i]);
  replace_words(t, images, in->hooks, in->originals, HOOKS);
}

/* Whether no thread is in the code of the library, or has to come back to it. */
static int is_quiet(const struct tracee *t, uint64_t base, uint64_t span, const struct injected *in) {
  if (in->inside != 0) return 0;
  for (size_t i = 0; i < t->count; i++) {
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, t->threads[i], NULL, &regs) < 0 || (regs.rip >= base && regs.rip < base + span)) return 0;
  }
  for (uint32_t i = 0; i < SLOTS; i++) {
    int busy;
    if (!read_memory(t, in->threads + (uint64_t)i * in->thread_bytes + in->busy_at, &busy, sizeof busy) || busy) return 0;
  }
  return 1;
}

/*
 * Looks for the library in the process. Returns 0 if it is in use. What an earlier reader that was killed has left
 * there is undone; `base` is where a library can be used again.
 */
static int find_earlier(const struct tracee *t, const struct images *images, const struct library *l, uint64_t *base,
                        struct injected *earlier) {
  char line[1024];
  FILE *maps = open_maps(t->worker);
  int is_free = 1;
  *base = 0;
  for (size_t i = 0; i < images->count; i++) {
    if (function_in(t, &images->list[i], INJECTED_NAME) == 0) continue;
    if (maps != NULL) fclose(maps);
    return fail("process %d was started with the recorder, so it is recorded already", t->pid);
  }
  while (maps != NULL && is_free && fgets(line, sizeof line, maps) != NULL) {
    struct mapping m;
    if (!parse_mapping(line, &m) || m.offset != 0) continue;
    if (!is_library(m.path)) continue;
    struct injected in;
    struct control control;
    if (!read_memory(t, m.low + l->injected_at, &in, sizeof in) || in.magic != INJECTED_MAGIC) continue;
    int is_known = in.state != OFF && read_memory(t, in.control, &control, sizeof control) && !control.closed;
    if (is_known && (kill((pid_t)control.reader, 0) == 0 || errno == EPERM)) {
      fail("process %d is recorded already, by process %u", t->pid, control.reader);
      is_free = 0;
      continue;
    }
    undo(t, images, &in);
    in.state = OFF;
    write_memory(t, m.low + l->injected_at, &in, sizeof in);
    /* The same code, which nothing is executing. */
    uint8_t *code = allocate(NULL, l->data_at);
    int is_same = read_memory(t, m.low, code, l->data_at);
    for (unsigned i = 0; is_same && i < l->head->e_phnum; i++) {
      const Elf64_Phdr *part = &l->parts[i];
      if (part->p_type == PT_LOAD && !(part->p_flags & PF_W))
        is_same = part->p_vaddr + part->p_filesz <= l->data_at &&
                  memcmp(code + part->p_vaddr, l->bytes + part->p_offset, part->p_filesz) == 0;
    }
    free(code);
    if (!is_same || *base != 0 || !is_quiet(t, m.low, l->span, &in)) continue;
    *base = m.low;
    *earlier = in;
  }
  if (maps != NULL) fclose(maps);
  return is_free;
}

/* ---- loading ---- */

static uint64_t attach_at;
/* What was mapped, which is given back if something fails later. */
static struct { uint64_t at, size; } mapped[8];
static size_t mapped_count;

/* Maps memory in the process. Returns 0 if that fails. */
static uint64_t map_there(struct tracee *t, uint64_t size, int rights, int flags, int64_t fd, uint64_t offset) {
  int64_t result = -EEXIST;
  for (int tries = 0; tries < 64 && result == -EEXIST; tries++) {
    result = call(t, SYS_mmap, attach_at, size, (uint64_t)rights, (uint64_t)(flags | MAP_FIXED_NOREPLACE), (uint64_t)fd,
                  offset);
    attach_at += (size + ATTACH_STEP - 1) & ~(ATTACH_STEP - 1);
  }
  if (result >= 0) {
    mapped[mapped_count].at = (uint64_t)result;
    mapped[mapped_count++].size = size;
    return (uint64_t)result;
  }
  return (uint64_t)fail("process %d gets no memory for the recorder: %s", t->pid, strerror((int)-result));
}

/* Makes a memory file in the process, and opens it here. */
static int make_there(struct tracee *t, uint64_t name_at, const char *name, int64_t *there) {
  char path[64];
  if (!write_memory(t, name_at, name, strlen(name) + 1)) return -1;
  *there = call(t, SYS_memfd_create, name_at, MFD_CLOEXEC, 0, 0, 0, 0);
  if (*there < 0) {
    fail("process %d cannot make a file in memory: %s", t->pid, strerror((int)-*there));
    return -1;
  }
  snprintf(path, sizeof path, "/proc/%d/fd/%d", t->worker, (int)*there);
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) fail("the memory of process %d cannot be shared: %s", t->pid, strerror(errno));
  return fd;
}

static void close_there(struct tracee *t, int64_t fd) {
  if (fd >= 0) call(t, SYS_close, (uint64_t)fd, 0, 0, 0, 0, 0);
}

/* An instruction for system calls, in the code of a module. */
static int find_instruction(struct tracee *t, const struct images *images) {
  static uint8_t code[1 << 16];
  for (size_t n = 0; n < images->count; n++) {
    const struct image *image = &images->list[n];
    if (!is_called(image, "libc")) continue;
    for (uint32_t p = 0; p < image->count; p++) {
      const Elf64_Phdr *part = &image->parts[p];
      if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
      for (uint64_t at = 0; at + sizeof code <= part->p_memsz; at += sizeof code - 1) {
        uint64_t from = image->base + part->p_vaddr + at;
        if (!read_memory(t, from, code, sizeof code)) continue;
        const uint8_t *found = memmem(code, sizeof code, "\x0f\x05", 2);
        if (found == NULL) continue;
        t->instruction = from + (uint64_t)(found - code);
        return 1;
      }
    }
  }
  return fail("process %d has no instruction for system calls", t->pid);
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
      if (type == R_X86_64_RELATIVE) value = base + (uint64_t)r->r_addend;
      else if (type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT || type == R_X86_64_64) {
        value = symbol->st_shndx != SHN_UNDEF ? base + symbol->st_value : function_for(t, images, name);
        if (value == 0 && ELF64_ST_BIND(symbol->st_info) != STB_WEAK)
          return fail("process %d has a C library that is too old for the recorder: it has no %s", t->pid, name);
        if (type == R_X86_64_64) value += (uint64_t)r->r_addend;
      } else return fail("the recorder's library has a reference of unknown type");
      memcpy(data + (r->r_offset - l->data_at), &value, sizeof value);
    }
  }
  return 1;
}

/* Maps the library. Returns where it is; 0 if that fails. */
static uint64_t map_library(struct tracee *t, const struct library *l, uint64_t name_at) {
  int64_t there = -1;
  uint64_t base = 0;
  int fd = make_there(t, name_at, LIBRARY_NAME, &there);
  if (fd < 0) goto end;
  if (write(fd, l->bytes, l->size) != (ssize_t)l->size) {
    fail("there is no memory for the recorder's library: %s", strerror(errno));
    goto end;
  }
  base = map_there(t, l->span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  for (unsigned i = 0; base != 0 && i < l->head->e_phnum; i++) {
    const Elf64_Phdr *part = &l->parts[i];
    if (part->p_type != PT_LOAD) continue;
    uint64_t from = part->p_vaddr & ~(PAGE - 1), size = part->p_vaddr + part->p_memsz - from;
    int rights = PROT_READ | (part->p_flags & PF_X ? PROT_EXEC : 0), flags = MAP_PRIVATE | MAP_FIXED;
    uint64_t offset = part->p_offset & ~(PAGE - 1);
    int is_data = (part->p_flags & PF_W) != 0;
    int64_t result = call(t, SYS_mmap, base + from, size, (uint64_t)(is_data ? PROT_READ | PROT_WRITE : rights),
                          (uint64_t)(is_data ? flags | MAP_ANONYMOUS : flags), (uint64_t)(is_data ? -1 : there),
                          is_data ? 0 : offset);
    if (result >= 0) continue;
    fail("process %d must not execute the recorder's code: %s", t->pid, strerror((int)-result));
    base = 0;
  }
end:
  if (fd >= 0) close(fd);
  close_there(t, there);
  return base;
}

/* What is mapped for a recording: the memory file is shared with the reader, `file` here. */
static int map_memory(struct tracee *t, struct injected *in, const struct injected *earlier, int *file) {
  int64_t there = -1;
  int is_whole = 0;
  const int own = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, both = PROT_READ | PROT_WRITE;
  *file = make_there(t, in->alive, "heapflow", &there);
  if (*file < 0) goto end;
  if (ftruncate(*file, (off_t)(CONTROL_BYTES + REGIONS * REGION_BYTES)) < 0) {
    fail("no shared memory for the recording: %s", strerror(errno));
    goto end;
  }
  if (earlier->control != 0) {
    /* Nothing uses what an earlier recording had. */
    call(t, SYS_munmap, earlier->control, CONTROL_BYTES, 0, 0, 0, 0);
    call(t, SYS_munmap, earlier->region, REGION_BYTES, 0, 0, 0, 0);
    call(t, SYS_munmap, earlier->threads, (uint64_t)in->thread_bytes * SLOTS, 0, 0, 0, 0);
    call(t, SYS_munmap, earlier->alive, PAGE, 0, 0, 0, 0);
  }
  in->control = map_there(t, CONTROL_BYTES, both, MAP_SHARED, there, 0);
  in->region = in->control == 0 ? 0 : map_there(t, REGION_BYTES, both, MAP_SHARED | MAP_NORESERVE, there, CONTROL_BYTES);
  in->threads = in->region == 0 ? 0 : map_there(t, (uint64_t)in->thread_bytes * SLOTS, both, own, -1, 0);
  if (in->threads == 0) goto end;
  is_whole = call(t, SYS_madvise, in->alive, PAGE, MADV_WIPEONFORK, 0, 0, 0) == 0 &&
             call(t, SYS_madvise, in->region, REGION_BYTES, MADV_DONTFORK, 0, 0, 0) == 0;
  if (!is_whole) fail("this system is too old for the recorder: it takes Linux 4.14");
end:
  close_there(t, there);
  return is_whole;
}

/* ---- from outside ---- */

static void note_process(const struct tracee *t, struct region *region) {
  char text[1024];
  ssize_t n = read_of(t->pid, "cmdline", region->command, MAX_COMMAND);
  region->command_length = n > 0 ? (uint32_t)n : 0;
  region->pid = (uint32_t)t->pid;
  long long parent = status_number(t->pid, "PPid", 10);
  region->parent = parent > 0 ? (uint32_t)parent : 0;
  region->has_inherited = region->is_attached = 1;
  const char *p = read_of(t->pid, "stat", text, sizeof text) > 0 ? strrchr(text, ')') : NULL;
  for (int i = 0; p != NULL && i < 20; i++) p = strchr(p + 1, ' ');
  region->started = p != NULL ? strtoull(p, NULL, 10) : 0;
  struct timespec up;
  clock_gettime(CLOCK_BOOTTIME, &up);
  uint64_t now_ms = (uint64_t)up.tv_sec * 1000 + (uint64_t)up.tv_nsec / 1000000;
  uint64_t started_ms = region->started * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
  region->age = now_ms > started_ms ? now_ms - started_ms : 0;
}

/*
 * Loads the library, and begins to record. Stores the descriptor of the memory file, and fills in the control page by
 * `set`. Returns 0 if it fails, with a sentence in `failure`; the process is then what it was.
 */
typedef void set_control(struct control *control);

static int begin_there(struct tracee *t, const struct images *images, const struct library *l, int *file,
                       set_control *set) {
  struct injected in, earlier = { .magic = 0 };
  uint64_t base;
  memcpy(&in, in_file(l, l->injected_at), sizeof in);
  /* What was left there is undone before addresses are looked up. */
  if (!find_earlier(t, images, l, &base, &earlier) || !find_originals(t, images, &in)) return 0;
  if (!find_instruction(t, images) || !begin_calls(t)) return failure[0] != 0 ? 0 : fail("process %d has ended", t->pid);
  uint8_t *data = allocate(NULL, l->data_bytes);
  int is_done = 0;
  attach_at = ATTACH_AT;
  mapped_count = 0;
  in.alive = map_there(t, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (in.alive == 0) goto end;
  if (base == 0 && (base = map_library(t, l, in.alive)) == 0) goto end;
  if (!map_memory(t, &in, &earlier, file)) goto end;

  memset(data, 0, l->data_bytes);
  for (unsigned i = 0; i < l->head->e_phnum; i++)
    if (l->parts[i].p_type == PT_LOAD && (l->parts[i].p_flags & PF_W))
      memcpy(data + (l->parts[i].p_vaddr - l->data_at), l->bytes + l->parts[i].p_offset, l->parts[i].p_filesz);
  if (!relocate(t, images, l, base, data)) goto end;
  in.is_injected = 1;
  in.pid = (uint32_t)t->pid;
  in.key = earlier.key;
  in.has_key = earlier.has_key;
  in.far_at = attach_at;
  for (size_t k = 0; k < HOOKS; k++)
    for (size_t i = 0; i < l->symbol_count; i++)
      if (strcmp(l->names + l->symbols[i].st_name, hook_names[k]) == 0) in.hooks[k] = base + l->symbols[i].st_value;
  snprintf(in.path, sizeof in.path, "/proc/%d/fd/%d", getpid(), *file);
  memcpy(data + (l->injected_at - l->data_at), &in, sizeof in);
  static uint32_t first_page[PAGE / 4] = { 1 };
  if (!write_memory(t, base + l->data_at, data, l->data_bytes) || !write_memory(t, in.alive, first_page, sizeof first_page)) {
    fail("the memory of process %d cannot be written: %s", t->pid, strerror(errno));
    goto end;
  }
  struct control *control = mmap(NULL, CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
  struct region *region = mmap(NULL, HEAD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, *file, CONTROL_BYTES);
  if (control == MAP_FAILED || region == MAP_FAILED) {
    fail("no shared memory for the recording: %s", strerror(errno));
    goto end;
  }
  control->pid = (uint32_t)t->pid;
  control->owners[0] = (uint32_t)t->pid;
  set(control);
  note_process(t, region);
  region->begun = ++control->begun;
  __atomic_store_n(&region->ready, 1, __ATOMIC_SEQ_CST);
  munmap(region, HEAD_BYTES);
  munmap(control, CONTROL_BYTES);
  for (int i = 0; i < HOOKS; i++) redirect(t, images, hook_names[i], in.originals[i], in.hooks[i]);
  replace_words(t, images, in.originals, in.hooks, HOOKS);
  is_done = 1;
end:
  for (size_t i = 0; !is_done && i < mapped_count; i++) call(t, SYS_munmap, mapped[i].at, mapped[i].size, 0, 0, 0, 0);
  end_calls(t);
  free(data);
  return is_done;
}

static int attach(pid_t pid, const char *path, int *file, set_control *set) {
  struct tracee t;
  struct library library;
  *file = -1;
  if (!can_attach(pid) || !read_library(&library, path) || !stop_all(&t, pid)) return 0;
  struct images images = { NULL, 0 };
  int is_done = 0;
  if (is_suitable(&t)) {
    images = images_of(&t);
    is_done = begin_there(&t, &images, &library, file, set);
  }
  let_go(&t);
  free(images.list);
  free(library.bytes);
  return is_done;
}

/* Undoes in a process what attach has done, also in one that was forked since. The code of the library stays. */
static void detach(pid_t pid, const char *path) {
  struct tracee t;
  struct library library;
  uint64_t base;
  struct injected earlier;
  if (!read_library(&library, path) || !stop_all(&t, pid)) return;
  struct images images = images_of(&t);
  find_earlier(&t, &images, &library, &base, &earlier);
  let_go(&t);
  free(images.list);
  free(library.bytes);
}

#endif

/*
 * Recording of a process that runs already. The reader loads the library into it, without its dynamic linker, and
 * replaces the addresses of libc's functions in all modules by those of the library. All threads are stopped meanwhile,
 * and no code of the program runs: its heap stays as it is, and its locks do not matter.
 */
#ifndef HEAPFLOW_RECORDER_ATTACH_H
#define HEAPFLOW_RECORDER_ATTACH_H

#include <time.h>
#include "earlier.h"
#include "loading.h"

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
  struct region *region = mmap(NULL, head_bytes(slot_count), PROT_READ | PROT_WRITE, MAP_SHARED, *file, CONTROL_BYTES);
  if (control == MAP_FAILED || region == MAP_FAILED) {
    fail("no shared memory for the recording: %s", strerror(errno));
    goto end;
  }
  control->pid = (uint32_t)t->pid;
  control->owners[0] = (uint32_t)t->pid;
  set(control);
  note_process(t, region);
  region->room = in.most_slots;
  region->begun = ++control->begun;
  __atomic_store_n(&region->ready, 1, __ATOMIC_SEQ_CST);
  munmap(region, head_bytes(slot_count));
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

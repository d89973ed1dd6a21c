/*
 * A library of the recorder that is in a process already: one that is in use, or what an earlier reader that was
 * killed has left there.
 */
#ifndef HEAPFLOW_RECORDER_EARLIER_H
#define HEAPFLOW_RECORDER_EARLIER_H

#include "library.h"
#include "obstacles.h"
#include "shared.h"

static void undo(const struct tracee *t, const struct images *images, const struct injected *in) {
  for (int i = 0; i < HOOKS; i++) redirect(t, images, hook_names[i], in->hooks[i], in->originals[i]);
  replace_words(t, images, in->hooks, in->originals, HOOKS);
}

/* Whether no thread is in the code of the library, or has to come back to it. */
static int is_quiet(const struct tracee *t, uint64_t base, uint64_t span, const struct injected *in) {
  if (in->inside != 0) return 0;
  for (size_t i = 0; i < t->count; i++) {
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, t->threads[i], NULL, &regs) < 0) return 0;
    if (position_of(&regs) >= base && position_of(&regs) < base + span) return 0;
  }
  for (uint64_t at = in->busy_at; at < in->threads_bytes; at += in->thread_bytes) {
    int busy;
    if (!read_memory(t, in->threads + at, &busy, sizeof busy) || busy) return 0;
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

#endif

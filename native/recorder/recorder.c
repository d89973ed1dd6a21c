/*
 * A library to preload that records the calls of the allocator. It never allocates from the heap that it records: its
 * own memory is mapped, far from the places where the system puts the program's. Each thread writes to a ring of its
 * own in a memory file, which the reader (reader.c) drains, so that whatever ends the program, no completed event is
 * lost. x86-64 and arm64, glibc 2.17 or later.
 */
#define _GNU_SOURCE
#include <gnu/libc-version.h>
#include "stacks.h"
#include "threads.h"
#include "usable.h"

/*
 * Numbers an event and hands it over. Its number is taken when there is room for it, so that the reader never waits for
 * a number whose thread waits for the reader.
 */
static inline void hand_over(struct thread *t, uint64_t head, void *address, uint64_t words) {
  put(t, t->head, head | words << 8);
  put(t, t->head + 3, (uint64_t)address);
  put(t, t->head + 1, __atomic_add_fetch(&region->sequence, 1, __ATOMIC_SEQ_CST));
  put(t, t->head + 2, event_time());
  commit(t, words);
}

/* An event without a stack. A block is freed after this, and allocated before: so the order is true for an address. */
static inline void send(struct thread *t, uint64_t kind, void *address) {
  if (likely(reserve(t, EVENT_WORDS))) hand_over(t, kind, address, EVENT_WORDS);
}

/* What a record says of its stack: in the first word, and how many words it has for it. */
struct stack_words {
  uint64_t head, mark, fresh;
};

static inline struct stack_words walk_words(struct thread *t, const uint64_t *own) {
  int was_short = t->is_short;
  uint64_t same = walk_from(t, own), mark = 0;
  uint64_t fresh = t->depth - same;
  /* The frame of 0 is the outermost one. */
  if (t->is_short && was_short && same > 0) same++;
  else mark = (uint64_t)t->is_short;
  return (struct stack_words){ same << 24 | (mark + fresh) << 40, mark, fresh };
}

static inline void put_stack(struct thread *t, uint64_t at, const struct stack_words *stack) {
  if (stack->mark) put(t, at++, 0);
  for (uint32_t i = t->depth - (uint32_t)stack->fresh; i < t->depth; i++) put(t, at++, t->frames[i].pc);
}

/* There was no room for a stack: the next one begins from nothing. */
static void forget_stack(struct thread *t) {
  t->depth = 0;
  t->is_short = 0;
}

/* own: the frame of the called function. */
static inline void send_block(struct thread *t, uint64_t kind, void *address, uint64_t size, uint64_t value,
                              const uint64_t *own) {
  struct stack_words stack = { 0, 0, 0 };
  if (max_depth > 0) stack = walk_words(t, own);
  uint64_t words = ALLOC_WORDS + stack.mark + stack.fresh;
  if (unlikely(!reserve(t, words))) {
    forget_stack(t);
    return;
  }
  put(t, t->head + 4, size);
  put(t, t->head + 5, usable_size(address));
  put(t, t->head + 6, value);
  put_stack(t, t->head + ALLOC_WORDS, &stack);
  hand_over(t, kind | stack.head, address, words);
}

/* The end of a block: R_FREE, or R_OLD, which has no stack, for its realloc has one. */
static inline void send_end(struct thread *t, uint64_t kind, void *address, const uint64_t *own) {
  struct stack_words stack = { 0, 0, 0 };
  if (unlikely(has_free_stacks) && kind == R_FREE) stack = walk_words(t, own);
  uint64_t words = EVENT_WORDS + (uint64_t)has_inherited + stack.mark + stack.fresh;
  if (unlikely(!reserve(t, words))) {
    if (has_free_stacks) forget_stack(t);
    return;
  }
  if (unlikely(has_inherited)) put(t, t->head + EVENT_WORDS, usable_size(address));
  put_stack(t, t->head + EVENT_WORDS + (uint64_t)has_inherited, &stack);
  hand_over(t, kind | stack.head, address, words);
}

#define RECORD(kind, call, size, value)                         \
  do {                                                          \
    struct thread *t = enter();                                 \
    if (unlikely(t == NULL)) return call;                       \
    void *block = call;                                         \
    if (likely(block != NULL)) send_block(t, kind, block, size, value, OWN); \
    leave(t);                                                   \
    return block;                                               \
  } while (0)

ENTRY(void *, malloc)(size_t size) { RECORD(R_MALLOC, __libc_malloc(size), size, 0); }
ENTRY(void *, calloc)(size_t count, size_t size) { RECORD(R_CALLOC, __libc_calloc(count, size), count * size, count); }
ENTRY(void *, memalign)(size_t alignment, size_t size) {
  RECORD(R_ALIGNED, __libc_memalign(alignment, size), size, alignment);
}

/* The version of glibc here, after "2.". */
static int glibc_version(void) {
  static int version;
  if (version != 0) return version;
  int minor = 0;
  for (const char *p = gnu_get_libc_version() + 2; *p >= '0' && *p <= '9'; p++) minor = minor * 10 + (*p - '0');
  return version = minor;
}

ENTRY(void *, aligned_alloc)(size_t alignment, size_t size) {
  if ((alignment == 0 || (alignment & (alignment - 1)) != 0) && glibc_version() >= 38) {
    errno = EINVAL;
    return NULL;
  }
  RECORD(R_ALIGNED, __libc_memalign(alignment, size), size, alignment);
}
ENTRY(void *, valloc)(size_t size) { RECORD(R_ALIGNED, __libc_valloc(size), size, (uint64_t)getpagesize()); }
ENTRY(void *, pvalloc)(size_t size) { RECORD(R_ALIGNED, __libc_pvalloc(size), size, (uint64_t)getpagesize()); }

static inline void *aligned(size_t alignment, size_t size, const uint64_t *own) {
  struct thread *t = enter();
  void *block = __libc_memalign(alignment, size);
  if (t == NULL) return block;
  if (block != NULL) send_block(t, R_ALIGNED, block, size, alignment, own);
  leave(t);
  return block;
}

ENTRY(int, posix_memalign)(void **target, size_t alignment, size_t size) {
  if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
  int error = errno;
  void *block = aligned(alignment, size, OWN);
  errno = error;
  if (block == NULL) return ENOMEM;
  *target = block;
  return 0;
}

static inline void *resize(void *old, size_t size, const uint64_t *own) {
  struct thread *t = enter();
  if (unlikely(t == NULL)) return __libc_realloc(old, size);
  if (old != NULL) send_end(t, R_OLD, old, own);
  void *block = __libc_realloc(old, size);
  if (likely(block != NULL)) send_block(t, R_REALLOC, block, size, (uint64_t)old, own);
  else if (old != NULL) send(t, size == 0 ? R_RELEASED : R_KEPT, old);
  leave(t);
  return block;
}

/* Older headers do not have it. */
extern EXPORT void *reallocarray(void *old, size_t count, size_t size);

ENTRY(void *, realloc)(void *old, size_t size) { return resize(old, size, OWN); }
ENTRY(void *, reallocarray)(void *old, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return NULL;
  }
  return resize(old, bytes, OWN);
}

static inline void release(void *block, const uint64_t *own) {
  if (block == NULL) return;
  struct thread *t = enter();
  if (likely(t != NULL)) send_end(t, R_FREE, block, own);
  __libc_free(block);
  if (likely(t != NULL)) leave(t);
}

/* Not all headers have them: one is older than glibc 2.26, and two are C23, which glibc has since 2.43. */
extern EXPORT void cfree(void *block);
extern EXPORT void free_sized(void *block, size_t size);
extern EXPORT void free_aligned_sized(void *block, size_t alignment, size_t size);

ENTRY(void, free)(void *block) { release(block, OWN); }
ENTRY(void, cfree)(void *block) { release(block, OWN); }
ENTRY(void, free_sized)(void *block, size_t size) {
  (void)size;
  release(block, OWN);
}
ENTRY(void, free_aligned_sized)(void *block, size_t alignment, size_t size) {
  (void)alignment;
  (void)size;
  release(block, OWN);
}

EXPORT size_t malloc_usable_size(void *block) { return block == NULL ? 0 : usable_size(block); }

typedef int close_function(void *handle);
struct next_dlclose {
  int is_after;
  close_function *found;
};

/* Finds the function in the first module that has it after this library. */
static int find_next_dlclose(struct dl_phdr_info *info, size_t size, void *to) {
  struct next_dlclose *next = to;
  struct object object = { .base = info->dlpi_addr };
  uint64_t own = (uint64_t)(uintptr_t)&injected;
  int is_own = 0;
  (void)size;
  for (unsigned i = 0; i < info->dlpi_phnum; i++) {
    const Elf64_Phdr *part = &info->dlpi_phdr[i];
    uint64_t at = object.base + part->p_vaddr;
    if (part->p_type == PT_LOAD && own >= at && own - at < part->p_memsz) is_own = 1;
    else if (part->p_type == PT_DYNAMIC) object.dynamic = (const Elf64_Dyn *)at;
  }
  if (next->is_after) next->found = (close_function *)function_of(&object, "dlclose");
  if (is_own) next->is_after = 1;
  return next->found != NULL;
}

/* What was remembered of the code of an unloaded module must not be used for other code in its place. */
EXPORT int dlclose(void *handle) {
  static close_function *next;
  if (next == NULL && injected.is_injected) next = (close_function *)(uintptr_t)injected.originals[HOOK_DLCLOSE];
  if (next == NULL) {
    /* dlsym is in a library before glibc 2.34, which this one does not need. */
    struct next_dlclose search = { 0, NULL };
    dl_iterate_phdr(find_next_dlclose, &search);
    next = search.found;
    /* That of libc, whose table names this library's: see redirect.h. */
    if ((uint64_t)(uintptr_t)next == injected.hooks[HOOK_DLCLOSE])
      next = (close_function *)(uintptr_t)injected.originals[HOOK_DLCLOSE];
  }
  if (next == NULL) return -1;
  int result = next(handle);
  __atomic_add_fetch(&generation, 1, __ATOMIC_SEQ_CST);
  struct thread *t = enter();
  if (t != NULL) {
    report_unloaded(t);
    leave(t);
  }
  return result;
}

#define ADDRESS(function) ((uint64_t)(uintptr_t)(function))

static struct injected injected = {
  .magic = INJECTED_MAGIC,
  .thread_bytes = sizeof(struct thread),
  .busy_at = offsetof(struct thread, busy),
  /* In the order of HOOK_NAMES. */
  .hooks = { ADDRESS(malloc), ADDRESS(calloc), ADDRESS(realloc), ADDRESS(free), ADDRESS(memalign),
             ADDRESS(aligned_alloc), ADDRESS(posix_memalign), ADDRESS(valloc), ADDRESS(pvalloc),
             ADDRESS(reallocarray), ADDRESS(dlclose), ADDRESS(cfree), ADDRESS(free_sized),
             ADDRESS(free_aligned_sized) },
};
extern EXPORT struct injected heapflow_injected __attribute__((alias("injected")));

import { expect } from 'vitest'
import type { TraceEvent } from '../../../lib/event/trace-event.js'

/** The includes of a program, of which each uses some. */
export const HEADERS = [
  'fcntl',
  'malloc',
  'pthread',
  'signal',
  'stdint',
  'stdio',
  'stdlib',
  'string',
  'unistd',
  'sys/mman',
  'sys/resource',
  'spawn',
  'sys/wait',
]
  .map((name) => `#include <${name}.h>\n`)
  .join('')

/** Counts successful calls by kind, and sums up the addresses of blocks, without the recorder. */
export const COUNTER = `
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);
static uint64_t n[5], sum;
static void *count(int kind, void *p) {
  if (p) n[kind]++;
  /* Mapped blocks are where libraries let them be. */
  if (p && (uint64_t)p >> 40 < 0x60) sum = sum * 31 + (uint64_t)p;
  return p;
}
void *malloc(size_t s) { return count(0, __libc_malloc(s)); }
void *calloc(size_t a, size_t b) { return count(1, __libc_calloc(a, b)); }
void *memalign(size_t a, size_t s) { return count(2, __libc_memalign(a, s)); }
void *aligned_alloc(size_t a, size_t s) { return count(2, __libc_memalign(a, s)); }
int posix_memalign(void **p, size_t a, size_t s) { void *q = count(2, __libc_memalign(a, s)); if (!q) return 12; *p = q; return 0; }
void *realloc(void *p, size_t s) { return count(3, __libc_realloc(p, s)); }
void *reallocarray(void *p, size_t a, size_t b) { return count(3, __libc_realloc(p, a * b)); }
void free(void *p) { if (p) n[4]++; __libc_free(p); }
__attribute__((destructor)) static void end(void) {
  char text[200];
  int length = snprintf(text, sizeof text, "%lu %lu %lu %lu %lu %lu", n[0], n[1], n[2], n[3], n[4], sum);
  int fd = open(getenv("COUNTS"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (write(fd, text, length) < 0) abort();
  close(fd);
}`

/** Programs whose calls are known. */
export const PROGRAMS = {
  /** Notes when each of its blocks is allocated, by the clock of the system. */
  clocked: `#include <time.h>
static uint64_t now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000ull + t.tv_nsec; }
int main(void) {
  static uint64_t times[300][2];
  for (int i = 0; i < 300; i++) {
    times[i][0] = now();
    void *volatile p = malloc(7000 + i);
    times[i][1] = now();
    struct timespec pause = { 0, i % 30 == 0 ? 20000000 : 300000 };
    nanosleep(&pause, NULL);
  }
  int fd = open("times", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  return write(fd, times, sizeof times) != sizeof times;
}`,
  every: `int main(void) {
    void *p[200] = { 0 };
    uint32_t x = 1;
    for (int i = 0; i < 20000; i++) {
      x = x * 1664525u + 1013904223u;
      void **q = &p[x >> 8 & 127];
      size_t size = x >> 16 & 4095;
      switch (x >> 28) {
        case 0: case 1: free(*q); *q = calloc(3, size); break;
        case 2: free(*q); if (posix_memalign(q, 64, size)) return 1; break;
        case 3: free(*q); *q = aligned_alloc(32, size); break;
        case 4: free(*q); *q = memalign(128, size); break;
        case 5: case 6: case 7: *q = realloc(*q, size + 1); break;
        case 8: *q = reallocarray(*q, 2, size + 1); break;
        case 9: if (*q) { void *r = realloc(*q, PTRDIFF_MAX); if (r) return 1; } break;
        case 10: free(*q); *q = NULL; break;
        default: free(*q); *q = malloc(x >> 12 & 1023 ? size : 200000); break;
      }
    }
    return 0;
  }`,
  /* Logs each pair of calls when it has completed, until another thread ends the program after some time. */
  ends: `static volatile uint64_t *done;
  static unsigned delay = 4000;
  static int deeper(int n) { volatile char room[4096]; room[0] = n; return deeper(n + 1) + room[0]; }
  static void *end(void *how) {
    usleep(delay);
    switch (*(char *)how) {
      case 'o': return (void *)(intptr_t)deeper(0);
      /* It does not check whether it got memory. */
      case 'm': for (;;) *(volatile char *)malloc(64 << 20) = 1;
      case 'e': exit(5);
      case '_': _exit(6);
      case 'a': abort();
      case 's': *(volatile int *)8 = 1;
      case 't': kill(getpid(), SIGTERM); break;
      default: kill(getpid(), SIGKILL);
    }
    for (;;) pause();
  }
  int main(int n, char **words) {
    int fd = open(words[2], O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (ftruncate(fd, 4096) < 0) return 1;
    done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (n > 3) delay = atoi(words[3]);
    if (*words[1] == 'm') setrlimit(RLIMIT_AS, &(struct rlimit){ 2ull << 30, 2ull << 30 });
    pthread_t t;
    pthread_create(&t, NULL, end, words[1]);
    for (;;) { void *p = malloc(4242); *(volatile char *)p = 1; free(p); done[0]++; }
  }`,
  threads: `static void *volatile shared[64];
  static void *work(void *x) {
    uint32_t r = (uint32_t)(uintptr_t)x * 77777;
    for (int i = 0; i < 4000; i++) {
      r = r * 1664525u + 1013904223u;
      void *p = malloc(32 + (r >> 20 & 63));
      if (r & 4096) p = realloc(p, 64 + (r >> 18 & 511));
      free(__atomic_exchange_n(&shared[r >> 24 & 63], p, __ATOMIC_SEQ_CST));
    }
    return x;
  }
  int main(void) {
    for (int round = 0; round < 3; round++) {
      pthread_t t[8];
      for (uintptr_t i = 0; i < 8; i++) pthread_create(t + i, NULL, work, (void *)(8 * round + i + 1));
      for (int i = 0; i < 8; i++) pthread_join(t[i], NULL);
    }
    return 0;
  }`,
  /* More threads than the recorder has rings for, but not at once. */
  churn: `static void *work(void *x) { for (int i = 0; i < 3; i++) free(malloc(777)); return x; }
  int main(void) {
    pthread_t t[300];
    for (int round = 0; round < 4; round++) {
      for (int i = 0; i < 300; i++) pthread_create(t + i, NULL, work, NULL);
      for (int i = 0; i < 300; i++) pthread_join(t[i], NULL);
    }
    return 0;
  }`,
  /* So many threads at once. */
  crowd: `static pthread_barrier_t gate;
  static void *work(void *x) {
    pthread_barrier_wait(&gate);
    for (int i = 0; i < 5; i++) free(malloc(777));
    pthread_barrier_wait(&gate);
    return x;
  }
  int main(int n, char **words) {
    n = atoi(words[1]);
    pthread_t *t = calloc(n, sizeof *t);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_barrier_init(&gate, NULL, n);
    for (int i = 0; i < n; i++) if (pthread_create(t + i, &small, work, NULL)) return 1;
    for (int i = 0; i < n; i++) pthread_join(t[i], NULL);
    return 0;
  }`,
  /* Keeps the reader, which has started it, from reading for a while. */
  burst: `int main(void) {
    kill(getppid(), SIGSTOP);
    for (int i = 0; i < 20000; i++) free(malloc(777));
    kill(getppid(), SIGCONT);
    return 0;
  }`,
  /*
   * Threads that start late, take turns, free each other's blocks, end and are replaced. They end one by one: what
   * glibc does last for a thread comes after the event of its end, and must not be beside the calls of others.
   */
  late: `static void *blocks[512];
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
  static int turn, turns, leaver;
  static uint32_t x = 1;
  static uint32_t any(void) { return x = x * 1664525u + 1013904223u, x >> 8; }
  static void call(void) {
    void **block = &blocks[any() % 512];
    uint32_t what = any() % 8;
    size_t size = any() % 16 == 0 ? any() % 40000 : any() % 600;
    if (what == 0 && *block != NULL) *block = realloc(*block, size + 1);
    else { free(*block); *block = what == 1 ? calloc(1, size) : what == 2 ? NULL : malloc(size); }
  }
  static void *work(void *own) {
    for (int i = 0; i < 600; i++) {
      pthread_mutex_lock(&lock);
      while (turn != (int)(intptr_t)own) pthread_cond_wait(&moved, &lock);
      for (uint32_t n = any() % 20; n > 0; n--) call();
      turn = (turn + 1) % 4;
      turns++;
      pthread_cond_broadcast(&moved);
      pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    while (leaver != (int)(intptr_t)own) pthread_cond_wait(&moved, &lock);
    pthread_mutex_unlock(&lock);
    return NULL;
  }
  int main(void) {
    for (int i = 0; i < 20000; i++) free(malloc(i % 100));
    for (int life = 0; life < 8; life++) {
      pthread_t t[4];
      turn = turns = 0;
      leaver = -1;
      for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, work, (void *)(intptr_t)i);
      for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&lock);
        /* No thread leaves before all have had their last turns. */
        while (i == 0 && turns < 4 * 600) pthread_cond_wait(&moved, &lock);
        leaver = i;
        pthread_cond_broadcast(&moved);
        pthread_mutex_unlock(&lock);
        pthread_join(t[i], NULL);
      }
    }
    return 0;
  }`,
  /* Its children have no free descriptor. */
  full: `static void *work(void *x) { free(malloc(3333)); return x; }
  int main(void) {
    struct rlimit few = { 3, 3 };
    pthread_t thread;
    free(malloc(1111));
    setrlimit(RLIMIT_NOFILE, &few);
    for (int i = 0; i < 2; i++) if (fork() == 0) { free(malloc(2222)); _exit(0); }
    while (wait(NULL) > 0) { }
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 5;
  }`,
  /* Processes by fork, posix_spawn, vfork and exec, which free what they have from their parents. */
  forks: `extern char **environ;
  static void *work(void *x) { pthread_setname_np(pthread_self(), "worker"); free(malloc(4444)); return x; }
  int main(int n, char **words) {
    void *a = malloc(1111), *b = malloc(1112), *c = malloc(1113);
    if (n > 1) { free(malloc(7777)); free(a); return 0; }
    if (fork() == 0) {
      free(a);
      b = realloc(b, 5000);
      free(malloc(2222));
      if (fork() == 0) { free(c); free(malloc(3333)); _exit(0); }
      wait(NULL);
      exit(0);
    }
    wait(NULL);
    pid_t child;
    char *arguments[] = { words[0], "spawned", NULL };
    if (posix_spawn(&child, words[0], NULL, NULL, arguments, environ)) return 1;
    waitpid(child, NULL, 0);
    if (vfork() == 0) { execl(words[0], words[0], "after vfork", NULL); _exit(1); }
    wait(NULL);
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    pthread_join(t, NULL);
    free(a); free(b); free(c);
    execl(words[0], words[0], "by exec", NULL);
    return 1;
  }`,
  /* Ends before its child has allocated anything. */
  daemon: `int main(void) {
    free(malloc(5000));
    if (fork() == 0) { usleep(100000); free(malloc(6000)); }
    return 4;
  }`,
  stacks: `__attribute__((noinline)) void *leaf(size_t n) { void *p = malloc(n); *(volatile char *)p = 1; return p; }
  __attribute__((noinline)) void *deep(int n) {
    volatile char room[40]; room[n & 31] = 1;
    void *p = n > 0 ? deep(n - 1) : leaf(4242); room[0] = 2; return p;
  }
  static void handler(int s) { (void)s; leaf(4243); }
  int main(void) {
    for (int i = 0; i < 50; i++) deep(i);
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
    if (fork() == 0) { for (int i = 0; i < 100; i++) leaf(9999); execlp("true", "true", NULL); }
    return 0;
  }`,
  /** Functions that run on a stack of their own. */
  contexts: `#include <ucontext.h>
  static ucontext_t mine, other;
  __attribute__((noinline)) void leaf(int i) { *(volatile char *)malloc(4300 + i) = 1; }
  static void body(int i) { leaf(i); swapcontext(&other, &mine); leaf(i + 1); }
  int main(void) {
    static char stack[65536];
    getcontext(&other);
    other.uc_stack.ss_sp = stack;
    other.uc_stack.ss_size = sizeof stack;
    other.uc_link = &mine;
    makecontext(&other, (void (*)(void))body, 1, 0);
    swapcontext(&mine, &other);
    leaf(7);
    return swapcontext(&mine, &other);
  }`,
  /** What Go does to call C: functions with frame pointers and without tables change to the stack of the thread. */
  goroutine: `
  asm(".section .note.go.buildid, \\"a\\", @note; .balign 4; .long 4, 4, 4; .ascii \\"Go\\\\0\\\\0\\"; .long 0; .text\\n"
      "go_start: push %rbp; push %rbx; push %rbx; mov %rsp, of_thread(%rip); mov %rdi, %rsp; xor %ebp, %ebp\\n"
      "call go_main; mov of_thread(%rip), %rsp; pop %rbx; pop %rbx; pop %rbp; ret\\n"
      "go_main: push %rbp; mov %rsp, %rbp; call go_deep; pop %rbp; ret\\n"
      "go_deep: push %rbp; mov %rsp, %rbp; call go_call; pop %rbp; ret\\n"
      "go_call: push %rbp; mov %rsp, %rbp; mov of_thread(%rip), %rsp; call in_c; mov %rbp, %rsp; pop %rbp; ret\\n");
  void *of_thread;
  void go_start(char *stack);
  void in_c(void) { *(volatile char *)malloc(4244) = 1; }
  int main(void) {
    for (int i = 0; i < 3; i++)
      go_start((char *)mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + 65536);
    return 0;
  }`,
} as const

/** Follows the blocks: no block is allocated where one lives, or freed where none does. */
export function checkBlocks(events: readonly TraceEvent[]): void {
  const live = new Set<string>()
  let faults = 0
  for (const event of events) {
    const { kind, process = 1n } = event
    const block = `${process} ${event.address}`
    if (kind === 'free' && !live.delete(block)) faults++
    if (kind === 'realloc' && !live.delete(`${process} ${event.oldAddress}`)) faults++
    if (kind === 'alloc' || kind === 'realloc' || kind === 'existing') {
      if (live.has(block)) faults++
      live.add(block)
    }
  }
  expect(faults).toBe(0)
}

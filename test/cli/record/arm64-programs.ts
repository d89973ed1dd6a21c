import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseFrame } from '../../../lib/event/frame.js'
import type { TraceEvent } from '../../../lib/event/trace-event.js'
import { HEADERS } from './own-programs.js'

/** Where Debian's packages have the libraries for arm64. */
export const SYSTEM = '/usr/aarch64-linux-gnu'
const [CC, CXX, NM] = ['gcc', 'g++', 'nm'].map((name) => `aarch64-linux-gnu-${name}`) as [string, string, string]
const EMULATOR = ['qemu-aarch64', 'qemu-aarch64-static'].find(
  (name) => spawnSync(name, ['--version']).error === undefined,
)

/** Why programs for arm64 cannot be compiled and run here; undefined if they can. */
export const obstacle =
  EMULATOR === undefined
    ? 'qemu-user is missing'
    : [CC, CXX].some((name) => spawnSync(name, ['--version']).error !== undefined)
      ? 'g++-aarch64-linux-gnu is missing'
      : existsSync(`${SYSTEM}/lib/libc.so.6`)
        ? undefined
        : 'libc6-dev-arm64-cross is missing'

/** What runs a program for arm64. */
export const emulator = (...options: readonly string[]) =>
  [EMULATOR ?? 'qemu-aarch64', '-L', SYSTEM, ...options].join(' ')

/**
 * Functions with frames of several shapes that call each other at random. Each notes that it is called, and the last
 * one writes them into a file, and allocates.
 */
const CHAINS = `
static int chain[64], depth;
static uint32_t x = 1;
static FILE *notes;
static uint32_t any(uint32_t n) { x = x * 1664525u + 1013904223u; return (x >> 8) % n; }
static void *keep(void *p) { *(volatile char *)p = 1; return p; }
#define NOTED(n, ...) { chain[depth++] = n; int result = 0; __VA_ARGS__; depth--; return result; }
#define SHAPE __attribute__((noinline, noclone)) int
typedef int shape(int);
static shape next;
SHAPE last(int size) NOTED(0, {
  for (int i = depth - 1; i >= 0; i--) fprintf(notes, "%d%c", chain[i], i == 0 ? '\\n' : ' ');
  free(keep(malloc(size)));
})
SHAPE plain(int n) NOTED(1, result = next(n - 1) + 1)
SHAPE wide(int n) NOTED(2, { volatile char room[5000]; room[n] = 1; result = next(n - 1) + room[n]; })
SHAPE varying(int n) NOTED(3, { volatile char *room = __builtin_alloca(16 * any(40) + 16); room[0] = 1; result = next(n - 1) + room[0]; })
__attribute__((noinline, noclone)) int many(int n, int b, int c, int d, int e, int f, int g, int h, int i, int j)
  NOTED(4, result = next(n - 1) + b + c + d + e + f + g + h + i + j)
SHAPE passes(int n) NOTED(5, result = many(n, 1, 2, 3, 4, 5, 6, 7, 8, n))
SHAPE real(int n) NOTED(6, { volatile double a = n, b = 2, c = 3; double d = a * b, e = b / c; result = next(n - 1); a = d + e; })
static int compare(const void *a, const void *b) { (void)a, (void)b; if (depth < 60) { int n = *(const int *)a; if (n) next(n); } return 0; }
SHAPE sorts(int n) NOTED(7, { int list[2] = { n - 1, 0 }; qsort(list, 2, sizeof *list, compare); })
static int next(int n) {
  static shape *const shapes[] = { plain, wide, varying, passes, real, sorts };
  return n <= 0 ? last(3000 + any(500)) : shapes[any(6)](n);
}
int main(int n, char **words) {
  notes = fopen(words[1], "w");
  setvbuf(notes, NULL, _IOFBF, 1 << 16);
  for (int i = 0; i < 3000; i++) next(1 + any(12));
  fclose(notes);
  return 0;
}`

const PROGRAMS = {
  chains: CHAINS,
  /* A signal every 300 microseconds, while functions without calls run, some of them without a frame. */
  timer: `#include <ctype.h>
  static volatile int handled;
  static volatile uint64_t sink;
  __attribute__((noinline, noclone)) uint64_t bare(uint64_t a) { for (int i = 0; i < 50; i++) a = a * 3 + (a >> 7); return a; }
  __attribute__((noinline, noclone)) uint64_t tiny(uint64_t a) { return a + 1; }
  __attribute__((noinline, noclone)) uint64_t room(uint64_t a) { volatile uint64_t r[64]; for (int i = 0; i < 64; i++) r[i] = a + i; return r[a & 63]; }
  __attribute__((noinline, noclone)) uint64_t calls(uint64_t a) { for (int i = 0; i < 9; i++) a += tiny(bare(a)) + room(a) + tolower(a & 127); return a; }
  __attribute__((noinline, noclone)) void *leaf(size_t n) { void *p = malloc(n); *(volatile char *)p = 1; free(p); return p; }
  static void handler(int s) { (void)s; leaf(4243); handled++; }
  int main(int n, char **words) {
    stack_t stack = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };
    sigaltstack(&stack, NULL);
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART | (n > 1 ? SA_ONSTACK : 0) };
    leaf(100);
    sigaction(SIGALRM, &action, NULL);
    struct itimerval every = { { 0, 300 }, { 0, 300 } }, never = { 0 };
    setitimer(ITIMER_REAL, &every, NULL);
    while (handled < 400) sink = calls(sink);
    setitimer(ITIMER_REAL, &never, NULL);
    return 0;
  }`,
  /* The jump to another module faults, because the addresses that it reads are protected. */
  jumps: `#include <ctype.h>
  static volatile int handled = 0x100;
  #define PAGE ((uintptr_t)&handled & ~(uintptr_t)4095)
  __attribute__((noinline, noclone)) void *leaf(size_t n) { void *p = malloc(n); *(volatile char *)p = 1; return p; }
  static void handler(int s) {
    register long number __asm__("x8") = 226, start __asm__("x0") = PAGE, size __asm__("x1") = 4096, both __asm__("x2") = 3;
    __asm__ volatile("svc 0" : "+r"(start) : "r"(number), "r"(size), "r"(both) : "memory");
    leaf(4243);
    handled++;
  }
  int main(int n, char **words) {
    signal(SIGSEGV, handler);
    mprotect((void *)PAGE, 4096, PROT_NONE);
    n = tolower(n);
    return handled == 0x101 ? 9 : n;
  }`,
  /* Code that no module has, with a frame whose pair of registers is at the end or in the middle. */
  jit: `__asm__(".data\\n.balign 4\\n.globl first, first_end, second, second_end\\n"
    "first: stp x29, x30, [sp, #-48]!\\nmov x29, sp\\nblr x0\\nldp x29, x30, [sp], #48\\nret\\nfirst_end:\\n"
    "second: sub sp, sp, #96\\nstp x29, x30, [sp, #16]\\nadd x29, sp, #16\\nblr x0\\n"
    "ldp x29, x30, [sp, #16]\\nadd sp, sp, #96\\nret\\nsecond_end:\\n.text");
  extern char first[], first_end[], second[], second_end[];
  typedef void code(void (*)(void));
  __attribute__((noinline, noclone)) void leaf(void) { void *p = malloc(4242); *(volatile char *)p = 1; free(p); }
  static code *inner;
  __attribute__((noinline, noclone)) void between(void) { volatile char room[300]; room[5] = 1; inner(leaf); room[6] = 1; }
  __attribute__((noinline, noclone)) void outer(code *c, int n) { volatile char room[700]; room[n] = 1; c(between); room[9] = 2; }
  static code *made(char *from, char *to) {
    char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(memory, from, to - from);
    mprotect(memory, 4096, PROT_READ | PROT_EXEC);
    __builtin___clear_cache(memory, memory + (to - from));
    return (code *)memory;
  }
  int main(int n, char **words) {
    code *a = made(first, first_end), *b = made(second, second_end);
    for (int i = 0; i < 40; i++) { inner = i & 1 ? a : b; outer(i & 2 ? a : b, i); }
    return 0;
  }`,
  /* Loads a library again and again. */
  loads: `int main(int n, char **words) {
    for (int i = 0; i < 10; i++) {
      void *library = dlopen(words[1], RTLD_NOW);
      if (!library) { fputs(dlerror(), stderr); return 1; }
      void (*inside)(size_t) = dlsym(library, "inside");
      inside(5555);
      dlclose(library);
    }
    return 0;
  }`,
  library: `__attribute__((noinline)) void inside(size_t n) { void *p = malloc(n); *(volatile char *)p = 1; free(p); }`,
  /* What it becomes by exec is another run of the emulator, whose words are its own. */
  children: `int main(int n, char **words) {
    void *a = malloc(1111), *b = malloc(1112);
    if (n == 2) { free(malloc(7777)); free(a); return 0; }
    if (fork() == 0) {
      free(a); b = realloc(b, 5000); free(malloc(2222));
      if (fork() == 0) { free(malloc(3333)); _exit(0); }
      wait(NULL);
      exit(0);
    }
    wait(NULL);
    if (fork() == 0) { execvp(words[1], words + 1); _exit(1); }
    wait(NULL);
    free(a);
    return 4;
  }`,
} as const

/** The name of a program here. */
export type ArmProgram = keyof typeof PROGRAMS

/** Compiles a text for arm64. */
export function compileText(folder: string, name: string, text: string, ...options: readonly string[]): void {
  const source = join(folder, `${name}.c`)
  writeFileSync(source, `#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <sys/time.h>\n${HEADERS}${text}`)
  execFileSync(CC, ['-w', '-pthread', ...options, '-o', join(folder, name), source])
}

/** Compiles a program of C for arm64. */
export function compileArm(folder: string, program: ArmProgram, name: string, ...options: readonly string[]): void {
  compileText(folder, name, PROGRAMS[program], ...options)
}

/** A program of C++ whose exceptions, containers and operators allocate. */
export function compileCxx(folder: string, name: string, ...options: readonly string[]): void {
  const source = join(folder, `${name}.cc`)
  writeFileSync(
    source,
    `#include <map>
    #include <stdexcept>
    #include <string>
    #include <cstdio>
    static long made, freed;
    extern "C" void *malloc(size_t), free(void *);
    struct Block { char bytes[777]; };
    __attribute__((noinline)) void throws(int n) { if (n == 0) throw std::runtime_error("at the end"); throws(n - 1); volatile int x = n; }
    __attribute__((noinline)) Block *makes() { return new Block; }
    int main() {
      std::map<std::string, int> map;
      int caught = 0;
      for (int i = 0; i < 500; i++) map["a key that is long enough to be in the heap " + std::to_string(i % 50)]++;
      for (int i = 0; i < 50; i++) { try { throws(i % 9); } catch (const std::exception &) { caught++; } delete makes(); }
      return caught == 50 && map.size() == 50 ? 5 : 1;
    }`,
  )
  execFileSync(CXX, ['-w', ...options, '-o', join(folder, name), source])
}

/** Compiles a part of the recorder for arm64. */
export function compileRecorderForArm(target: string, source: string, ...options: readonly string[]): void {
  execFileSync(CC, ['-Wall', '-Wextra', '-Werror', ...options, '-o', target, source])
}

/** A function that names the functions of a program in a stack, without those of other modules. */
export function namesIn(program: string): (event: TraceEvent) => (string | undefined)[] {
  const symbols = execFileSync(NM, [program], { encoding: 'utf8' }).split('\n')
  const functions = symbols
    .flatMap((line) => {
      const [, start, name] = /^([\da-f]+) [tT] ([^$]\w*)$/.exec(line) ?? []
      return start === undefined ? [] : [{ start: BigInt(`0x${start}`), name }]
    })
    .toSorted((a, b) => Number(a.start - b.start))
  return ({ stack }) =>
    (stack ?? []).flatMap((text) => {
      const { module, offset } = parseFrame(text)
      if (module !== program || offset === undefined) return []
      return [functions.findLast(({ start }) => start <= offset)?.name]
    })
}

/** The chains of functions that the program has noted, the last call first, without main. */
export function notedChains(file: string): string[][] {
  const names = ['last', 'plain', 'wide', 'varying', 'many', 'passes', 'real', 'sorts']
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' ').map((number) => names[Number(number)] ?? ''))
}

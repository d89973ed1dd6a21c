// @module-tag slow
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../../lib/event/trace-event.js'
import { RecorderDecoder } from '../../../lib/formats/recorder/decode.js'
import { shell } from '../../support/commands.js'
import { recordingBytes } from '../../support/recording.js'
import { decodeAll } from '../../support/drive.js'
import { can } from './programs.js'

const folder = mkdtempSync(join(tmpdir(), 'heapflow-modules-'))
const native = (name: string) => fileURLToPath(new URL(`../../../native/recorder/${name}`, import.meta.url))
const at = (name: string) => join(folder, name)

/** Throws through frames of a module that is loaded, unloaded and loaded again, where another one was before. */
const THROWS = `
  #include <dlfcn.h>
  #include <cstdlib>
  #include <stdexcept>
  #include <string>
  #include <vector>
  int main() {
    size_t sum = 0;
    for (int i = 0; i < 40; i++) {
      void *module = dlopen(i % 2 ? "./one.so" : "./two.so", RTLD_NOW);
      if (!module) return 1;
      auto call = (void (*)(int, void (*)(int)))dlsym(module, "through");
      try {
        call(i, [](int n) { throw std::runtime_error(std::string(100 + n, 'x')); });
      } catch (const std::runtime_error &error) {
        std::vector<std::string> parts(10, error.what());
        sum += parts.size();
      }
      if (dlclose(module)) return 2;
    }
    return sum == 400 ? 0 : 3;
  }`

/** Of different sizes, so that what is in the place of one is not the other. */
const THROUGH = `
  #include <cstdlib>
  static char room[ROOM];
  __attribute__((noinline)) static void deeper(int n, int depth, void (*back)(int)) {
    std::free(std::malloc(3000 + depth));
    if (depth > 0) deeper(n, depth - 1, back); else back(n);
    room[n] = 1;
  }
  extern "C" void through(int n, void (*back)(int)) { deeper(n, PARTS, back); }`

/** Calls the allocator in a signal handler that interrupts the clock, whose code is the kernel's. */
const CLOCK = `
  #include <signal.h>
  #include <stdlib.h>
  #include <sys/time.h>
  #include <time.h>
  #include <unistd.h>
  static volatile int calls;
  static void handler(int s) { (void)s; free(malloc(4243)); calls++; }
  int main(void) {
    struct timespec t;
    /* The linker, which looks the function up at its first call, aligns its stack: walks end early there. */
    clock_gettime(CLOCK_MONOTONIC, &t);
    signal(SIGALRM, handler);
    struct itimerval often = { { 0, 500 }, { 0, 500 } };
    setitimer(ITIMER_REAL, &often, NULL);
    while (calls < 400) clock_gettime(CLOCK_MONOTONIC, &t);
    _exit(0);
  }`

/** Calls libc past the preloaded library: from a module that looks there first, and by what dlsym finds in libc. */
const PAST = `
  #define _GNU_SOURCE
  #include <dlfcn.h>
  #include <stdlib.h>
  /* Older versions of glibc do not have them, and new ones not the first. */
  extern void cfree(void *) __attribute__((weak));
  extern void free_sized(void *, size_t) __attribute__((weak));
  extern void free_aligned_sized(void *, size_t, size_t) __attribute__((weak));
  int main(void) {
    void *module = dlopen("./bound.so", RTLD_NOW | RTLD_DEEPBIND), *libc = dlopen("libc.so.6", RTLD_NOW);
    if (!module || !libc) return 1;
    int (*calls)(const char *) = (int (*)(const char *))dlsym(module, "calls");
    void *(*allocate)(size_t) = (void *(*)(size_t))dlsym(libc, "malloc");
    if (!calls || !allocate || calls("./one.so")) return 2;
    for (int i = 0; i < 10; i++) free(allocate(6001));
    cfree(malloc(6006));
    free_sized(malloc(6006), 6006);
    free_aligned_sized(aligned_alloc(64, 6016), 64, 6016);
    return dlclose(module);
  }`

const BOUND = `
  #include <dlfcn.h>
  #include <stdlib.h>
  static void *volatile kept;
  static void allocate(int n) { free(kept = malloc(6005 + n)); }
  int calls(const char *path) {
    void *aligned;
    if (posix_memalign(&aligned, 64, 6002)) return 1;
    free(aligned);
    free(realloc(calloc(3, 2001), 6004));
    void *module = dlopen(path, RTLD_NOW);
    if (!module) return 2;
    ((void (*)(int, void (*)(int)))dlsym(module, "through"))(0, allocate);
    return dlclose(module);
  }`

const hasTool = (name: string) => spawnSync(name, ['--version']).error === undefined

function eventsOf(name: string): TraceEvent[] {
  const { events, error } = decodeAll(new RecorderDecoder(), recordingBytes(at(name)))
  expect(error).toBeUndefined()
  return events
}

const realPaths = new Map<string, string>()
/** A frame without the address, and with the path of the file: the dynamic linker may know it by another path. */
function realFrame(text: string): string {
  const [, module = '', offset = ''] = /^in (.*)(\+0x[\da-f]+) \[/.exec(text) ?? []
  if (module === '') return text
  if (!realPaths.has(module)) {
    // That of the kernel has no file.
    const path = resolve(folder, module)
    realPaths.set(module, existsSync(path) ? realpathSync(path) : module)
  }
  // The frame of dlclose, which is the recorder's own here.
  if (/\/(?:glibc|lists)\.so$/.test(module)) return 'recorder'
  return `${realPaths.get(module)}${offset}`
}

describe.skipIf(!can('recorder') || !hasTool('c++'))('modules as glibc has them, and by the list of mappings', () => {
  // Names of one length, so that the environment takes the same memory.
  const kinds = [
    ['glibc', []],
    ['lists', ['-DWITHOUT_FIND_OBJECT']],
  ] as const

  beforeAll(() => {
    const shared = ['-std=gnu11', '-O2', '-shared', '-fPIC', '-fno-omit-frame-pointer', '-fvisibility=hidden']
    for (const [name, options] of kinds)
      execFileSync('cc', [...shared, ...options, '-o', at(`${name}.so`), native('recorder.c')])
    execFileSync('cc', ['-O1', '-o', at('reader'), native('reader.c'), '-ldl'])
    writeFileSync(at('throws.cc'), THROWS)
    writeFileSync(at('through.cc'), THROUGH)
    writeFileSync(at('clock.c'), CLOCK)
    writeFileSync(at('past.c'), PAST)
    writeFileSync(at('bound.c'), BOUND)
    execFileSync('c++', ['-O1', '-o', at('throws'), at('throws.cc'), '-ldl'])
    execFileSync('cc', ['-O1', '-o', at('past'), at('past.c'), '-ldl'])
    execFileSync('cc', ['-O1', '-shared', '-fPIC', '-o', at('bound.so'), at('bound.c'), '-ldl'])
    execFileSync('cc', ['-O1', '-w', '-o', at('clock'), at('clock.c')])
    for (const [name, room, parts] of [
      ['one', 100, 5],
      ['two', 90_000, 9],
    ])
      execFileSync('c++', [
        '-O1',
        '-fPIC',
        '-shared',
        '-fno-optimize-sibling-calls',
        `-DROOM=${room}`,
        `-DPARTS=${parts}`,
        '-o',
        at(`${name}.so`),
        at('through.cc'),
      ])
  }, 60_000)
  afterAll(() => rmSync(folder, { recursive: true }))

  const record = (name: string, program: string, file: string) =>
    shell(
      `cd ${folder}; export PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 PERL_HASH_SEED=0; ./reader ${file} ./${name}.so 512 -cf ${program}`,
    )

  test.each([
    [
      '/usr/bin/python3',
      '/usr/bin/python3 -c "import json, ctypes, decimal; json.dumps([str(i) for i in range(999)])"',
    ],
    ['perl', "perl -MPOSIX -MData::Dumper -e '$h{$_} = [1..9] for 1..300; $x = Dumper(\\%h)'"],
    ['./throws', './throws'],
  ])('the stacks of %s are the same', async (tool, program) => {
    if (!tool.startsWith('./') && !hasTool(tool)) return
    const fixed = spawnSync('setarch', ['-R', 'true']).status === 0 ? 'setarch -R ' : ''
    const [ofGlibc, ofMappings] = await Promise.all(
      kinds.map(async ([name]) => {
        expect((await record(name, `${fixed}${program}`, `${name}.hfrec`)).code).toBe(0)
        const events = eventsOf(`${name}.hfrec`)
        const calls = events.filter(({ kind }) => kind !== 'comment' && kind !== 'other')
        return {
          calls: calls.map(({ kind, size, stack }) => `${kind} ${size} ${stack?.map(realFrame).join(' < ')}`),
          unloaded: events.filter(({ text }) => text?.startsWith('unloaded') === true).length,
          depth: Math.max(...calls.map(({ stack }) => stack?.length ?? 0)),
        }
      }),
    )
    expect(ofMappings?.calls.length).toBeGreaterThan(500)
    expect(ofMappings?.depth).toBeGreaterThan(10)
    // Not the arrays, whose difference takes long to show.
    const i = ofMappings?.calls.findIndex((call, j) => call !== ofGlibc?.calls[j]) ?? 0
    expect(ofMappings?.calls[i]).toBe(ofGlibc?.calls[i])
    expect(ofMappings?.calls.length).toBe(ofGlibc?.calls.length)
    expect(ofMappings?.unloaded).toBe(ofGlibc?.unloaded)
    if (tool === './throws') expect(ofMappings?.unloaded).toBe(40)
  })

  test('a module that was loaded by a relative path has the whole one', async () => {
    for (const [name] of kinds) {
      expect((await record(name, './throws', 'throws.hfrec')).code).toBe(0)
      const frames = eventsOf('throws.hfrec').flatMap(({ stack = [] }) => stack)
      const paths = frames.flatMap((text) => (/^in (.*(?:one|two)\.so)\+/.exec(text) ?? []).slice(1))
      expect(new Set(paths)).toEqual(new Set([realpathSync(at('one.so')), realpathSync(at('two.so'))]))
    }
  })

  test('calls that are looked up in libc itself are recorded', async () => {
    for (const [name] of kinds) {
      expect((await record(name, './past', 'past.hfrec')).code).toBe(0)
      const events = eventsOf('past.hfrec')
      const sizes = events.flatMap(({ kind, size, address }) =>
        kind === 'alloc' || kind === 'realloc' ? [[size, address] as const] : [],
      )
      const counts = [6001n, 6002n, 6003n, 6004n, 6005n, 6006n, 6016n].map(
        (size) => sizes.filter(([found]) => found === size).length,
      )
      expect(counts).toEqual([10, 1, 1, 1, 1, 2, 1])
      const live = new Set<bigint | undefined>()
      for (const { kind, address, oldAddress } of events) {
        if (kind === 'free' || kind === 'realloc')
          expect(live.delete(kind === 'free' ? address : oldAddress)).toBe(true)
        if (kind === 'alloc' || kind === 'realloc') live.add(address)
      }
      expect(sizes.filter(([size, address]) => (size ?? 0n) > 6000n && live.has(address))).toEqual([])
      expect(events.filter(({ text }) => text?.startsWith('unloaded') === true).length).toBe(2)
    }
  })

  test('a handler that interrupted code of the kernel has a whole stack', async () => {
    for (const [name] of kinds) {
      expect((await record(name, './clock', 'clock.hfrec')).code).toBe(0)
      const stacks = eventsOf('clock.hfrec').flatMap(({ size, stack }) => (size === 4243n ? [stack ?? []] : []))
      expect(stacks.length).toBeGreaterThan(300)
      expect(stacks.filter((stack) => stack.some((text) => text.includes('linux-vdso.so.1+'))).length).toBeGreaterThan(
        50,
      )
      expect(stacks.filter((stack) => !(stack.at(-1) ?? '').includes(at('clock')))).toEqual([])
    }
  })
})

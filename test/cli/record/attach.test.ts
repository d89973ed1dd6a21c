// @module-tag slow
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../../lib/event/trace-event.js'
import { RecorderDecoder } from '../../../lib/formats/recorder/decode.js'
import { commandLine, shell } from '../../support/commands.js'
import { recordingBytes } from '../../support/recording.js'
import { decodeAll } from '../../support/drive.js'
import { can, compileRecorder } from './programs.js'

const folder = mkdtempSync(join(tmpdir(), 'heapflow-attach-'))
const at = (name: string) => join(folder, name)
const native = (name: string) => fileURLToPath(new URL(`../../../native/recorder/${name}`, import.meta.url))

const HEADERS = [
  'dlfcn',
  'errno',
  'malloc',
  'pthread',
  'signal',
  'stdint',
  'stdio',
  'stdlib',
  'string',
  'time',
  'unistd',
]
  .concat(['sys/epoll', 'sys/sem', 'sys/time', 'sys/wait'])
  .map((name) => `#include <${name}.h>\n`)
  .join('')

const PROGRAMS = {
  /* Has blocks, waits for a line, makes a known number of calls through each way to the allocator, and waits again. */
  steps: String.raw`
    static void *(*volatile later)(size_t) = malloc;
    static void *work(void *x) { for (int i = 0; i < 500; i++) free(malloc(4242)); return x; }
    static void line(void) { if (getchar() < 0) exit(9); }
    int main(void) {
      char *kept = malloc(1111), *resized = malloc(2222), *freed = malloc(3333);
      struct { void *(*get)(size_t); void (*end)(void *); } volatile *in_heap = malloc(1234);
      void *(*volatile on_stack)(size_t) = malloc;
      in_heap->get = malloc;
      in_heap->end = free;
      strcpy(resized, "resized");
      printf("%d\n", getpid()); fflush(stdout);
      line();
      free(freed);
      resized = realloc(resized, 200000);
      if (strcmp(resized, "resized") != 0) return 1;
      pthread_t t[4];
      for (int i = 0; i < 4; i++) pthread_create(t + i, NULL, work, NULL);
      for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
      /* A module that was not there, and what it calls. */
      void *module = dlopen("./module.so", RTLD_NOW | RTLD_LOCAL);
      void *(*allocate)(size_t) = (void *(*)(size_t))dlsym(module, "allocate");
      for (int i = 0; i < 100; i++) free(allocate(5151));
      void *(*found)(size_t) = (void *(*)(size_t))dlsym(RTLD_DEFAULT, "malloc");
      for (int i = 0; i < 10; i++) free(found(6161));
      for (int i = 0; i < 10; i++) free(later(7171));
      for (int i = 0; i < 10; i++) in_heap->end(in_heap->get(7272));
      for (int i = 0; i < 10; i++) free(on_stack(7373));
      void *p;
      if (posix_memalign(&p, 64, 640)) return 1;
      free(p);
      free(aligned_alloc(32, 320));
      free(calloc(7, 11));
      free(strdup("a text of thirty-one characters"));
      dlclose(module);
      int status;
      pid_t child = fork();
      if (child == 0) { free(malloc(8181)); free(kept); _exit(5); }
      waitpid(child, &status, 0);
      if (WEXITSTATUS(status) != 5) return 1;
      puts("done"); fflush(stdout);
      line();
      free(malloc(9191));
      in_heap->end(in_heap->get(9192));
      puts("done"); fflush(stdout);
      line();
      free(malloc(9292));
      in_heap->end(in_heap->get(9293));
      free(kept);
      return 42;
    }`,
  module: `void *allocate(size_t size) { return malloc(size); }`,
  /* Threads that are always busy, for half a minute. */
  /* Forks before it calls the allocator. */
  forks: String.raw`
    int main(void) {
      char c;
      dprintf(1, "%d\n", getpid());
      if (read(0, &c, 1) != 1) return 9;
      int status;
      pid_t child = fork();
      if (child == 0) { free(malloc(8181)); _exit(5); }
      waitpid(child, &status, 0);
      return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
    }`,
  busy: String.raw`
    static void *work(void *x) {
      for (int i = 0; i < 15000; i++) { for (int k = 0; k < 200; k++) free(malloc(k)); usleep(2000); }
      return x;
    }
    int main(void) {
      pthread_t t[80];
      printf("%d\n", getpid()); fflush(stdout);
      for (int i = 0; i < 80; i++) pthread_create(t + i, NULL, work, NULL);
      for (int i = 0; i < 80; i++) pthread_join(t[i], NULL);
    }`,
  silent: String.raw`int main(void) { printf("%d\n", getpid()); fflush(stdout); alarm(60); for (;;) pause(); }`,
  own: String.raw`
    static char heap[1 << 20];
    static size_t used;
    void *malloc(size_t n) { used += 16 + (n & ~15ul); return heap + used - 16 - (n & ~15ul); }
    void free(void *p) { (void)p; }
    void *calloc(size_t a, size_t b) { return malloc(a * b); }
    void *realloc(void *p, size_t n) { (void)p; return malloc(n); }
    int main(void) { printf("%d\n", getpid()); fflush(stdout); alarm(60); for (;;) pause(); }`,
  /* Calls of every kind in threads that check their blocks, while others load modules, fork, start, wait and sleep. */
  hostile: String.raw`
    static void wrong(int line) { fprintf(stderr, "line %d: errno %d\n", line, errno); abort(); }
    static volatile int stop;
    static volatile long rounds[16];
    static void *calls(void *x) {
      unsigned seed = (unsigned)(uintptr_t)x; unsigned char *b[64] = {0}; size_t n[64] = {0};
      while (!stop) {
        rounds[(uintptr_t)x]++;
        seed = seed * 1664525u + 1013904223u; int i = seed >> 26; size_t s = 1 + (seed >> 8 & 2047);
        if (b[i]) { for (size_t k = 0; k < n[i]; k++) if (b[i][k] != (unsigned char)i) wrong(__LINE__); }
        switch (seed >> 4 & 7) {
          case 0: free(b[i]); b[i] = NULL; n[i] = 0; continue;
          case 1: b[i] = realloc(b[i], s); break;
          case 2: free(b[i]); b[i] = calloc(1, s); for (size_t k = 0; k < s; k++) if (b[i][k]) wrong(__LINE__); break;
          case 3: free(b[i]); if (posix_memalign((void **)&b[i], 64, s)) wrong(__LINE__);
      if ((uintptr_t)b[i] & 63) wrong(__LINE__); break;
          case 4: free(b[i]); b[i] = aligned_alloc(32, s); break;
          default: free(b[i]); b[i] = malloc(s); break;
        }
        n[i] = s; memset(b[i], i, s);
      }
      for (int i = 0; i < 64; i++) free(b[i]);
      return x;
    }
    static void *loads(void *x) {
      while (!stop) { rounds[9]++; void *h = dlopen("libz.so.1", RTLD_NOW); if (!h) wrong(__LINE__);
        if (!dlsym(h, "deflate")) wrong(__LINE__); dlclose(h); }
      return x;
    }
    static void *forks(void *x) {
      while (!stop) { rounds[10]++; pid_t p = fork(); if (p == 0) { free(malloc(99)); _exit(3); }
        int s; while (waitpid(p, &s, 0) < 0) if (errno != EINTR) wrong(__LINE__); if (WEXITSTATUS(s) != 3) wrong(__LINE__);
      usleep(2000); }
      return x;
    }
    static void *starts(void *x) { 
      while (!stop) { rounds[11]++; pthread_t t; int *q = calloc(1, 4);
      if (pthread_create(&t, NULL, (void *(*)(void *))free, q)) wrong(__LINE__); pthread_join(t, NULL); usleep(500); }
      return x;
    }
    static void mask_all(void) { sigset_t s; sigfillset(&s); pthread_sigmask(SIG_BLOCK, &s, NULL); }
    static void *waits(void *x) { /* No signal comes here, so nothing may be interrupted. */
      mask_all(); int e = epoll_create1(0); struct epoll_event ev;
      while (!stop) { rounds[12]++; if (epoll_wait(e, &ev, 1, 20) != 0) wrong(__LINE__); }
      return x;
    }
    static void *sleeps(void *x) {
      mask_all();
      while (!stop) { rounds[13]++; struct timespec t = {0, 20000000}; if (nanosleep(&t, NULL)) wrong(__LINE__);
        sigset_t s; sigemptyset(&s); sigaddset(&s, SIGUSR2); t.tv_nsec = 5000000;
      if (sigtimedwait(&s, NULL, &t) != -1 || errno != EAGAIN) wrong(__LINE__); }
      return x;
    }
    static void *semaphores(void *x) {
      mask_all(); int id = semget(IPC_PRIVATE, 1, 0600); struct sembuf op = {0, -1, 0};
      struct timespec t = {0, 15000000};
      while (!stop) { rounds[14]++; if (semtimedop(id, &op, 1, &t) != -1 || errno != EAGAIN) wrong(__LINE__); }
      semctl(id, 0, IPC_RMID); return x;
    }
    static volatile long ticks;
    static void on_tick(int s) { int e = errno; ticks++; rounds[15]++; errno = e; (void)s; }
    int main(int c, char **v) {
      struct sigaction a = {.sa_handler = on_tick, .sa_flags = SA_RESTART}; sigaction(SIGALRM, &a, NULL);
      struct itimerval it = {{0, 700}, {0, 700}}; setitimer(ITIMER_REAL, &it, NULL);
      pthread_t t[16]; int n = 0;
      for (uintptr_t i = 1; i <= 4; i++) pthread_create(t + n++, NULL, calls, (void *)i);
      void *(*f[])(void *) = {loads, forks, starts, waits, sleeps, semaphores};
      for (int i = 0; i < 6; i++) pthread_create(t + n++, NULL, f[i], NULL);
      printf("%d\n", getpid()); fflush(stdout);
      struct timespec end, now; clock_gettime(CLOCK_MONOTONIC, &end); end.tv_sec += c > 1 ? atoi(v[1]) : 5;
      do { usleep(10000); free(strdup("main")); clock_gettime(CLOCK_MONOTONIC, &now);
      } while (now.tv_sec < end.tv_sec);
      stop = 1; for (int i = 0; i < n; i++) pthread_join(t[i], NULL);
      for (int i = 1; i < 16; i++) if (rounds[i] == 0 && (i < 5 || i > 8)) return 1;
      return 42;
    }`,
}

const SANITIZED = ['-fsanitize=address,undefined', '-fno-sanitize-recover=all']
const running: ChildProcess[] = []

beforeAll(() => {
  if (!can('recorder')) return
  for (const [name, text] of Object.entries(PROGRAMS)) {
    writeFileSync(at(`${name}.c`), HEADERS + text)
    const options = name === 'module' ? ['-shared', '-fPIC', '-o', at('module.so')] : ['-o', at(name)]
    execFileSync('cc', ['-D_GNU_SOURCE', '-w', '-O1', '-fno-builtin', '-pthread', ...options, at(`${name}.c`), '-ldl'])
  }
  const strict = ['-std=gnu11', '-g', '-Wall', '-Wextra', '-Werror']
  const shared = ['-shared', '-fPIC', '-O2', '-fno-omit-frame-pointer', '-fvisibility=hidden']
  expect(compileRecorder(...strict, ...shared, '-o', at('recorder.so'), native('recorder.c'))).toBe(true)
  expect(compileRecorder(...strict, '-O1', '-o', at('plain-reader'), native('reader.c'))).toBe(true)
  const isSanitized = compileRecorder(...strict, ...SANITIZED, '-O1', '-o', at('reader'), native('reader.c'))
  if (!isSanitized) copyFileSync(at('plain-reader'), at('reader'))
}, 60_000)

afterAll(() => {
  for (const child of running) child.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

interface Target {
  readonly child: ChildProcess
  readonly pid: number
  readonly ended: Promise<unknown[]>
  /** The next line of its output. */
  next(): Promise<string>
  /** Writes a line to it. */
  go(): void
}

/** Starts a program that says its number first. */
async function start(program: string, ...args: readonly string[]): Promise<Target> {
  const child = spawn(program, args, { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] })
  running.push(child)
  const ended = once(child, 'exit')
  const lines: string[] = []
  let wake: (() => void) | undefined
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts)
    wake?.()
  })
  const next = async () => {
    while (lines.length === 0) await new Promise<void>((resolve) => (wake = resolve))
    return lines.shift() as string
  }
  const pid = Number(await next())
  return { child, pid, ended, next, go: () => child.stdin.write('\n') }
}

interface Attached {
  readonly child: ChildProcess
  readonly ended: Promise<[number | null, string]>
}

/** Starts a command that attaches, and waits until it has, or has ended. Its environment is another one if given. */
async function attach(command: string, env: NodeJS.ProcessEnv = process.env): Promise<Attached> {
  const child = spawn('bash', ['-c', `exec ${commandLine(command)}`], {
    cwd: folder,
    env: { ...env, XDG_CACHE_HOME: at('cache'), ASAN_OPTIONS: 'detect_leaks=0' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  running.push(child)
  let text = ''
  const ended = once(child, 'close').then(([code]): [number | null, string] => [code as number | null, text])
  await Promise.race([
    ended,
    new Promise<void>((resolve) => {
      child.stderr.setEncoding('utf8').on('data', (part: string) => {
        text += part
        if (/^attached$|is recorded/m.test(text)) resolve()
      })
    }),
  ])
  return { child, ended }
}

function eventsOf(name: string): { events: TraceEvent[]; warnings: readonly string[] } {
  const decoder = new RecorderDecoder()
  const { events, error } = decodeAll(decoder, recordingBytes(at(name)))
  expect(error).toBeUndefined()
  return { events, warnings: decoder.warnings }
}

/** Each block is allocated once before it is freed. */
function checkBlocks(events: readonly TraceEvent[]): void {
  const live = new Set<string>()
  const faults: TraceEvent[] = []
  for (const event of events) {
    const { kind, address, oldAddress, process = 1n } = event
    const end = kind === 'free' ? address : kind === 'realloc' ? oldAddress : undefined
    if (end !== undefined && !live.delete(`${process} ${end}`)) faults.push(event)
    if (kind !== 'alloc' && kind !== 'realloc' && kind !== 'existing') continue
    if (live.has(`${process} ${address}`)) faults.push(event)
    live.add(`${process} ${address}`)
  }
  expect(faults).toEqual([])
}

const count = (events: readonly TraceEvent[], size: bigint, process?: bigint) =>
  events.filter((event) => event.kind === 'alloc' && event.size === size && event.process === process).length

/** Whether a process may trace others of its user, which are no children of it. */
function mayTrace(): boolean {
  try {
    const scope = Number(readFileSync('/proc/sys/kernel/yama/ptrace_scope', 'latin1'))
    return scope === 0 || (scope < 3 && process.getuid?.() === 0)
  } catch {
    return true
  }
}

describe.skipIf(!can('recorder') || process.arch !== 'x64' || !mayTrace())('--pid', () => {
  test('records all calls from then on, and nothing after Ctrl-C; the program goes on', async () => {
    const target = await start('./steps')
    const first = await attach(`hf-record --pid ${target.pid} -o first.hfrec`)
    target.go()
    expect(await target.next()).toBe('done')
    first.child.kill('SIGINT')
    expect(await first.ended).toEqual([0, `hf-record: process ${target.pid} is recorded; Ctrl-C ends the recording\n`])
    target.go()
    expect(await target.next()).toBe('done')
    // Once more, as lines, until the program ends.
    const second = await attach(`hf-record --pid ${target.pid} -o second.ndjson`)
    target.go()
    expect(await target.ended).toEqual([42, null])
    expect((await second.ended)[0]).toBe(0)

    // That it ended early, other formats keep: what was live then is not leaked.
    expect((await shell(`hf-convert ${at('first.hfrec')} ${at('first.hfc')}`)).code).toBe(0)
    const { stdout: stats, stderr: said } = await shell(`hf-stats --section summary ${at('first.hfc')}`)
    expect(stats.toString()).toMatch(/^ {2}leaked .*\(still live when the recording ended\)$/m)
    expect(said).toContain('the recording ended while the program ran on')
    expect((await shell(`hf-check --max-leaked 0 ${at('first.hfc')}`)).code).toBe(3)
    expect((await shell(`hf-check --max-peak 1G ${at('first.hfc')}`)).code).toBe(0)

    const { events, warnings } = eventsOf('first.hfrec')
    expect(warnings).toEqual([
      expect.stringMatching(/^recorder: the recording began when the program had run for \d+\.\d{3} s: of its blocks/),
    ])
    expect(events.find(({ kind }) => kind === 'comment')?.text).toMatch(/^attached to a process that had run for /)
    checkBlocks(events)
    const sizes = [4242n, 5151n, 6161n, 7171n, 7272n, 7373n, 640n, 320n, 77n, 32n]
    expect(sizes.map((size) => count(events, size))).toEqual([2000, 100, 10, 10, 10, 10, 1, 1, 1, 1])
    expect([1111n, 2222n, 3333n, 9191n, 9192n, 9292n].map((size) => count(events, size))).toEqual([0, 0, 0, 0, 0, 0])
    // The blocks from before that were resized and freed.
    const existing = events.filter(({ kind, process: own }) => kind === 'existing' && own === undefined)
    for (const size of [2222n, 3333n])
      expect(existing.filter(({ size: own }) => own !== undefined && own >= size && own < size + 32n)).toHaveLength(1)
    expect(events.filter(({ kind, size }) => kind === 'realloc' && size === 200000n)).toHaveLength(1)
    const stack = events.find(({ size }) => size === 5151n)?.stack
    expect(stack?.[0]).toContain('module.so')
    expect(stack?.some((text) => text.includes(at('steps')))).toBe(true)
    expect(events.filter(({ kind }) => kind === 'thread-destroy')).toHaveLength(4)
    // Its child, which was forked.
    expect(count(events, 8181n, 2n)).toBe(1)
    expect(events.some(({ kind, text }) => kind === 'comment' && text?.startsWith('unloaded') === true)).toBe(true)

    const lines = readFileSync(at('second.ndjson'), 'utf8')
    expect(lines.match(/"size":9292/g)).toHaveLength(1)
    expect(lines.match(/"size":9293/g)).toHaveLength(1)
    expect(lines).not.toContain('9191')
  })

  test('the first call after that may be one of a process that is forked', async () => {
    const target = await start('./forks')
    const reader = await attach(`hf-record --pid ${target.pid} -o forks.hfrec`)
    target.go()
    expect(await target.ended).toEqual([5, null])
    expect((await reader.ended)[0]).toBe(0)
    expect(count(eventsOf('forks.hfrec').events, 8181n, 2n)).toBe(1)
  })

  test('its calls do not depend on when it is stopped, and no system call of it is interrupted', async () => {
    const target = await start('./hostile', '8')
    let isOver = false
    void target.ended.then(() => (isOver = true))
    let rounds = 0
    while (!isOver) {
      const reader = await attach(`./plain-reader hostile.hfrec ./recorder.so 64 -caf ${target.pid}`)
      await sleep(Math.random() * 60)
      reader.child.kill('SIGINT')
      const [code, text] = await reader.ended
      if (code === 125) {
        expect(text).toMatch(/has ended|has the number/)
        break
      }
      expect([code, text]).toEqual([0, 'attached\n'])
      if (rounds++ % 8 !== 0) continue
      const { events } = eventsOf('hostile.hfrec')
      checkBlocks(events)
      expect(events.some(({ kind }) => kind === 'lost')).toBe(false)
    }
    expect(await target.ended).toEqual([42, null])
    // Other work on the machine makes them few.
    expect(rounds).toBeGreaterThan(2)
  })

  test('a program that is killed while it is recorded, or while it is attached to', async () => {
    for (const delay of [0, 1, 2, 5, 200]) {
      const target = await start('./hostile', '20')
      await sleep(50)
      const attached = attach(`./reader killed.hfrec ./recorder.so 64 -ca ${target.pid}`)
      if (delay === 200) await attached
      await sleep(delay)
      target.child.kill('SIGKILL')
      expect(await target.ended).toEqual([null, 'SIGKILL'])
      const [code, text] = await (await attached).ended
      expect([0, 125]).toContain(code)
      if (code === 0) {
        checkBlocks(eventsOf('killed.hfrec').events)
        expect(text).toBe('attached\n')
      }
    }
  })

  test('a program that is stopped stays so until it gets SIGCONT', async () => {
    const target = await start('./steps')
    const state = () => / ([A-Za-z]) /.exec(readFileSync(`/proc/${target.pid}/stat`, 'latin1').split(')')[1] ?? '')?.[1]
    target.child.kill('SIGSTOP')
    const untilStopped = async () => {
      for (let i = 0; i < 100 && state() !== 'T'; i++) await sleep(10)
    }
    await untilStopped()
    const stopped = await attach(`./reader stopped.hfrec ./recorder.so 64 -ca ${target.pid}`)
    // It goes back into its stop when it is let go.
    await untilStopped()
    expect(state()).toBe('T')
    stopped.child.kill('SIGINT')
    expect(await stopped.ended).toEqual([0, 'attached\n'])
    await untilStopped()
    expect(state()).toBe('T')
    target.child.kill('SIGCONT')
    for (let i = 0; i < 3; i++) target.go()
    expect(await target.ended).toEqual([42, null])
  })

  test('a reader that is killed leaves a program that goes on, and can be recorded again', async () => {
    const target = await start('./steps')
    const killed = await attach(`./reader gone.hfrec ./recorder.so 64 -ca ${target.pid}`)
    const other = await attach(`./reader other.hfrec ./recorder.so 64 -ca ${target.pid}`)
    expect(await other.ended).toEqual([
      125,
      expect.stringMatching(`^process ${target.pid} is recorded already, by process ${killed.child.pid}\n$`),
    ])
    killed.child.kill('SIGKILL')
    await killed.ended
    target.go()
    expect(await target.next()).toBe('done')
    const again = await attach(`./reader again.hfrec ./recorder.so 64 -ca ${target.pid}`)
    target.go()
    expect(await target.next()).toBe('done')
    again.child.kill('SIGTERM')
    expect(await again.ended).toEqual([0, 'attached\n'])
    target.go()
    expect(await target.ended).toEqual([42, null])
    const { events } = eventsOf('again.hfrec')
    expect([count(events, 9191n), count(events, 9192n), count(events, 9292n)]).toEqual([1, 1, 0])
  })

  test.skipIf(spawnSync('/usr/bin/python3', ['--version']).error !== undefined)('python3', async () => {
    const code = `import os, sys
print(os.getpid(), flush=True)
sys.stdin.readline()
x = [bytearray(10000 + i) for i in range(1000)]
import json, decimal
print(len(json.dumps([str(decimal.Decimal(i) / 7) for i in range(1000)])), flush=True)
sys.stdin.readline()
sys.exit(17)`
    const target = await start('/usr/bin/env', 'PYTHONMALLOC=malloc', '/usr/bin/python3', '-c', code)
    const attached = await attach(`./reader python.hfrec ./recorder.so 64 -ca ${target.pid}`)
    target.go()
    expect(await target.next()).toMatch(/^\d+$/)
    target.go()
    expect(await target.ended).toEqual([17, null])
    expect(await attached.ended).toEqual([0, 'attached\n'])
    const { events } = eventsOf('python.hfrec')
    checkBlocks(events)
    for (const i of [1, 500, 1000]) expect(count(events, 10_000n + BigInt(i))).toBe(1)
    expect(events.length).toBeGreaterThan(50_000)
  })

  test('what cannot be recorded is named in one sentence, and nothing is written', async () => {
    const refused = async (pid: number | string, command = 'hf-record --pid', options = '-o no.hfrec') => {
      const [code, text] = await (await attach(`${command} ${pid} ${options}`)).ended
      expect(code).toBe(command.startsWith('hf-record') ? 1 : 125)
      expect(spawnSync('ls', [at('no.hfrec'), at('no.ndjson')]).stdout.toString()).toBe('')
      return text.replace('hf-record: ', '').trim()
    }
    expect(await refused(4_194_305)).toBe('no process has the number 4194305')
    expect(await refused(4_194_305, undefined, '-o no.ndjson')).toBe('no process has the number 4194305')
    // Containers do not have it.
    if (existsSync('/proc/2/comm') && readFileSync('/proc/2/comm', 'latin1') === 'kthreadd\n')
      expect(await refused(2)).toBe('process 2 has no program: it is a thread of the kernel, or has ended')
    const own = await start('./own')
    expect(await refused(own.pid)).toBe(
      `process ${own.pid} has the allocator of ${at('own')}, which the recorder cannot replace while it runs: start the program with hf-record`,
    )
    execFileSync('cc', ['-w', '-D_GNU_SOURCE', '-static', '-o', at('static'), at('silent.c')])
    const still = await start('./static')
    expect(await refused(still.pid)).toBe(
      `process ${still.pid} runs a program that is linked statically: link it without -static to record it`,
    )
    if (spawnSync('cc', ['-w', '-D_GNU_SOURCE', '-m32', '-o', at('small'), at('silent.c')]).status === 0) {
      const small = await start('./small')
      expect(await refused(small.pid)).toBe(
        `process ${small.pid} runs a program for 32 bits, which the recorder cannot record`,
      )
    }
    const traced = await start('./silent')
    const tracer = spawn('strace', ['-o', '/dev/null', '-p', String(traced.pid)], { stdio: 'ignore' })
    if (await new Promise((resolve) => tracer.once('error', () => resolve(false)).once('spawn', () => resolve(true)))) {
      running.push(tracer)
      const isTraced = () => !/TracerPid:\t0$/m.test(readFileSync(`/proc/${traced.pid}/status`, 'latin1'))
      for (let i = 0; i < 500 && !isTraced(); i++) await sleep(10)
      expect(await refused(traced.pid)).toBe(
        `process ${traced.pid} is traced by process ${tracer.pid}, such as a debugger: end that first`,
      )
    }
    const loaded = spawn('bash', ['-c', `exec ${commandLine('hf-record -o a.hfrec -- ./silent')}`], {
      cwd: folder,
      env: { ...process.env, XDG_CACHE_HOME: at('cache') },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    running.push(loaded)
    const [line] = (await once(loaded.stdout, 'data')) as [Buffer]
    const number = Number(line.toString())
    expect(await refused(number)).toBe(`process ${number} was started with the recorder, so it is recorded already`)
    process.kill(number)
    if (process.getuid?.() !== 0 || spawnSync('setpriv', ['--version']).error !== undefined) return
    // As a user that owns neither.
    for (const name of ['reader', 'recorder.so']) copyFileSync(at(name), at(`public-${name}`))
    chmodSync(folder, 0o755)
    const usual = await start('./silent')
    const other = 'setpriv --reuid 65534 --regid 65534 --clear-groups ./public-reader /dev/null'
    expect(await refused('', `${other} ./public-recorder.so 9 -ca ${usual.pid}`, '')).toBe(
      `process ${usual.pid} is one of another user: run hf-record as that user, or as root`,
    )
  })

  test('options that do not go with it are refused', async () => {
    for (const [line, message] of [
      ['--pid x', '--pid needs a whole number from 1 on, not "x"'],
      ['--pid 0', '--pid needs a whole number from 1 on, not "0"'],
      ['--pid 5 -- ./app', '--pid records a process that runs already: name no command'],
      ['--pid 5 --stack', '--pid and --stack exclude each other'],
      ['--pid 5 --with heaptrack', '--pid needs --with recorder, not heaptrack'],
      ['--pid 5 --print-preload -o a.hfrec', '--print-preload and --pid exclude each other'],
    ] as const) {
      const [code, text] = await (await attach(`hf-record ${line}`)).ended
      expect([code, text]).toEqual([2, expect.stringContaining(message)])
    }
  })

  test('Ctrl-C ends the recording of a program that is always busy, and so does a file that cannot be written', async () => {
    const { child, pid } = await start('./busy')
    for (const [line, status] of [
      [`hf-record --pid ${pid} -o busy.hfrec`, 0],
      [`hf-record --pid ${pid} -o /dev/full --to recorder`, 1],
    ] as const) {
      const recording = await attach(line)
      if (status === 0) {
        await sleep(1000)
        recording.child.kill('SIGINT')
      }
      const [code, text] = await Promise.race([recording.ended, sleep(10_000, [undefined, 'goes on'] as const)])
      expect(code).toBe(status)
      if (status !== 0) expect(text).toContain('/dev/full: the recording could not be written: No space left on device')
    }
    expect(child.exitCode).toBe(null)
    child.kill('SIGKILL')
    expect(recordingBytes(at('busy.hfrec')).length).toBeGreaterThan(100_000)
  })

  test('a program that no one reads the events of is no longer recorded', async () => {
    const target = await start('./hostile', '20')
    const [code, text] = await (
      await attach(`bash -c '$RECORD --pid ${target.pid} | head -1'`, {
        ...process.env,
        RECORD: commandLine('hf-record').replaceAll('"', ''),
      })
    ).ended
    expect([code, text]).toEqual([0, expect.stringContaining('is recorded')])
    expect(target.child.exitCode).toBeNull()
    expect(readFileSync(`/proc/${target.pid}/maps`, 'utf8').includes('/memfd:heapflow-recorder')).toBe(true)
    target.child.kill('SIGKILL')
  })
})

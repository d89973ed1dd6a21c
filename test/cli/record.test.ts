import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chooseRecorder, type RecorderName } from '../../lib/cli/record/recorders.js'
import { TracePipe } from '../../lib/cli/record/trace-pipe.js'
import { commandLine, scratch, shell, type Finished } from '../support/commands.js'

const folder = mkdtempSync(join(tmpdir(), 'heapflow-record-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Programs to record, which do nothing else than what their names say. */
const PROGRAMS: Readonly<Record<string, string>> = {
  leaks: `int main(void) {
    char *kept = malloc(1000), *freed = malloc(2000);
    kept = realloc(kept, 3000);
    free(freed);
    puts("to standard output");
    return 3;
  }`,
  threads: `static void *work(void *x) { for (int i = 0; i < 1000; i++) free(malloc(7000 + i)); return x; }
  int main(void) {
    pthread_t t[8];
    for (int i = 0; i < 8; i++) pthread_create(t + i, NULL, work, NULL);
    for (int i = 0; i < 8; i++) pthread_join(t[i], NULL);
    return 0;
  }`,
  forks: `int main(void) {
    char *both = malloc(1111);
    pid_t child = fork();
    if (child == 0) { free(both); for (int i = 0; i < 500; i++) both = malloc(2222); exit(both == NULL); }
    int status;
    waitpid(child, &status, 0);
    free(both);
    both = malloc(3333);
    return status;
  }`,
  killed: `int main(void) { for (int i = 0; i < 1000; i++) if (malloc(5000) == NULL) return 1; return raise(SIGKILL); }`,
  leaves: `int main(void) { free(malloc(5000)); _exit(0); }`,
  closes: `int main(void) {
    for (int i = 3; i < 4096; i++) close(i);
    free(malloc(5000));
    /* So many that the number of the trace is among them. */
    for (int i = 0; i < 300; i++) if (open("own-file", O_CREAT | O_WRONLY | O_APPEND, 0600) < 0) return 1;
    if (fork() == 0) exit(0);
    wait(NULL);
    return 0;
  }`,
  reuses: `int main(void) { for (int i = 3; i < 100; i++) close(i); free(malloc(5000)); return 0; }`,
  waits: `static void end(int signal) { exit(40 + signal); }
  int main(void) { signal(SIGTERM, end); puts("ready"); fflush(stdout); free(malloc(5000)); for (;;) pause(); }`,
}
const HEADERS = ['fcntl', 'pthread', 'signal', 'stdio', 'stdlib', 'unistd', 'sys/wait'].map(
  (name) => `#include <${name}.h>\n`,
)

const hasCompiler = spawnSync('cc', ['--version']).error === undefined

/** Whether a recorder, and the compiler for the programs, is there. */
function can(name: RecorderName): boolean {
  try {
    chooseRecorder(name, false)
    return hasCompiler
  } catch {
    return false
  }
}

beforeAll(() => {
  if (!hasCompiler) return
  for (const [name, text] of Object.entries(PROGRAMS)) {
    writeFileSync(join(folder, `${name}.c`), HEADERS.join('') + text)
    execFileSync('cc', ['-O0', '-w', '-pthread', '-o', join(folder, name), join(folder, `${name}.c`)])
  }
})

/** Runs a command line among the programs, with a cache of its own. */
function run(line: string): Promise<Finished> {
  return shell(`set -o pipefail; cd ${folder} && export XDG_CACHE_HOME=${folder}/cache && ${line}`)
}

interface Row {
  kind: string
  size?: number
  events?: number
}

function rowsOf(stdout: Buffer | string): Row[] {
  return stdout
    .toString()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Row)
}

const sizesOf = (rows: readonly Row[]) => rows.map(({ size }) => size)

describe.each<RecorderName>(['heaptrack', 'glibc', 'valgrind', 'ltrace'])('with %s', (name) => {
  const it = test.skipIf(!can(name))

  it('the events of a program come out, its own output goes to standard error, and its status is that of the command', async () => {
    const { code, stdout, stderr } = await run(`hf-record --with ${name} -- ./leaks`)
    expect(code).toBe(3)
    expect(stderr).toContain('to standard output\n')
    const rows = rowsOf(stdout)
    expect(rows.at(0)?.kind).toBe('header')
    expect(rows.at(-1)).toEqual({ kind: 'end', events: rows.length - 2 })
    expect(sizesOf(rows)).toEqual(expect.arrayContaining([1000, 2000, 3000]))
    const stats = await run(`hf-record --with ${name} -o leaks.ndjson -- ./leaks; hf-stats --json leaks.ndjson`)
    expect(stats.stdout.toString()).toMatch(/^to standard output\n/)
    const { leaked } = JSON.parse(stats.stdout.toString().slice('to standard output\n'.length)) as {
      leaked: { bytes: number }
    }
    expect(leaked.bytes).toBeGreaterThanOrEqual(3000)
  })

  // ltrace misses most calls that threads make at the same time.
  test.skipIf(!can(name) || name === 'ltrace')('eight threads are recorded', async () => {
    const rows = rowsOf((await run(`hf-record --with ${name} -- ./threads`)).stdout)
    const sizes = sizesOf(rows).filter((size) => size !== undefined && size >= 7000 && size < 8000)
    expect(sizes).toHaveLength(8000)
  })

  it('a program that was killed leaves a trace that is truncated', async () => {
    const { code, stderr, stdout } = await run(`hf-record --with ${name} -- ./killed | hf-stats --json`)
    expect(code).not.toBe(0)
    expect(stderr).toMatch(/^hf-record: .*truncated: the program was ended by SIGKILL$/m)
    expect(JSON.parse(stdout.toString())).toMatchObject({ complete: false })
    const alone = await run(`hf-record --with ${name} -o killed.ndjson -- ./killed`)
    expect(alone.code).toBe(137)
    expect(existsSync(join(folder, 'killed.ndjson'))).toBe(false)
    const rows = rowsOf(readFileSync(join(folder, 'killed.ndjson.partial')))
    expect(sizesOf(rows).filter((size) => size === 5000).length).toBeGreaterThan(500)
    expect(rows.at(-1)?.kind).not.toBe('end')
  })

  it('a program that cannot be started has the status of shells', async () => {
    const { code, stderr } = await run(`hf-record --with ${name} -- ./nothing-here`)
    expect(stderr).toMatch(/^hf-record: /m)
    if (name === 'glibc' || name === 'heaptrack') {
      expect([code, stderr]).toEqual([127, 'hf-record: ./nothing-here: no such program\n'])
      expect(await run(`hf-record --with ${name} -- ./leaks.c`)).toMatchObject({ code: 126 })
    } else expect(code).not.toBe(0)
  })

  it('a signal goes to the program, which decides what comes of it', async () => {
    const line = `cd ${folder} && export XDG_CACHE_HOME=${folder}/cache && exec hf-record --with ${name} -o waits.ndjson -- ./waits`
    const child = spawn('bash', ['-c', commandLine(line)], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    await sleep(100)
    child.kill('SIGTERM')
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
    expect([code, signal]).toEqual([55, null])
    expect(sizesOf(rowsOf(readFileSync(join(folder, 'waits.ndjson'))))).toContain(5000)
  })
})

describe('with glibc', () => {
  const it = test.skipIf(!can('glibc'))

  it('the children of a program are not in its trace', async () => {
    const { code, stdout } = await run('hf-record --with glibc -- ./forks')
    expect(code).toBe(0)
    const rows = rowsOf(stdout)
    const sizes = sizesOf(rows)
    expect(sizes).toEqual(expect.arrayContaining([1111, 3333]))
    expect(sizes).not.toContain(2222)
    expect(rows.filter(({ kind }) => kind === 'comment')).toHaveLength(1)
    expect(rows.at(-1)?.kind).toBe('end')
  })

  it('programs that the program starts have the environment as it was', async () => {
    const { stdout } = await run(
      `LD_PRELOAD=libm.so.6 hf-record --with glibc -o /dev/null -- bash -c 'env | grep -E "PRELOAD|MALLOC|HEAPFLOW" | grep -vE "HEAPFLOW_(RUNS|SEED)"; true'`,
    )
    expect(stdout.toString()).toBe('LD_PRELOAD=libm.so.6\n')
  })

  it('a program that leaves without its exit handlers has a truncated trace', async () => {
    const { code, stderr } = await run('hf-record --with glibc -- ./leaves')
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^hf-record: glibc-mtrace: byte \d+: truncated: the program left without running its exit handlers, or became another one\n$/,
    )
  })

  it('a program that closes all descriptors has a truncated trace', async () => {
    const { code, stderr } = await run('hf-record --with glibc -o closes.ndjson -- ./closes')
    expect(code).toBe(1)
    expect(stderr).toMatch(/truncated: the program left without running its exit handlers, /)
  })

  it.each(['', 'ulimit -n 60; '])('a program that closes low descriptors is recorded: %s', async (limit) => {
    const { code, stdout } = await run(`bash -c '${limit}exec ./reuses' && hf-record --with glibc -- ./reuses`)
    expect(code).toBe(0)
    expect(sizesOf(rowsOf(stdout))).toContain(5000)
  })

  it('the program runs on when the reader of the events goes away', async () => {
    const { stdout, stderr, code } = await run(
      "hf-record --with glibc -- bash -c 'for i in {1..3000}; do x=$i; done; echo done > ran-on' | head -n 1; cat ran-on",
    )
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.toString()).toMatch(/^\{"kind":"header".*\ndone\n$/)
  })

  it('the start-up object is compiled once, and without a cache each time', async () => {
    await run('hf-record --with glibc -o a -- true')
    const [object, ...others] = readdirSync(join(folder, 'cache', 'heapflow'))
    expect([object, others]).toEqual([expect.stringMatching(/^record-\w+-[0-9a-f]{16}\.so$/), []])
    expect((await run('CC=/nowhere hf-record --with glibc -o a -- true')).code).toBe(0)
    expect((await run('XDG_CACHE_HOME=/dev/null/none hf-record --with glibc -o a -- true')).code).toBe(0)
    expect(await run('XDG_CACHE_HOME=/dev/null/none CC=/nowhere hf-record --with glibc -- true')).toMatchObject({
      code: 2,
      stderr: 'hf-record: glibc needs a C compiler (cc): install it first; see hf-record --help\n',
    })
    expect((await run('XDG_CACHE_HOME=/dev/null/none CC=false hf-record --with glibc -- true')).stderr).toMatch(
      /^hf-record: false cannot compile the start-up object: status 1$/m,
    )
  })

  it('what cannot be recorded is an error', async () => {
    execFileSync('cc', ['-static', '-w', '-o', join(folder, 'static'), join(folder, 'leaks.c')])
    const { code, stderr } = await run('hf-record --with glibc -o a -- ./static')
    expect(code).toBe(3)
    expect(stderr).toMatch(/^hf-record: nothing was recorded: the program may be linked statically, /m)
  })

  it('the program does not run if the output cannot be written', async () => {
    const { code, stderr } = await run('hf-record --with glibc -o /nowhere/a -- touch touched')
    expect([code, stderr]).toEqual([1, 'hf-record: /nowhere/a: no such file or directory\n'])
    expect(existsSync(join(folder, 'touched'))).toBe(false)
  })

  it('nothing is left behind', async () => {
    const temporary = scratch()
    await run(
      `export TMPDIR=${temporary}; hf-record --with glibc -o a -- ./leaks; hf-record --with glibc -- ./killed > b`,
    )
    expect(readdirSync(temporary)).toEqual([])
  })
})

test.skipIf(!can('heaptrack'))('call stacks have the names of functions', async () => {
  const { code, stdout } = await run('hf-record --stack -- ./leaks')
  expect(code).toBe(3)
  const block = rowsOf(stdout).find(({ size }) => size === 2000) as Row & { stack?: string[] }
  expect(block.stack?.some((frame) => frame.includes('main'))).toBe(true)
})

test.skipIf(process.platform === 'win32').each([
  ['head -c 10; kill -9 $$', 0o700, 'filter was ended by SIGKILL'],
  ['head -c 10; exit 3', 0o700, 'filter ended with status 3'],
  ['head -c 10', 0o700, 'filter ended before the program'],
  ['cat; exit 3', 0o700, 'filter ended with status 3'],
  ['cat', 0o600, expect.stringMatching(/^filter cannot be run: .*EACCES/)],
  ['cat', 0o700, undefined],
])('a program runs on when the filter of its trace ends: %s', async (text, mode, fault) => {
  const place = scratch()
  writeFileSync(join(place, 'filter'), `#!/bin/sh\n${text}\n`, { mode })
  const pipe = new TracePipe(join(place, 'trace'), join(place, 'filter'))
  const program = spawn('sh', ['-c', `head -c 1000000 /dev/zero > ${place}/trace`], { stdio: 'ignore' })
  program.once('exit', () => pipe.programEnded())
  let bytes = 0
  for await (const chunk of pipe.source as AsyncIterable<Buffer>) bytes += chunk.length
  expect(await pipe.fault).toEqual(fault)
  if (text.startsWith('cat') && mode === 0o700) expect(bytes).toBe(1_000_000)
  if (fault === undefined) pipe.close()
  else await pipe.discard()
  expect(program.exitCode).toBe(0)
})

test.each([
  ['hf-record', 'name the program to record: hf-record -- COMMAND'],
  ['hf-record -o a', 'name the program to record: hf-record -- COMMAND'],
  [
    'hf-record --with perf -- ls',
    '--with must be one of heaptrack, glibc, valgrind, ltrace, not "perf": the kernel is recorded as docs/recording.md shows',
  ],
  ['hf-record --with valgrind --stack -- ls', 'valgrind records no call stacks; heaptrack does'],
])('%s is a usage error', async (line, message) => {
  expect(await run(line)).toMatchObject({ code: 2, stderr: `hf-record: ${message}; see hf-record --help\n` })
})

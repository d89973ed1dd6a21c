// @module-tag slow
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  ndjson,
  record,
  RecorderError,
  stats,
  type RecordedProgram,
  type RecordOptions,
} from '../../../lib/entry/index.js'
import { can } from '../../cli/record/programs.js'

const folder = mkdtempSync(join(tmpdir(), 'heapflow-library-'))
const at = (name: string) => join(folder, name)
afterAll(() => rmSync(folder, { recursive: true }))

const HEADERS = ['pthread', 'signal', 'stdio', 'stdlib', 'string', 'unistd', 'sys/wait']
  .map((name) => `#include <${name}.h>\n`)
  .join('')

const PROGRAMS = {
  leaks: `int main(int n, char **words) {
    char *kept = malloc(1000), *freed = malloc(2000);
    kept = realloc(kept, 3000);
    free(freed);
    puts(getenv("GREETING") ? getenv("GREETING") : "none");
    return n > 1 ? raise(atoi(words[1])) : 3;
  }`,
  /* Allocates for ever, and takes no notice of SIGTERM. */
  stays: `int main(int n, char **words) {
    signal(SIGTERM, SIG_IGN);
    if (n > 1 && strcmp(words[1], "parent") == 0 && fork() == 0) for (;;) { free(malloc(4000)); usleep(1000); }
    if (n > 1 && strcmp(words[1], "quiet") == 0) { free(malloc(6000)); setvbuf(stdout, NULL, _IONBF, 0); printf("ready\\n"); for (;;) pause(); }
    for (;;) free(malloc(5000));
  }`,
}

/** Processes of the programs that are there, and what recordings have left. */
function left(): string[] {
  const processes = readdirSync('/proc').flatMap((pid) => {
    try {
      const command = /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/cmdline`, 'latin1') : ''
      return command.includes(folder) ? [command] : []
    } catch {
      return []
    }
  })
  const own = readdirSync(tmpdir()).filter((name) => name.startsWith(`heapflow-record-${process.pid}-`))
  return [...processes, ...own]
}

/** The descriptors of this process that recordings have opened. */
const descriptors = () =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`)
      return path.includes('heapflow-record') ? [path] : []
    } catch {
      return []
    }
  })

async function sizesOf(program: RecordedProgram): Promise<(bigint | undefined)[]> {
  const sizes = []
  for await (const batch of program) for (const { kind, size } of batch) if (kind === 'alloc') sizes.push(size)
  return sizes
}

describe.skipIf(!can('recorder'))('record() (needs Linux on x86-64 and cc)', () => {
  const quiet: RecordOptions = { stdio: ['ignore', 'ignore', 'inherit'] }

  beforeAll(() => {
    for (const [name, text] of Object.entries(PROGRAMS)) {
      writeFileSync(at(`${name}.c`), HEADERS + text)
      execFileSync('cc', ['-O0', '-w', '-pthread', '-o', at(name), at(`${name}.c`)])
    }
    execFileSync('cc', ['-O0', '-w', '-static', '-o', at('static'), at('leaks.c')])
  })

  test('gives the events, the exit status and what the program writes, and leaves nothing', async () => {
    const program = record(['./leaks'], {
      cwd: folder,
      env: { ...process.env, GREETING: 'hello' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let events = 0
    program.on('events', (count) => (events += count))
    const [sizes, output] = await Promise.all([sizesOf(program), program.stdout?.toArray()])
    expect(sizes).toEqual(expect.arrayContaining([1000n, 2000n]))
    expect(events).toBeGreaterThanOrEqual(sizes.length)
    expect(String(output)).toBe('hello\n')
    expect([program.stdin, program.stderr]).toEqual([null, null])
    expect(await program.ended).toEqual({ status: 3 })
    expect(await program.close()).toEqual({ status: 3 })
    expect(program.kill()).toBe(false)
    expect(left()).toEqual([])
    // The system closes them a little later.
    await expect.poll(descriptors).toEqual([])
  })

  test('goes through a pipeline', async () => {
    const sink = stats()
    const program = record([at('leaks')], { ...quiet, stackDepth: 0 })
    await pipeline(program, sink)
    expect((await sink.result).leaked.bytes).toBeGreaterThanOrEqual(3000n)
    const lines = await record([at('leaks')], { ...quiet, freeStacks: true, children: false })
      .pipe(ndjson.encode())
      .toArray()
    expect(Buffer.concat(lines).toString()).toMatch(/"kind":"free".*"stack":/)
  })

  test('a signal that ends the program is a warning, and its status', async () => {
    const program = record([at('leaks'), '9'], quiet)
    const warnings: string[] = []
    program.on('warning', (text) => warnings.push(text))
    expect(await sizesOf(program)).toContain(2000n)
    expect(await program.ended).toEqual({ status: 137, signal: 'SIGKILL' })
    expect(warnings).toEqual(['recorder: the program was ended by SIGKILL'])
  })

  test('kill() sends a signal, after which all events come', async () => {
    const program = record([at('stays'), 'quiet'], { ...quiet, stdio: ['ignore', 'pipe', 'inherit'] })
    await program.stdout?.take(1).toArray()
    expect(program.kill('SIGKILL')).toBe(true)
    expect(await sizesOf(program)).toContain(6000n)
    expect(await program.ended).toEqual({ status: 137, signal: 'SIGKILL' })
  })

  const ways: [string, (options: RecordOptions) => Promise<void>][] = [
    [
      'leaving the loop',
      async (options) => {
        const program = record([at('stays'), 'parent'], options)
        for await (const batch of program) if (batch.count > 0) break
        expect(await program.ended).toEqual({ status: 137, signal: 'SIGKILL' })
        await program.close()
      },
    ],
    [
      'close() before anything is read',
      async (options) => {
        const program = record([at('stays'), 'parent'], options)
        await sleep(300)
        expect(await program.close()).toEqual({ status: 137, signal: 'SIGKILL' })
      },
    ],
    [
      'destroy() at once',
      async (options) => {
        const program = record([at('stays')], options)
        program.destroy()
        await new Promise((resolve) => program.once('close', resolve))
      },
    ],
    [
      'destroy() with an error',
      async (options) => {
        const program = record([at('stays')], options)
        program.once('data', () => program.destroy(new Error('enough')))
        await expect(new Promise((_, fail) => program.once('error', fail))).rejects.toThrow('enough')
        await program.close()
      },
    ],
    [
      'a signal',
      async (options) => {
        const controller = new AbortController()
        const program = record([at('stays'), 'parent'], { ...options, signal: controller.signal })
        setTimeout(() => controller.abort(), 300)
        await expect(sizesOf(program)).rejects.toMatchObject({ name: 'AbortError' })
        await program.close()
      },
    ],
    [
      'a pipeline that fails',
      async (options) => {
        const program = record([at('stays'), 'parent'], options)
        const fails = async (batches: AsyncIterable<unknown>) => {
          for await (const _ of batches) throw new Error('full')
        }
        await expect(pipeline(program, fails)).rejects.toThrow('full')
        await program.close()
      },
    ],
  ]
  test.each(ways)('%s ends the program and its children, and leaves nothing', async (_, end) => {
    await end(quiet)
    expect(left()).toEqual([])
    // The system closes them a little later.
    await expect.poll(descriptors).toEqual([])
  })

  test('a program that drops events runs on without a reader', async () => {
    const program = record([at('stays')], { ...quiet, drop: true })
    await sleep(500)
    let lost = 0n
    for await (const batch of program) {
      for (const event of batch) if (event.kind === 'lost') lost += event.count ?? 0n
      if (lost > 0n) break
    }
    expect(lost).toBeGreaterThan(0n)
    await program.close()
  })

  test('a program that is not there, and one that cannot be recorded', async () => {
    const program = record([at('missing')], quiet)
    await expect(sizesOf(program)).rejects.toThrow(`${at('missing')}: no such program`)
    await expect(sizesOf(record(['ls'], { ...quiet, cwd: at('missing') }))).rejects.toThrow(
      `${at('missing')}: no such folder`,
    )
    expect(await program.ended).toEqual({ status: 127 })
    expect(() => record(['./static'], { cwd: folder })).toThrow(
      /static is linked statically, so recorder cannot record it/,
    )
    expect(left()).toEqual([])
  })

  test.each<[string, string[], RecordOptions]>([
    ['ENOTDIR', [], { cwd: at('leaks.c') }],
    ['E2BIG', ['x'.repeat(200_000)], {}],
    ['ERR_INVALID_ARG_VALUE', [], { env: { ...process.env, A: 'a\0' } }],
  ])('what cannot be started is an error at once, and leaves nothing: %s', async (code, words, options) => {
    expect(() => record([at('leaks'), ...words], { ...quiet, ...options })).toThrow(expect.objectContaining({ code }))
    await vi.waitFor(() => expect([left(), descriptors()]).toEqual([[], []]))
  })

  test('wrong arguments are errors at once', () => {
    const wrong = (command: unknown, options?: unknown) => () => record(command as string[], options as RecordOptions)
    expect(wrong('ls -l')).toThrow(
      'record: the command must be an array of texts, a program and its arguments, not "ls -l"',
    )
    expect(wrong([])).toThrow(TypeError)
    expect(wrong(['ls'], { stackDepth: 2000 })).toThrow(RangeError)
    expect(wrong(['ls'], { stdio: ['pipe'] })).toThrow(RangeError)
    expect(wrong(['ls'], { with: 'mtrace' })).toThrow(RangeError)
    expect(wrong(['ls'], { shell: true })).toThrow(/unknown option "shell"/)
    expect(wrong(['ls'], { signal: AbortSignal.abort() })).toThrow(expect.objectContaining({ name: 'AbortError' }))
    if (can('glibc')) expect(wrong(['ls'], { with: 'glibc', drop: true })).toThrow(/drop needs heapflow's own recorder/)
  })
})

test.skipIf(!can('glibc'))(
  'other recorders: a program that a signal ends leaves a trace that is truncated',
  async () => {
    const program = record(['sh', '-c', 'kill -9 $$'], { with: 'glibc' })
    await expect(sizesOf(program)).rejects.toMatchObject({ code: 'ERR_TRACE_TRUNCATED' })
    expect(await program.ended).toEqual({ status: 137, signal: 'SIGKILL' })
  },
)

test.skipIf(!can('ltrace'))('the status of a program under a tracer is its own', async () => {
  const program = record(['sh', '-c', 'exit 7'], { with: 'ltrace' })
  await sizesOf(program)
  expect(await program.ended).toEqual({ status: 7 })
})

test('a recorder that is not installed is an error at once', () => {
  const path = process.env['PATH']
  try {
    process.env['PATH'] = '/nowhere'
    expect(() => record(['/bin/true'], { with: 'valgrind' })).toThrow(RecorderError)
  } finally {
    process.env['PATH'] = path
  }
})

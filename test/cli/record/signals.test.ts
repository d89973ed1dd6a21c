// @module-tag slow
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { commandLine, scratch } from '../../support/commands.js'
import { can, folder, rowsOf, run, sizesOf, started, testWith, usePrograms } from './programs.js'

usePrograms('daemon', 'counts', 'waits', 'leaks', 'killed')

/** Reads what a stream brings until it ends. */
async function text(stream: NodeJS.ReadableStream | null): Promise<string> {
  let all = ''
  for await (const chunk of stream ?? []) all += chunk
  return all
}

describe('a child that outlives the program', () => {
  for (const name of ['heaptrack', 'glibc'] as const)
    testWith(name)(`is not waited for, with ${name}`, async () => {
      const { code, stdout } = await run(`hf-record --with ${name} -o daemon.ndjson -- ./daemon`)
      process.kill(Number(stdout.toString()), 'SIGKILL')
      expect(code).toBe(4)
      const rows = rowsOf(readFileSync(join(folder, 'daemon.ndjson')))
      expect(sizesOf(rows)).toContain(5000)
      expect(rows.at(-1)?.kind).toBe('end')
    })

  testWith('valgrind')('is recorded until a signal ends the recording, whose events are kept', async () => {
    const temporary = scratch()
    const ready = join(folder, 'daemon.runs')
    rmSync(ready, { force: true })
    const child = await started(
      `env TMPDIR=${temporary} hf-record --with valgrind -o daemon.valgrind.ndjson -- ./daemon`,
    )
    const stderr = text(child.stderr)
    await expect.poll(() => existsSync(ready), { timeout: 60_000 }).toBe(true)
    expect(child.exitCode).toBeNull()
    // Whatever becomes of the process later, nothing is left of it.
    await expect.poll(() => readdirSync(temporary), { timeout: 60_000 }).toEqual([])
    // What valgrind wrote last may be in the pipe still.
    await sleep(1000)
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([4, null])
    expect(await stderr).toMatch(
      /truncated: SIGTERM came while a process that the program had started was still being recorded\n/,
    )
    const rows = rowsOf(readFileSync(join(folder, 'daemon.valgrind.ndjson.partial')))
    expect(sizesOf(rows)).toEqual(expect.arrayContaining([5000, 6000]))
    for (const pid of new Set(rows.map((row) => row.process))) if (pid !== undefined) killIfThere(pid)
  })
})

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

const hasPython = spawnSync('python3', ['-c', 'import pty']).status === 0

/** Runs a command line in a terminal, where SCRIPT in Python says what becomes of the terminal `fd` and the `pid`. */
async function inTerminal(line: string, script: string): Promise<void> {
  const program = `
import os, pty, signal, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execvp('bash', ['bash', '-c', sys.argv[1]])
while not os.path.exists('ready'): time.sleep(0.01)
${script}
`
  const child = spawn('python3', ['-c', program, commandLine(line)], { cwd: folder, stdio: 'ignore' })
  await once(child, 'exit')
}

/** Makes a process go on half a second after it has started another one. */
const LATE = `
import childProcess from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
const { spawn } = childProcess
childProcess.spawn = (...args) => {
  const child = spawn(...args)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
  return child
}
syncBuiltinESMExports()
`

/** The text of a file that is written soon. */
async function textOf(file: string): Promise<string> {
  for (let i = 0; i < 200 && !existsSync(join(folder, file)); i++) await sleep(50)
  return readFileSync(join(folder, file), 'utf8')
}

describe('in a terminal', { tags: ['slow'] }, () => {
  test.skipIf(!can('glibc') || !hasPython).each([
    ['closing it is one SIGHUP for the program', '; true', 'os.close(fd); time.sleep(1.5)'],
    ['closing it is one SIGHUP for the program, also of the first command', '', 'os.close(fd); time.sleep(1.5)'],
    ['Ctrl-C is one SIGINT for the program', '', `os.write(fd, b'\\x03'); os.read(fd, 100); time.sleep(1.5)`],
    [
      'Ctrl-C is one SIGINT also where no standard stream is the terminal',
      '</dev/null >/dev/null 2>&1',
      `os.write(fd, b'\\x03'); time.sleep(1.5)`,
    ],
    ['a SIGHUP from elsewhere is passed on', '', 'os.kill(pid, signal.SIGHUP); time.sleep(1.5)'],
    [
      'closing it is one SIGHUP for a program that runs before hf-record goes on, and no end of the recording',
      '; true',
      'os.close(fd); time.sleep(1.5)',
      'slow',
    ],
  ])('%s', async (_, streams, script, slow?: string) => {
    writeFileSync(join(folder, 'late.mjs'), LATE)
    for (const file of ['ready', 'hangups', 'counts.ndjson']) rmSync(join(folder, file), { force: true })
    const cache = `XDG_CACHE_HOME=${folder}/cache`
    await inTerminal(
      `${cache} ${slow === undefined ? '' : 'NODE_OPTIONS=--import=./late.mjs '}${streams === '; true' ? '' : 'exec '}hf-record --with glibc -o counts.ndjson -- ./counts ${streams}`,
      script,
    )
    expect(await textOf('hangups')).toBe('1')
    // hf-record goes on until the program has ended.
    expect(rowsOf(await textOf('counts.ndjson')).at(-1)?.kind).toBe('end')
  })
})

describe('a program that goes on after SIGINT', { tags: ['slow'] }, () => {
  /** Presses Ctrl-C, waits some seconds or until all has ended, notes whether it has, and so on. */
  const presses = (...waits: readonly number[]) => `
for seconds in ${JSON.stringify(waits)}:
    os.write(fd, b'\\x03')
    end = time.time() + seconds
    while time.time() < end and not os.path.exists('ended'): time.sleep(0.05)
    open('results', 'a').write('%s ' % os.path.exists('ended'))
os.kill(pid, signal.SIGKILL)
`
  const program = `sh -c 'trap "" INT TERM; touch ready; for i in $(seq 300); do sleep .1; done'`
  const lines = (['recorder', 'glibc', 'valgrind'] as const).flatMap((name) =>
    can(name) ? [`--with ${name} -o endless -- ${program}`, `--with ${name} -- ${program} | hf-stats`] : [],
  )
  if (can('recorder')) lines.push(`-o endless.hfrec -- ${program}`)

  test.skipIf(!hasPython).each(lines)('is ended by the second Ctrl-C: %s', async (line) => {
    for (const file of ['ready', 'ended', 'results']) rmSync(join(folder, file), { force: true })
    await inTerminal(`trap : INT; XDG_CACHE_HOME=${folder}/cache hf-record ${line}; touch ended`, presses(1, 15))
    expect(await textOf('results')).toBe('False True ')
    if (line.includes('| ')) return
    const [kept] = readdirSync(folder).filter((name) => name.startsWith('endless')) as [string]
    expect((await run(`hf-convert --to ndjson ${kept}`)).stdout.toString()).toContain('"kind":"alloc"')
    rmSync(join(folder, kept))
  })

  test.skipIf(!hasPython || !can('recorder'))('gets a Ctrl-C that comes later', async () => {
    for (const file of ['ready', 'ended', 'results']) rmSync(join(folder, file), { force: true })
    const line = `hf-record --with recorder -o endless.hfrec -- ${program}`
    await inTerminal(`trap : INT; XDG_CACHE_HOME=${folder}/cache ${line}; touch ended`, presses(3.5, 1, 15))
    expect(await textOf('results')).toBe('False False True ')
    rmSync(join(folder, 'endless.hfrec'))
  })
})

describe('folders for temporary files', () => {
  test.skipIf(!can('glibc'))(
    'are removed by the next recording if their process was killed',
    { tags: ['slow'] },
    async () => {
      const temporary = scratch()
      const child = await started(`env TMPDIR=${temporary} hf-record --with glibc -o waits.ndjson -- ./waits`)
      const [left] = readdirSync(temporary) as [string]
      expect(left).toMatch(/^heapflow-record-\d+-\w{6}$/)
      // It is in use.
      const old = new Date(Date.now() - 600_000)
      utimesSync(join(temporary, left), old, old)
      const record = `TMPDIR=${temporary} hf-record --with glibc -o a -- ./leaks`
      await run(record)
      expect(readdirSync(temporary)).toEqual([left])
      child.kill('SIGKILL')
      await once(child, 'exit')
      utimesSync(join(temporary, left), old, old)
      // Names of other folders, and one that is too young to be sure.
      for (const name of [
        'heapflow-record-x-123456',
        'heapflow-record-4194399-12345',
        'heapflow-record-4194399-abcdef',
      ])
        mkdirSync(join(temporary, name))
      utimesSync(join(temporary, 'heapflow-record-x-123456'), old, old)
      await run(record)
      expect(readdirSync(temporary).toSorted()).toEqual([
        'heapflow-record-4194399-12345',
        'heapflow-record-4194399-abcdef',
        'heapflow-record-x-123456',
      ])
    },
  )

  for (const name of ['heaptrack', 'glibc', 'valgrind', 'ltrace'] as const)
    testWith(name)(
      `are never left behind, with ${name}, nor is their path misread`,
      { tags: [name === 'glibc' ? 'slow' : 'large'] },
      async () => {
        for (const part of ['plain', 'a b', 'a%pb%%', 'a:b', 'a$$b']) {
          const temporary = join(scratch(), part)
          mkdirSync(temporary)
          const { code, stdout, stderr } = await run(`TMPDIR='${temporary}' hf-record --with ${name} -- ./leaks`)
          expect([code, stderr]).toEqual([3, expect.stringContaining('to standard output\n')])
          expect(sizesOf(rowsOf(stdout))).toContain(3000)
          await run(`TMPDIR='${temporary}' hf-record --with ${name} -- ./killed > b`)
          expect(readdirSync(temporary)).toEqual([])
        }
      },
    )
})

// @module-tag slow
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { can, compile, folder, rowsOf, run, sizesOf, testWith, usePrograms } from './programs.js'

usePrograms('leaks', 'forks', 'waits')

/** What is shown: how to start the reader, the environment, and how to start both. */
async function shown(line: string): Promise<{ reader: string; env: NodeJS.ProcessEnv; both: string; memory: string }> {
  const { code, stdout, stderr } = await run(`hf-record --print-preload ${line}`)
  expect([code, stderr]).toEqual([0, ''])
  const lines = stdout.toString().split('\n')
  const [reader, library, memory, both] = lines.filter((text) => text !== '' && !text.startsWith('#')) as string[]
  const env = Object.fromEntries([library, memory].map((text) => (text as string).split('=')))
  return { reader: reader as string, env, both: both as string, memory: env['HEAPFLOW_RECORDER'] as string }
}

/** Starts a reader, and waits until it is ready. */
async function startReader(line: string, memory: string) {
  const child = spawn('sh', ['-c', `exec ${line}`], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] })
  for (let i = 0; i < 200 && !existsSync(memory); i++) await sleep(10)
  expect(existsSync(memory)).toBe(true)
  return { child, ended: once(child, 'exit') }
}

async function sizesIn(file: string): Promise<(number | undefined)[]> {
  const { code, stdout, stderr } = await run(`recorder-decode ${file}`)
  expect([code, stderr]).toEqual([0, ''])
  return sizesOf(rowsOf(stdout))
}

describe('--print-preload', () => {
  testWith('recorder')('a program that is started by hand is recorded, with what it forks', async () => {
    const { reader, env, memory } = await shown('-o "by hand.hfrec"')
    expect(reader).toContain("/by hand.hfrec' ")
    const { ended } = await startReader(reader, memory)
    // The environment of a service has nothing else.
    const program = spawn('./forks', { cwd: folder, env, stdio: 'ignore' })
    expect(await once(program, 'exit')).toEqual([3, null])
    expect(await ended).toEqual([0, null])
    expect(existsSync(memory)).toBe(false)
    const sizes = await sizesIn('"by hand.hfrec"')
    expect(sizes).toEqual(expect.arrayContaining([1111, 3333]))
    expect(sizes.filter((size) => size === 2222)).toHaveLength(50)
  })

  testWith('recorder')('SIGTERM ends the recording, and the program runs on', async () => {
    const { reader, env, memory } = await shown('-o stopped.hfrec --no-stacks')
    const { child, ended } = await startReader(reader, memory)
    const program = spawn('./waits', { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] })
    await once(program.stdout, 'data')
    await sleep(100)
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    expect(program.exitCode).toBeNull()
    program.kill('SIGTERM')
    expect(await once(program, 'exit')).toEqual([55, null])
    expect(await sizesIn('stopped.hfrec')).toContain(5000)
  })

  testWith('recorder')(
    'a reader of no program ends by a signal; a program without a reader runs as usual',
    async () => {
      const { reader, env, memory } = await shown('-o none.hfrec')
      const program = spawn('./leaks', { cwd: folder, env, stdio: 'ignore' })
      expect(await once(program, 'exit')).toEqual([3, null])
      const { child, ended } = await startReader(reader, memory)
      await sleep(400)
      expect(child.exitCode).toBeNull()
      child.kill('SIGINT')
      expect(await ended).toEqual([0, null])
      expect(await sizesIn('none.hfrec')).toEqual([undefined, undefined])
    },
  )

  testWith('recorder')('one command starts both, and ends as the program does', async () => {
    const { both } = await shown('-o both.hfrec --stack-depth 3 -- ./leaks "a b"')
    expect(both).toMatch(/ 3 -cz \.\/leaks 'a b'$/)
    expect(await run(both)).toMatchObject({ code: 3, stderr: '' })
    expect(await sizesIn('both.hfrec')).toContain(2000)
  })

  testWith('recorder')('refuses what would do nothing', async () => {
    for (const [line, message] of [
      ['', 'needs -o FILE.hfrec'],
      ['-o a.ndjson', 'needs -o FILE.hfrec'],
      ['-o a.hfrec --no-children', 'and --no-children exclude each other'],
      ['-o a.hfrec --gzip', 'and --gzip exclude each other'],
      ['-o a.hfrec --to mtrc', 'and --to exclude each other'],
      ['-o a.hfrec --with valgrind', 'needs --with recorder, not valgrind'],
    ] as const) {
      const { code, stderr } = await run(`hf-record --print-preload ${line}`)
      expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
    }
    const { code, stderr } = await run(
      `export CC="\${CC:-cc}" XDG_CACHE_HOME='${folder}/a b'; hf-record --print-preload -o a.hfrec`,
    )
    expect([code, stderr]).toEqual([1, expect.stringContaining('name another folder in XDG_CACHE_HOME')])
    // No folder can be made there.
    const none = await run(`export CC="\${CC:-cc}" XDG_CACHE_HOME=/proc; hf-record --print-preload -o a.hfrec`)
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('cannot be kept in /proc/heapflow')])
  })
})

describe('programs that the recorder cannot be loaded into', () => {
  const refused = async (program: string) => {
    for (const line of [`hf-record -- ${program}`, `hf-record --print-preload -o a.hfrec -- ${program}`]) {
      const { code, stdout, stderr } = await run(line)
      expect([code, stdout.toString()]).toEqual([1, ''])
      expect(stderr.split('\n')).toHaveLength(2)
      if (line.includes('print')) return stderr.trim()
    }
    return ''
  }

  testWith('recorder')('are named, with what to do', async () => {
    compile('leaks', 'static', '-static')
    expect(await refused('./static')).toBe(
      'hf-record: ./static is linked statically, so recorder cannot record it: link it without -static, so that the C library is loaded',
    )
    compile('leaks', 'musl', '-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1')
    expect(await refused('./musl')).toBe(
      'hf-record: ./musl uses another C library (/lib/ld-musl-x86_64.so.1), so recorder cannot record it: build it for glibc, or see whether --with valgrind can',
    )
    // Only the name of the library is looked at.
    execFileSync('cc', ['-shared', '-o', join(folder, 'libtsan.so.2'), '-x', 'c', '/dev/null'])
    compile('leaks', 'checked', '-Wl,--no-as-needed', `-L${folder}`, '-l:libtsan.so.2')
    expect(await refused('./checked')).toBe(
      'hf-record: ./checked is compiled with -fsanitize=thread, so recorder cannot record it: compile it without',
    )
    mkdirSync(join(folder, 'old'))
    writeFileSync(join(folder, 'old/ld.so'), '')
    writeFileSync(join(folder, 'old/libc.so.6'), '\0GNU C Library (GNU libc) stable release version 2.16, by others\0')
    compile('leaks', 'aged', `-Wl,--dynamic-linker=${folder}/old/ld.so`)
    const text = await refused('./aged')
    // The version depends on the glibc for which the recorder was compiled.
    expect(text.replace(/use glibc 2\.(?:1[7-9]|[2-9]\d) /, 'use glibc N ')).toBe(
      `hf-record: ./aged uses glibc 2.16 (${folder}/old/ld.so), so recorder cannot record it: use glibc N or later, or see whether --with valgrind can`,
    )
    // The header says that it is for arm64.
    const bytes = readFileSync(join(folder, 'leaks'))
    bytes.writeUInt16LE(183, 18)
    writeFileSync(join(folder, 'arm'), bytes, { mode: 0o755 })
    expect(await refused('./arm')).toBe(
      'hf-record: ./arm is a program for another architecture (arm64), so recorder cannot record it: record it on a machine of that architecture',
    )
    bytes[4] = 1
    bytes.writeUInt16LE(3, 18)
    bytes.writeUInt32LE(64, 28)
    bytes.writeUInt16LE(32, 42)
    bytes.writeUInt16LE(1, 44)
    bytes.fill(0, 64, 96)
    bytes.writeUInt32LE(3, 64)
    writeFileSync(join(folder, 'small'), bytes, { mode: 0o755 })
    expect(await refused('./small')).toBe(
      'hf-record: ./small is a program for 32 bits, so recorder cannot record it: see whether --with valgrind can',
    )
    if (process.getuid?.() !== 0) return
    copyFileSync(join(folder, 'leaks'), join(folder, 'other'))
    execFileSync('chown', ['65534:65534', join(folder, 'other')])
    chmodSync(join(folder, 'other'), 0o4755)
    expect(await refused('./other')).toBe(
      'hf-record: ./other runs with the rights of another user, so recorder cannot record it: run hf-record as that user, or see whether --with valgrind can',
    )
  })

  test.skipIf(!can('recorder'))('a machine whose glibc is too old is named', async () => {
    writeFileSync(
      join(folder, 'old-cc'),
      `#!/bin/sh\n[ "$1" = --version ] && exit\necho 'state.h:26:2: error: #error "heapflow needs glibc 2.17"' >&2; exit 1\n`,
      { mode: 0o755 },
    )
    const { code, stderr } = await run(
      `CC=${folder}/old-cc XDG_CACHE_HOME=${folder}/empty hf-record --with recorder -- ./leaks`,
    )
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^hf-record: the recorder needs a C compiler and glibc 2\.17 or later \(/),
    ])
  })
})

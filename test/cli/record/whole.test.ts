// @module-tag slow
import { chmodSync, chownSync, copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { can, compile, folder, rowsOf, run, sizesOf, testWith, usePrograms } from './programs.js'

usePrograms('leaks', 'leaves', 'silent')

const hasPrinter = spawnSync('heaptrack_print', ['--version']).error === undefined

describe('a program that leaves without its exit handlers', () => {
  for (const name of ['heaptrack', 'glibc'] as const)
    for (const stack of name === 'heaptrack' ? ['', ' --stack'] : [''])
      testWith(name)(`has a truncated trace, with ${name}${stack}`, async () => {
        const { code, stderr, stdout } = await run(`hf-record --with ${name}${stack} -- ./leaves`)
        expect(code).toBe(1)
        expect(stderr).toMatch(
          /^hf-record: [\w-]+: byte \d+: truncated: the program left without running its exit handlers, or became another one\n$/,
        )
        expect(sizesOf(rowsOf(stdout)).filter((size) => size === 5000).length).toBeGreaterThan(100)
        expect(rowsOf(stdout).at(-1)?.kind).not.toBe('end')
      })

  testWith('heaptrack')('and before anything was written, has no trace, which is said as it is', async () => {
    expect(await run(`hf-record --with heaptrack -- sh -c 'exec ./leaks'`)).toMatchObject({
      code: 3,
      stderr:
        'to standard output\nhf-record: nothing was recorded: sh left without running its exit handlers, or became ' +
        'another program, before heaptrack wrote anything\n',
    })
  })

  testWith('heaptrack')('and by a signal, has none, which names the signal', async () => {
    expect(await run(`hf-record --with heaptrack -- sh -c 'kill -9 $$'`)).toMatchObject({
      code: 137,
      stderr: 'hf-record: nothing was recorded: sh was ended by SIGKILL, before heaptrack wrote anything\n',
    })
  })

  // bash has functions of its own for the environment, so programs that it starts have the recorder in theirs.
  testWith('heaptrack')('and becomes another one, which has the same environment, has a truncated trace', async () => {
    for (const stack of ['', '--stack ']) {
      const { code, stdout, stderr } = await run(`hf-record ${stack}--with heaptrack -- bash -c 'exec ./leaks'`)
      expect(code).toBe(3)
      expect(stderr).toMatch(/truncated: the program left without running its exit handlers, or became another one\n/)
      expect(sizesOf(rowsOf(stdout))).not.toContain(3000)
    }
  })

  testWith('heaptrack')('is not taken for one that starts others, which have the same environment', async () => {
    const { code, stdout, stderr } = await run(
      `hf-record --with heaptrack -- bash -c './leaks; ./leaks; ./leaks; false'`,
    )
    expect(code).toBe(1)
    // heaptrack says of the first that it cannot have the trace, too.
    expect(stderr.replaceAll(/^(?:ERROR: failed to lock .*|to standard output)\n/gm, '')).toBe('')
    expect(sizesOf(rowsOf(stdout)).filter((size) => size === 2000)).toEqual([])
    expect(rowsOf(stdout).at(-1)?.kind).toBe('end')
  })

  testWith('heaptrack')('is not suspected where it has many threads and destructors', async () => {
    for (let i = 0; i < 5; i++) expect((await run('hf-record --with heaptrack -o a -- git --version')).code).toBe(0)
  })
})

describe('a program that no library can be loaded into', () => {
  for (const name of ['heaptrack', 'glibc'] as const)
    testWith(name)(`does not run in vain, with ${name}`, async () => {
      compile('leaks', 'static', '-static')
      writeFileSync(join(folder, 'script'), '#!/usr/bin/env ./static\n')
      chmodSync(join(folder, 'script'), 0o755)
      for (const program of ['./static', './script'])
        expect(await run(`hf-record --with ${name} -- ${program}`)).toMatchObject({
          code: 1,
          stderr: `hf-record: ./static is linked statically, so ${name} cannot record it: link it without -static, so that the C library is loaded\n`,
        })
      if (process.getuid?.() !== 0) return
      copyFileSync(join(folder, 'leaks'), join(folder, 'other'))
      chownSync(join(folder, 'other'), 65_534, 65_534)
      chmodSync(join(folder, 'other'), 0o4755)
      expect((await run(`hf-record --with ${name} -- ./other`)).stderr).toBe(
        `hf-record: ./other runs with the rights of another user, so ${name} cannot record it: run hf-record as that user, or see whether --with valgrind can\n`,
      )
    })

  for (const name of ['valgrind', 'ltrace'] as const)
    testWith(name)(`does not run in vain, with ${name}, which finds no allocator in it either`, async () => {
      compile('leaks', 'static', '-static')
      expect(await run(`hf-record --with ${name} -- ./static`)).toMatchObject({
        code: 1,
        stderr: `hf-record: ./static is linked statically, so ${name} cannot record it: link it without -static, so that the C library is loaded\n`,
      })
    })
})

describe('files for heaptrack', () => {
  testWith('heaptrack')('are interpreted ones, which heaptrack_print reads, unless their names say raw', async () => {
    const first = (file: string) => readFileSync(join(folder, file), 'latin1').split('\n')
    expect((await run('hf-record --stack -o leaks.heaptrack -- ./leaks')).code).toBe(3)
    expect(first('leaks.heaptrack').some((line) => line.startsWith('i '))).toBe(true)
    expect((await run('hf-record --with heaptrack -o leaks.heaptrack.raw -- ./leaks')).code).toBe(3)
    expect(first('leaks.heaptrack.raw')[1]).toMatch(/^x /)
    if (!hasPrinter) return
    const { stdout } = await run('heaptrack_print leaks.heaptrack')
    expect(stdout.toString()).toMatch(/leaked.*\n/)
    expect(stdout.toString()).toContain('main')
  })
})

describe('a program that allocates nothing', () => {
  test.skipIf(!can('ltrace'))('is recorded with a warning', async () => {
    const { code, stderr } = await run('hf-record --with ltrace -o silent.ndjson -- ./silent')
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/^hf-record: warning: no events were recorded: the program allocated nothing, or has /m),
    ])
    expect(existsSync(join(folder, 'silent.ndjson'))).toBe(true)
  })
})

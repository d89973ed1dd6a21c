// @module-tag slow
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { scratch } from '../../support/commands.js'
import { folder, rowsOf, run, sizesOf, testWith, usePrograms } from './programs.js'

usePrograms('leaks', 'forks', 'leaves', 'closes', 'reuses', 'killed', 'silent')

describe('with glibc', () => {
  const it = testWith('glibc')

  it('programs that the program starts have the environment as it was', async () => {
    // What the tests themselves have.
    const own = Object.keys(process.env).filter((name) => name.startsWith('HEAPFLOW'))
    const shows = `env | grep -E "PRELOAD|MALLOC|HEAPFLOW" | grep -vE "^(${own.join('|')})="; true`
    const { stdout } = await run(`LD_PRELOAD=libm.so.6 hf-record --with glibc -o /dev/null -- bash -c '${shows}'`)
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

  it.each([
    ['', 200],
    // The trace has the highest number that there is.
    ['ulimit -n 60; ', 59],
  ])('a program that closes low descriptors is recorded: %s%i', async (limit, n) => {
    const { code, stdout } = await run(`${limit}hf-record --with glibc -- ./reuses ${n}`)
    expect(code).toBe(0)
    expect(sizesOf(rowsOf(stdout))).toContain(5000)
    const { stderr } = await run(`${limit}hf-record --with glibc -- ./reuses ${n + 1}`)
    expect(stderr).toMatch(/truncated: the program left without running its exit handlers, /)
  })

  it('the program runs on when the reader of the events goes away', async () => {
    const { stdout, stderr, code } = await run(
      "hf-record --with glibc -- bash -c 'for i in {1..3000}; do x=$i; done; echo done > ran-on' | head -n 1; cat ran-on",
    )
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.toString()).toMatch(/^\{"kind":"header".*\ndone\n$/)
  })

  it('the start-up object is compiled once, and without a cache each time', { tags: ['slow'] }, async () => {
    const cache = scratch()
    const record = (settings: string) => run(`XDG_CACHE_HOME=${cache} ${settings} hf-record --with glibc -o a -- true`)
    // A compiler that counts how often it compiles.
    writeFileSync(
      join(cache, 'gcc'),
      `#!/bin/sh\ncase "$*" in *-shared*) echo >> ${cache}/count;; esac\nexec cc "$@"\n`,
    )
    chmodSync(join(cache, 'gcc'), 0o755)
    const compiled = () => statSync(join(cache, 'count')).size
    expect((await record(`CC='${cache}/gcc  -g '`)).code).toBe(0)
    const [object, ...others] = readdirSync(join(cache, 'heapflow'))
    expect([object, others]).toEqual([expect.stringMatching(/^record-\w+-[0-9a-f]{16}\.so$/), []])
    expect((await record(`CC=${cache}/gcc`)).code).toBe(0)
    expect(compiled()).toBe(1)
    expect((await record('CC=/nowhere')).code).toBe(0)
    expect((await record('XDG_CACHE_HOME=/dev/null/none')).code).toBe(0)
    expect(await record('XDG_CACHE_HOME=/dev/null/none CC=/nowhere')).toMatchObject({
      code: 2,
      stderr: 'hf-record: glibc needs a C compiler (cc): install it first; see hf-record --help\n',
    })
    expect((await record('XDG_CACHE_HOME=/dev/null/none CC=false')).stderr).toMatch(
      /^hf-record: false cannot compile the start-up object: status 1$/m,
    )
    // Where others can write, they can put anything into programs that are recorded.
    const path = join(cache, 'heapflow', object as string)
    for (const [file, mode] of [
      [path, 0o666],
      [join(cache, 'heapflow'), 0o777],
    ] as const) {
      const before = statSync(file).mode
      chmodSync(file, mode)
      expect((await record('CC=/nowhere')).code).toBe(2)
      chmodSync(file, before)
    }
    expect((await record('CC=/nowhere')).code).toBe(0)
    if (process.getuid?.() === 0) {
      chownSync(path, 65_534, 65_534)
      expect((await record('CC=/nowhere')).code).toBe(2)
    }
  })

  it('a cache folder whose path is relative is ignored', async () => {
    const place = scratch()
    const { code } = await run(`HOME=${place} XDG_CACHE_HOME=relative hf-record --with glibc -o a -- true`)
    expect(code).toBe(0)
    expect(readdirSync(join(place, '.cache', 'heapflow'))).toHaveLength(1)
    expect(existsSync(join(folder, 'relative'))).toBe(false)
  })

  it.each(['a b', 'a:b', 'a$ORIGIN'])('a cache folder may be called %s', { tags: ['slow'] }, async (name) => {
    const cache = join(scratch(), name)
    mkdirSync(cache)
    for (let i = 0; i < 2; i++) {
      const { code, stdout, stderr } = await run(`XDG_CACHE_HOME='${cache}' hf-record --with glibc -- ./leaks`)
      expect([code, stderr]).toEqual([3, 'to standard output\n'])
      expect(sizesOf(rowsOf(stdout))).toContain(3000)
    }
    expect(readdirSync(join(cache, 'heapflow'))).toHaveLength(1)
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

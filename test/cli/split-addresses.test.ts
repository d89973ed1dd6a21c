// @module-tag slow
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { scratch, shell } from '../support/commands.js'

const NAME = fileURLToPath(new URL('../fixtures/hatf/espresso-head.hatf', import.meta.url))
const TRACE = readFileSync(NAME)
/** Longer than the pipes and queues that it goes through. */
const LONG = Buffer.concat(
  Array.from({ length: 100_000 }, (_, i) => Buffer.from([0, 0, 0, 0, 24, 8, i >> 16, i >> 8, i])),
)

describe('hatf-split and hatf-join', () => {
  test.each([
    ['-a a.bin', 'rest.bin', ['a.bin']],
    ['-a a.bin.gz', 'rest.bin.gz', ['a.bin.gz']],
    ["-a '{}.bin' --field size --field address --encoded", 'rest.bin', ['address.bin', 'size.bin']],
    ["-a 'x' --field address --field address", 'rest.bin', ['x']],
  ])('%s -o %s: byte for byte', async (flags, rest, files) => {
    const folder = scratch()
    const { code, stdout, stderr } = await shell(
      `cd ${folder} && hatf-split ${flags} ${NAME} -o ${rest} && hatf-join ${flags} ${rest}`,
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.equals(TRACE)).toBe(true)
    expect(readdirSync(folder).toSorted()).toEqual([...files, rest].toSorted())
  })

  test('through pipes, compressed', async () => {
    const folder = scratch()
    const { code, stdout } = await shell(
      `cd ${folder} && gzip -c ${NAME} | hatf-split -a a.bin -z > rest.gz && hatf-join -a a.bin -z - < rest.gz`,
    )
    expect(code).toBe(0)
    expect(gunzipSync(stdout).equals(TRACE)).toBe(true)
    expect(gunzipSync(readFileSync(join(folder, 'rest.gz'))).length).toBeLessThan(TRACE.length)
  })

  test('nothing is left half-written in silence', async () => {
    const folder = scratch()
    const tail = `${folder}/a.bin >`
    for (const [line, message] of [
      [
        `hatf-split -a ${folder}/a.bin | head -c 10 > ${folder}/head; exit \${PIPESTATUS[0]}`,
        'hatf-split: the reader of an output closed it before its end; the other outputs are not complete\n' +
          `hatf-split: the incomplete output is in ${folder}/a.bin.partial\n`,
      ],
      ['hatf-split -a /dev/full > /dev/null', 'hatf-split: cannot write: no space left on device\n'],
      [
        `hatf-split -a ${tail} /dev/full`,
        `hatf-split: cannot write: no space left on device\nhatf-split: the incomplete output is in ${folder}/a.bin.partial\n`,
      ],
    ] as const) {
      expect(await shell(line, LONG)).toMatchObject({ code: 1, stderr: message })
    }
  })

  test('a trace that is cut: what was whole, and exit 1', async () => {
    const folder = scratch()
    const { code, stderr, stdout } = await shell(`hatf-split -a ${folder}/a.bin`, LONG.subarray(0, -1))
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'hatf-split: stdin: hatf: byte 899991, event 100000: truncated: the stream ends inside a record\n' +
        `hatf-split: the incomplete output is in ${folder}/a.bin.partial\n`,
    })
    expect(stdout.length).toBe(99_999 * 5)
    expect(readFileSync(join(folder, 'a.bin.partial')).length).toBe(99_999 * 4)
  })

  test('files are opened when there is something to write', async () => {
    const folder = scratch()
    writeFileSync(join(folder, 'a.bin'), 'precious')
    const { code } = await shell(`cd ${folder} && hatf-split -a a.bin -o rest.bin`, 'this is no trace')
    expect(code).toBe(1)
    expect(existsSync(join(folder, 'rest.bin'))).toBe(false)
    expect(readFileSync(join(folder, 'a.bin'), 'utf8')).toBe('precious')
    // A trace without addresses has an empty file of them.
    await shell(`cd ${folder} && hatf-split -a a.bin -o rest.bin`, Buffer.from([6]))
    expect(readFileSync(join(folder, 'a.bin')).length).toBe(0)
  })

  test.each([
    ['hatf-split', 'name the file of the addresses with -a'],
    ['hatf-split -a same -o ./same', 'each output needs a name of its own'],
    ['hatf-split -a - ', 'each output needs a name of its own'],
    ['hatf-split -a test/../same -o same', 'each output needs a name of its own'],
    [
      'hatf-split -a a --field size --field colour',
      '--field must be one of size, address, time, thread, heap, attributes, not "colour"',
    ],
    ['hatf-split -a a --field size --field time', 'needs {} in it'],
    [`hatf-split -a ${NAME} ${NAME}`, 'is the input too'],
    [`hatf-join -a ${NAME} -o ${NAME}`, 'is the input too'],
    ['hatf-join -a -', 'standard input can be read only once'],
  ])('%s makes no sense', async (line, message) => {
    const { code, stderr } = await shell(line)
    expect(code).toBe(2)
    expect(stderr).toContain(message)
  })

  test('files that do not belong together', async () => {
    const folder = scratch()
    await shell(`cd ${folder} && hatf-split -a a.bin -o rest.bin`, LONG)
    const short = await shell(`cd ${folder} && head -c 1000 a.bin | hatf-join -a - rest.bin -o out`)
    expect(short).toMatchObject({
      code: 1,
      stderr:
        'hatf-join: rest.bin: hatf: byte 1000, event 251: truncated: the address stream ends before the trace does\n' +
        'hatf-join: the incomplete output is in out.partial\n',
    })
    expect(readFileSync(join(folder, 'out.partial')).equals(LONG.subarray(0, 2250))).toBe(true)
    expect(await shell(`cd ${folder} && hatf-join -a nothing rest.bin`)).toMatchObject({
      code: 1,
      stderr: 'hatf-join: nothing: no such file or directory\n',
    })
  })
})

describe('hatf-encode --split-addr', () => {
  test('is smaller, and read by every command', async () => {
    const folder = scratch()
    const lines = (await shell(`hatf-decode ${NAME}`)).stdout.toString()
    const { code } = await shell(
      `cd ${folder} && hatf-encode --split-addr ${NAME} -o a.hatf && hatf-encode ${NAME} -o b.hatf.gz && hf-convert a.hatf c.hatf --split-addr --split-level 9`,
    )
    expect(code).toBe(0)
    const size = (name: string) => readFileSync(join(folder, name)).length
    expect(size('a.hatf')).toBeLessThan(size('b.hatf.gz'))
    expect(size('c.hatf')).toBeLessThanOrEqual(size('a.hatf'))
    for (const line of [
      'hatf-decode a.hatf',
      'cat c.hatf | hatf-decode',
      'hf-filter a.hatf',
      'gzip -c c.hatf | hf-convert - - --to ndjson',
    ]) {
      expect((await shell(`cd ${folder} && ${line}`)).stdout.toString()).toBe(lines)
    }
  })

  test('tells where damage is', async () => {
    const { stdout } = await shell('hatf-encode --split-addr', LONG)
    const broken = Buffer.from(stdout)
    broken[100] = broken[100] ^ 1
    expect(await shell('hatf-decode', broken)).toMatchObject({
      code: 1,
      stderr: 'hatf-decode: stdin: hatf: byte 16, event 1: malformed: the CRC-32 of a block is wrong\n',
    })
    expect((await shell('hatf-decode', stdout.subarray(0, -1))).stderr).toMatch(
      /event 100001: truncated: the file ends inside a block/,
    )
    expect((await shell('hatf-encode --split-addr --split-level 10', LONG)).code).toBe(2)
  })
})

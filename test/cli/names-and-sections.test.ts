// @module-tag slow
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { events } from '../../lib/entry/index.js'
import { scratch, shell } from '../support/commands.js'

const MTRC = 'test/fixtures/mtrc/small64.mtrc.gz'
const HEAPTRACK = 'test/fixtures/heaptrack/cxx.heaptrack.gz'

/** A line for each event, without the header and the end. */
const lines = (text: Buffer) => text.toString().split('\n').slice(1, -2)

describe('the name of the output', () => {
  test('of hf-convert may be given with -o', async () => {
    const file = join(scratch(), 'x.ndjson')
    const { code } = await shell(`hf-convert ${MTRC} -o ${file}`)
    expect([code, lines(readFileSync(file)).length > 100]).toEqual([0, true])
    const twice = await shell(`hf-convert ${MTRC} ${file} -o ${file}`)
    expect(twice).toMatchObject({ code: 2, stderr: expect.stringContaining('FROM and TO (or -o TO)') as string })
  })

  test.each([
    ['x.foo', 2],
    ['x.foo.gz', 2],
    ['x', 0],
    ['x.gz', 0],
    ['.x', 0],
    ['x.2', 0],
    ['x.jsonl', 0],
  ])('%s', async (name, status) => {
    const { code, stderr } = await shell(`hf-filter -o ${join(scratch(), name)} ${MTRC}`)
    expect(code).toBe(status)
    expect(stderr.includes('no format has names that end in .foo, as .mtrc, .ndjson')).toBe(status === 2)
  })

  test('of hf-profile may end in .pb', async () => {
    const file = join(scratch(), 'x.pb')
    expect(await shell(`hf-profile -o ${file} ${MTRC}`)).toMatchObject({ code: 0, stderr: '' })
    expect([...readFileSync(file).subarray(0, 2)]).toEqual([0x1f, 0x8b])
  })
})

describe('hf-stats', () => {
  test('writes the chosen sections as JSON', async () => {
    const keysOf = async (flags: string) =>
      Object.keys(JSON.parse((await shell(`hf-stats --json ${flags} ${MTRC}`)).stdout.toString()) as object)
    const always = ['complete', 'filtered', 'identified', 'exact', 'full']
    expect((await keysOf('--section leaks')).toSorted()).toEqual(
      [...always, 'leaked', 'sites', 'processes', 'threads'].toSorted(),
    )
    const both = await keysOf('--section sizes --section reallocs')
    expect(both.toSorted()).toEqual([...always, 'sizes', 'reallocs'].toSorted())
  })

  const peakOf = async (flags: string) =>
    (await shell(`hf-stats --section peak ${flags} ${HEAPTRACK}`)).stdout.toString().split('\n')

  test('shows as many frames as fit, or as are asked for', async () => {
    const depths = async (flag: string) => (await peakOf(`--show all ${flag}`)).map((line) => line.split(' < ').length)
    expect((await depths('--depth 2'))[2]).toBe(3)
    expect(Math.max(...(await depths('--full')))).toBe(7)
    expect(Math.max(...(await depths('--depth 9')))).toBeGreaterThan(7)
  })

  test('begins rows with the function of the program, in short', async () => {
    const lines = await peakOf('')
    expect(lines.find((line) => line.includes(' 35,200 '))).toMatch(
      / 400 {2}main at cxx\.cpp:12 < \.\.\., via std::map<\.\.\.>/,
    )
    // What is wider tells rows apart.
    for (const line of lines.slice(1)) expect(line.length <= 100 || /, via | < \.\.\. < /.test(line)).toBe(true)
    expect(new Set(lines).size).toBe(lines.length)
    const all = (await peakOf('--show all')).join('\n')
    expect(all).toMatch(/ 35,200 .* operator new < /)
    expect((await peakOf('--full')).join('\n')).toContain(
      'main at /opt/t/rec/cxx.cpp:12 < __libc_start_call_main at ../sysdeps/',
    )
    const hidden = (await peakOf('--hide "^main"')).join('\n')
    expect(hidden).not.toMatch(/ {2}main /)
    expect(hidden).toContain('  __libc_start_call_main at ')
    const { code, stderr } = await shell(`hf-stats --hide "(" ${HEAPTRACK}`)
    expect([code, stderr]).toEqual([2, expect.stringContaining('--hide: Invalid regular expression')])
  })

  test('has rows of functions, modules and threads', async () => {
    const byFunction = await peakOf('--by function')
    expect(byFunction[0]).toMatch(/^Top functions by bytes live at the peak \(\d+ in all\)$/)
    expect(byFunction[1]).toMatch(/^ +bytes +share +inclusive +share +blocks +function$/)
    expect(byFunction.find((line) => line.endsWith(' main'))).toMatch(/^ +37,136 +32\.3 % +37,136 +32\.3 % +802 +main$/)
    expect(byFunction.find((line) => line.endsWith(' operator()'))).toMatch(/^ +5,129 +4\.5 % +5,129 +4\.5 % +3 /)
    expect((await peakOf('--by module'))[1]).toMatch(/ module$/)
    expect((await peakOf('--by thread')).slice(0, 2)).toEqual([
      'Top threads by bytes live at the peak (1 in all)',
      expect.stringMatching(/^ +thread +bytes /),
    ])
  })

  test('adds up the sites of a function', async () => {
    interface Sites {
      sites: { function?: string; stack?: string[]; leaked: object; allocated: { blocks: number; bytes: number } }[]
    }
    const sitesOf = async (flags: string) =>
      (JSON.parse((await shell(`hf-stats --json --section sites ${flags} ${HEAPTRACK}`)).stdout.toString()) as Sites)
        .sites
    const [bySite, all] = [await sitesOf(''), await sitesOf('--by function --show all')]
    const byFunction = all.filter(({ allocated }) => allocated.blocks > 0)
    const name = 'operator new(unsigned long)'
    const own = bySite.filter(({ stack }) => stack?.[0]?.startsWith(name))
    expect(own.length).toBeGreaterThan(1)
    expect(byFunction.length).toBe(bySite.length - own.length + 1)
    expect(byFunction.find((site) => site.function === name)?.allocated).toEqual({
      blocks: own.reduce((sum, { allocated }) => sum + allocated.blocks, 0),
      bytes: own.reduce((sum, { allocated }) => sum + allocated.bytes, 0),
    })
    expect(byFunction.every(({ stack }) => stack === undefined)).toBe(true)
    expect((await sitesOf('--by function')).map((site) => site.function)).toContain('main')
  })
})

test('hf-filter says where names are if events have only stacks', async () => {
  const { stderr } = await shell(`hf-filter --function main ${HEAPTRACK}`)
  expect(stderr).toContain('no event has the field function, so no event matches it: the names are in the field stack')
  expect(stderr).toContain('(--stack)')
})

test.each([
  ['hf-record', 'The exit status of the program'],
  ['hf-verify', 'Faults were found; or bad input'],
])('the manual page of %s has its exit status', (name, text) => {
  const page = readFileSync(new URL(`../../dist/man/${name}.1`, import.meta.url), 'utf8')
  expect(page.slice(page.indexOf('EXIT STATUS'))).toContain(text)
})

describe('a corrupt xz file', () => {
  const whole = readFileSync(new URL('../compression/xz/crc64.xz', import.meta.url))
  const corrupt = Buffer.from(whole)
  corrupt[whole.length >> 1] = corrupt[whole.length >> 1] ^ 0x55
  const corruptFile = () => {
    const file = join(scratch(), 'bad.txt.xz')
    writeFileSync(file, corrupt)
    return { file, message: `${file}: xz: byte 24: malformed: the LZMA2 data are corrupt` }
  }

  test('is a fault of xz', async () => {
    const { file, message } = corruptFile()
    const { code, stderr } = await shell(`replay-decode ${file}`)
    expect([code, stderr]).toEqual([1, `replay-decode: ${message}\n`])
  })

  test('is named by the errors of events()', async () => {
    const { file, message } = corruptFile()
    const read = async () => {
      for await (const event of events(file)) expect(event.kind).toBeDefined()
    }
    await expect(read()).rejects.toMatchObject({ message, file })
  })
})

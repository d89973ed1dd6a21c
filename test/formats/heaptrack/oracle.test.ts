import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { heaptrack } from '../../../lib/formats/heaptrack/index.js'
import { blocksOf } from '../../oracle/heaptrack/decode.js'
import { decodeAll, encodeAll } from '../../support/drive.js'
import { runs } from '../../support/runs.js'

/** What a line is to be, and which of what was defined before it refers to. */
type Choice = readonly [what: number, first: number, second: number, third: number]

const choices = fc.array(fc.tuple(fc.nat(99), fc.nat(1000), fc.nat(1000), fc.nat(1000)), { maxLength: 60 })

const NAMES = ['main', 'operator new', 'f(int, char**)', 'a.c', '/lib/x y.so', 'run in two', 'in', 'é', '']
const hex = (n: number) => n.toString(16)

/** A file in which everything is defined before it is used, but not always where heaptrack would do it. */
function interpreted(all: readonly Choice[]): string {
  const lines = ['v 10400 3', 'X ./a', 's 2 /a']
  const names = new Set(['/a'])
  const seen = new Set<string>()
  const counts = { s: 1, i: 0, t: 0, a: 0, '+': 0 }
  let time = 0
  const define = (letter: 's' | 'i' | 't' | 'a', line: string): void => {
    if (seen.has(line)) return
    seen.add(line)
    counts[letter]++
    lines.push(line)
  }
  for (const [what, first, second, third] of all) {
    const string = first % (counts.s + 1)
    const file = second % (counts.s + 1)
    if (what < 20) {
      const name = `${NAMES[first % NAMES.length]}${second % 3 === 0 ? '' : second}`
      if (!names.has(name) && name !== '') define('s', `s ${hex(Buffer.from(name).length)} ${name}`)
      names.add(name)
    } else if (what < 40) {
      const address = 0x1000 + counts.i * 16
      const inner = third % 4 === 0 && string > 0 ? ` ${hex(string)} ${hex(Math.max(1, file))} 7` : ''
      const place =
        file > 0 ? ` ${hex(string)} ${hex(file)} ${hex(third)}${inner}` : string > 0 ? ` ${hex(string)}` : ''
      define('i', `i ${hex(address)} ${hex(third % (counts.s + 1))}${place}`)
    } else if (what < 60) {
      define('t', `t ${hex(first % (counts.i + 1))} ${hex(Math.max(0, counts.t - (second % 3)))}`)
    } else if (what < 70) {
      define('a', `a ${hex(first % 50)} ${hex(Math.max(0, counts.t - (second % 3)))}`)
    } else if (what < 92 && counts.a > 0) {
      lines.push(`${what % 3 > 0 ? '+' : '-'} ${hex(Math.max(0, counts.a - 1 - (first % 3)))}`)
    } else if (what < 96) {
      lines.push(`c ${hex((time += 1 + (first % 30)))}`)
    } else {
      lines.push(['R 5', 'S 1 x', '', '# x'][first % 4] as string)
    }
  }
  return `${lines.join('\n')}\nR 1\n`
}

/** The same of raw files. */
function raw(all: readonly Choice[]): string {
  const lines = ['v 10400 3', 'x 4 /b/c', 'X ./a', 'm 1 -', 'm 1 x 1000 0 100']
  const seen = new Set<string>()
  let nodes = 0
  let time = 0
  for (const [what, first, second, third] of all) {
    if (what < 40) {
      const line = `t ${hex(0xf80 + (first % 40) * 16)} ${hex(Math.max(0, nodes - (second % 3)))}`
      if (seen.has(line)) continue
      seen.add(line)
      nodes++
      lines.push(line)
    } else if (what < 70) {
      lines.push(`+ ${hex(first)} ${hex(Math.max(0, nodes - (second % 3)))} ${hex(third)}`)
    } else if (what < 90) {
      lines.push(`- ${hex(third)}`)
    } else if (what < 94) {
      lines.push(`c ${hex((time += 1 + (first % 30)))}`)
    } else if (what < 97) {
      lines.push('m 1 -', `m 2 /d ${hex(0x1000 + (first % 3) * 64)} 0 80 80 40`)
    } else {
      lines.push(['R 5', 'S 1 x', '', 'A'][first % 4] as string)
    }
  }
  return `${lines.join('\n')}\nR 1\n`
}

describe.each([
  ['interpreted', interpreted],
  ['raw', raw],
])('%s files with definitions in any place', (_, make) => {
  it('have the blocks that their lines say, and come back byte for byte', () => {
    fc.assert(
      fc.property(choices, fc.constantFrom(1, 13, 200, 1 << 20), (all, size) => {
        const text = make(all)
        const bytes = new Uint8Array(Buffer.from(text))
        const decoder = heaptrack.decoder()
        const { events, batches, error } = decodeAll(decoder, bytes, size)
        expect(error).toBeUndefined()
        expect(events.filter(({ kind }) => kind === 'alloc' || kind === 'free')).toEqual(blocksOf(text))
        // A free of a block that is not there is none of heaptrack's.
        if (decoder.warnings?.length === 0)
          expect(Buffer.from(encodeAll(heaptrack.encoder(), batches)).toString()).toBe(text)
      }),
      { numRuns: runs(2000) },
    )
  })
})

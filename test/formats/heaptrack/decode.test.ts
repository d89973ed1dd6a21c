import { describe, expect, it } from 'vitest'
import type { TextDecodeOptions } from '../../../lib/event/format.js'
import { HeaptrackDecoder } from '../../../lib/formats/heaptrack/decode.js'
import { heaptrack } from '../../../lib/formats/heaptrack/index.js'
import { MAX_LINE, MAX_STACK_BYTES } from '../../../lib/formats/heaptrack/layout.js'
import { decodeAll, drive, encodeAll, slices, type Decoded } from '../../support/drive.js'
import { stopwatch } from '../../support/stopwatch.js'

const RAW = 'v 10400 3\nx 2 ./\nX ./a\n'
const INTERPRETED = 'v 10400 3\nX ./a\n'

function decode(text: string, size?: number, options?: TextDecodeOptions): Decoded & { warnings: string[] } {
  const decoder = new HeaptrackDecoder(options)
  return { ...decodeAll(decoder, new Uint8Array(Buffer.from(text, 'latin1')), size), warnings: decoder.warnings }
}

/** Lines from numbers. */
function lines(n: number, line: (i: number) => string): string {
  return Array.from({ length: n }, (_, i) => `${line(i)}\n`).join('')
}

const hex = (n: number) => n.toString(16)

function joined(n: number, text: (i: number) => string): string {
  return Array.from({ length: n }, (_, i) => text(i)).join('')
}

describe('reading', () => {
  it.each<[string, string, string]>([
    ['a parent that comes later', `${RAW}t 10 1\n`, 'a stack refers to one that is not defined yet'],
    ['a parent that is itself', `${RAW}t 10 0\nt 20 2\n`, 'a stack refers to one that is not defined yet'],
    ['a stack that comes later', `${RAW}t 10 0\n+ 8 2 100\n`, 'a stack refers to one that is not defined yet'],
    ['a stack above 2^32', `${RAW}t 10 0\n+ 8 100000001 100\n`, 'a stack refers to one that is not defined yet'],
    ['an instruction that comes later', `${INTERPRETED}s 1 a\nt 1 0\n`, 'a stack refers to an instruction that is not'],
    ['a string that comes later', `${INTERPRETED}s 1 a\ni 10 2\n`, 'an instruction refers to a string that is not'],
    ['a file that comes later', `${INTERPRETED}s 1 a\ni 10 1 1 2 5\n`, 'an instruction refers to a string that is not'],
    ['an info that comes later', `${INTERPRETED}a 8 0\n+ 1\n`, 'an event refers to an allocation info that is not'],
    ['a free of an info that comes later', `${INTERPRETED}a 8 0\n- 1\n`, 'an event refers to an allocation info that'],
    ['an info of a stack that comes later', `${INTERPRETED}a 8 1\n`, 'a stack refers to one that is not defined yet'],
    ['an address in an interpreted file', `${INTERPRETED}a 8 0\n+ 8 0 100\n`, 'an allocation with an address in an'],
    ['no address in a raw file', `${RAW}+ 8\n`, 'an allocation without its address in a raw file'],
    ['no numbers', `${RAW}+ \n`, 'the numbers of a line are missing'],
    ['a number of 17 digits', `${RAW}- 11112222333344445\n`, 'the numbers of a line are missing'],
    ['something after the numbers', `${RAW}- 10 \n`, 'the numbers of a line are missing'],
    [
      'a string that is longer than its line',
      `${INTERPRETED}s 5 abcd\n`,
      'the length of a string is not that of its bytes',
    ],
    ['a string that is shorter', `${INTERPRETED}s 3 abcd\n`, 'the length of a string is not that of its bytes'],
  ])('refuses %s', (_, text, reason) => {
    for (const size of [1, 5, 1000]) {
      const { error } = decode(text, size)
      expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', format: 'heaptrack', event: expect.any(Number) })
      expect(error?.message).toContain(reason)
    }
  })

  it('refuses a newer version, and what does not begin with a version', () => {
    expect(decode('v 10600 4\nX a\n').error).toMatchObject({
      message: expect.stringContaining('newer than 3') as string,
    })
    expect(decode('X a\n').error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', line: 1 })
    expect(decode('').error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED' })
    expect(decode('v 104').error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED' })
    expect(decode('v 104', 1, { lastLine: true }).error).toBeUndefined()
    expect(decode('v ').error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED' })
  })

  it('gives each block of an interpreted file an address of its own, and frees the newest of its class', () => {
    const { events } = decode(`${INTERPRETED}a 18 0\na 1 0\n+ 0\n+ 1\n+ 0\n- 0\n+ 1\n- 0\n- 1\n- 1\n`)
    const blocks = events.filter(({ kind }) => kind !== 'comment')
    expect(blocks.map(({ kind, address }) => `${kind} ${address?.toString(16)}`)).toEqual([
      'alloc 10000',
      'alloc 10020',
      'alloc 10030',
      'free 10030',
      'alloc 10050',
      'free 10000',
      'free 10050',
      'free 10020',
    ])
  })

  it('gives a free without a live block of its class no address, and says that it does not come back', () => {
    const { events, warnings } = decode(`${INTERPRETED}a 18 0\n+ 0\n- 0\n- 0\n`)
    expect(events.at(-1)).toEqual({ kind: 'free', time: 0n })
    expect(warnings).toEqual([expect.stringContaining('do not come back the same: 1; the first is line 6')])
  })

  it('has no addresses for blocks above 2^53 bytes in all', () => {
    const { error, events } = decode(`${INTERPRETED}a 10000000000 0\n${lines(10_000, () => '+ 0')}`)
    expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT' })
    expect(events.length).toBeGreaterThan(8000)
  })

  it('takes the lines of an argument with line feeds for a part of the command', () => {
    const command = 'sh -c \na = 5\nt 5\nx 1 a\nI am\n\nv 10400 3'
    for (const head of ['v 10400 3\nx 2 ./\n', 'v 10400 3\n']) {
      const text = `${head}X ${command}\nI 1000 5\n${head.includes('x') ? '+ 8 0 10\n' : 'a 8 0\n+ 0\n'}`
      for (const size of [1, 7, 1000]) {
        const { headers, events, warnings, error } = decode(text, size)
        expect(error).toBeUndefined()
        expect(warnings).toEqual([])
        expect(headers[0]).toMatchObject({ layout: { command, pageSize: 4096, pages: 5 } })
        expect(events).toHaveLength(1)
      }
      const { batches } = decode(text)
      expect(Buffer.from(encodeAll(heaptrack.encoder(), batches)).toString()).toBe(text)
    }
  })

  it('takes a command for one line if no line with the memory follows', () => {
    const { headers, error } = decode(`${RAW}oops\n+ 8 0 10\n${lines(3000, () => '- 10')}`)
    expect(headers[0]).toMatchObject({ layout: { command: './a' } })
    expect(error).toBeUndefined()
  })

  it('gives a batch as soon as its lines are there, and waits for what a trace begins with', () => {
    const decoder = new HeaptrackDecoder()
    const give = (text: string) => {
      decoder.feed(new Uint8Array(Buffer.from(text)))
      return [...(decoder.next() ?? [])].length
    }
    expect(give('v 10400 3\nx 2 ')).toBe(0)
    expect(give('./\nX a\n')).toBe(0)
    expect(give('+ 10 0 100\n+ 10 ')).toBe(1)
    expect(give('0 200\n')).toBe(1)
  })

  it.each([
    ['a line without a line feed', '+ 8 0 1', 2],
    ['a definition without the event that it belongs to', 't 10 0\n', 1],
    ['a time without what happened then', 'c 5\n', 2],
  ])('is truncated at %s', (_, last, whole) => {
    const text = `${RAW}+ 8 0 10\n${last}`
    for (const size of [1, 1000]) {
      const { events, error } = decode(text, size)
      expect(events).toHaveLength(1)
      expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', event: 2 })
    }
    const { events, error } = decode(text, 1, { lastLine: true })
    expect(events).toHaveLength(whole)
    expect(error).toBeUndefined()
  })

  it('is whole where a time has its event', () => {
    expect(decode(`${RAW}+ 8 0 10\nc 5\nR 5\n`)).toMatchObject({ warnings: [] })
  })

  it('keeps lines of other sorts and times that go back as comments', () => {
    const text = `${RAW}c 5\n+ 8 0 10\nc 4\nwhat\n+ 8 0 20\n`
    const { events, warnings, batches } = decode(text)
    expect(events.map(({ kind, time }) => [kind, time])).toEqual([
      ['alloc', 5000n],
      ['comment', 5000n],
      ['comment', 5000n],
      ['alloc', 5000n],
    ])
    expect(warnings).toEqual([expect.stringContaining('do not come back the same: 2; the first is line 6')])
    expect(batches.length).toBe(1)
  })

  it.each([RAW, INTERPRETED])(
    'refuses another file behind its end, whose stacks would be those of the first: %j',
    (head) => {
      const file = head === RAW ? `${RAW}t 77 0\n+ 8 1 10\n` : `${INTERPRETED}t 0 0\na 8 0\n+ 0\n`
      for (const size of [1, 7, 1000]) {
        const { events, error } = decode(file + file, size)
        expect(events).toEqual(decode(file).events)
        expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', line: file.split('\n').length, offset: file.length })
        expect(error?.message).toContain('another file begins here')
      }
    },
  )

  it('refuses another file behind one that was cut, wherever that was', () => {
    for (const last of ['+ 8 1 10\n', '# a remark\n', 'A\n', 'S a suppression\n', 'what else\n']) {
      const file = `${RAW}I 1000 3f\nt 77 0\n+ 8 1 10\n${last}`
      for (let cut = 1; cut <= last.length; cut++)
        expect(decode(file.slice(0, file.length - cut) + file).error).toMatchObject({ code: 'ERR_TRACE_MALFORMED' })
    }
  })
})

describe('hostile input', () => {
  it.each<[string, string]>([
    ['an endless line', `${RAW}+ 8 0 10\nX ${'a'.repeat(300_000)}`],
    ['a long line of text', `${RAW}+ 8 0 10\n#${'a'.repeat(MAX_LINE)}\n`],
    ['a long string', `${INTERPRETED}a 8 0\n+ 0\ns ${hex(100_000)} ${'a'.repeat(100_000)}\n`],
    ['endless zeros', `${RAW}+ 8 0 10\n- ${'0'.repeat(300_000)}`],
  ])('%s is refused', (_, text) => {
    for (const size of [997, 65_536, 1 << 20])
      expect(decode(text, size).error).toMatchObject({ code: 'ERR_TRACE_LIMIT', event: 2 })
  })

  it('a stack of 20,000 frames is read, and comes back', { tags: ['slow'] }, () => {
    const text = `${RAW}${lines(20_000, (i) => `t ${hex(i + 16)} ${hex(i)}`)}+ 8 4e20 10\n+ 8 4e20 20\n`
    const { batches, error } = decode(text, 65_536)
    expect(error).toBeUndefined()
    const [batch] = batches
    expect(batch?.count).toBe(2)
    const stack = [...(batch as Iterable<{ stack?: string[] }>)][1]?.stack
    expect(stack).toHaveLength(20_000)
    expect([stack?.[0], stack?.at(-1)]).toEqual([`[0x${hex(20_015)}]`, '[0x10]'])
    expect(Buffer.from(encodeAll(heaptrack.encoder(), batches)).toString()).toBe(text)
  })

  it('a deeper stack, or one with longer names, is over the limit', () => {
    // Frames that are repeated count each time: every output of the event repeats them.
    const text = '[0x10]'
    const n = Math.floor(MAX_STACK_BYTES / text.length)
    const deep = (frames: number) => `${RAW}${lines(frames, (i) => `t 10 ${hex(i)}`)}+ 8 ${hex(frames)} 10\n`
    expect(decode(deep(n), 65_536).events[0]?.stack).toHaveLength(n)
    expect(decode(deep(n + 1), 65_536).error).toMatchObject({
      code: 'ERR_TRACE_LIMIT',
      event: 1,
      message: expect.stringContaining('the texts of the frames of a stack have more than 262144 bytes') as string,
    })
    const name = 'f'.repeat(60_000)
    const names = Math.ceil(MAX_STACK_BYTES / name.length)
    const long = `${INTERPRETED}s ${hex(name.length)} ${name}\ni 10 1 1\n${lines(names, (i) => `t 1 ${hex(i)}`)}a 8 ${hex(names)}\n+ 0\n`
    expect(decode(long, 65_536).error).toMatchObject({ code: 'ERR_TRACE_LIMIT' })
    const inlined = `${INTERPRETED}s ${hex(name.length)} ${name}\ni 10 1${' 1 1 1'.repeat(100)}\nt 1 0\na 8 1\n+ 0\n`
    expect(decode(inlined, 65_536).error).toMatchObject({ code: 'ERR_TRACE_LIMIT' })
  })

  it('short lines that each stand for a long stack take little time', () => {
    const name = 'f'.repeat(60_000)
    const names = lines(8, (i) => `s ${hex(name.length + 1)} ${name}${i}`)
    const text = (n: number) => {
      const entry = (first: number) => `i 10 0${joined(n, (i) => ` ${hex(first + i)} 0 0`)}\n`
      const stacks = `${entry(1)}t 1 0\na 8 1\n${entry(5)}t 2 0\na 8 2\n`
      return `${INTERPRETED}${names}${stacks}${'+ 0\n+ 1\n'.repeat(200)}`
    }
    const time = stopwatch()
    const { out, error } = drive(new HeaptrackDecoder(), slices(new Uint8Array(Buffer.from(text(4))), 65_536))
    expect(error).toBeUndefined()
    expect(out.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThanOrEqual(400)
    expect(time()).toBeLessThan(4000)
    expect(4 * name.length).toBeLessThan(MAX_STACK_BYTES)
    expect(5 * name.length).toBeGreaterThan(MAX_STACK_BYTES)
    expect(
      decode(`${INTERPRETED}${names}i 10 0${joined(5, (i) => ` ${i + 1} 0 0`)}\nt 1 0\na 8 1\n+ 0\n`).error,
    ).toMatchObject({ code: 'ERR_TRACE_LIMIT' })
  })

  it('empty lines that come one by one after the first take little time', () => {
    const time = stopwatch()
    const { events, error } = decode(`v 10400 3\n${'\n'.repeat(17_000)}`, 1)
    expect(error).toBeUndefined()
    expect(events).toHaveLength(17_000)
    expect(time()).toBeLessThan(1000)
  })

  it('a stack after each of very many modules takes little time', { tags: ['slow'] }, () => {
    const time = stopwatch()
    const pieces = [
      // Modules in falling order and in a scattered one, each followed by a stack.
      lines(10_000, (i) => `m 1 a ${hex((20_000 - i) * 4096)} 0 1000\nt 1 0`),
      lines(10_000, (i) => `m 1 b ${hex((30_000 + ((i * 7919) % 10_000)) * 4096)} 0 1000\nt 1 0`),
      // Many addresses, and then lines that say nothing of modules, and that there are none.
      lines(100_000, (i) => `t ${hex(i + 16)} 0`),
      lines(10_000, () => `m 1 c 0\nt 1 0`),
      lines(10_000, () => `m 1 -\nt 1 0`),
      '+ 8 1 10\n',
    ]
    const { events, error } = decode(RAW + pieces.join(''), 65_536)
    expect(error).toBeUndefined()
    expect(events.at(-1)?.kind).toBe('alloc')
    expect(time()).toBeLessThan(3000)
  })

  it('the module of an address is the one loaded last at the place before it', () => {
    const stackOf = (modules: string) => decode(`${RAW}${modules}t 2008 0\n+ 8 1 10\n`).events.at(-1)?.stack
    const [a, b, c] = ['m 1 a 2000 0 1000\n', 'm 1 b 1000 1000 800\n', 'm 1 c 3000 0 1000\n']
    expect(stackOf(`${c}${b}${a}`)).toEqual(['in a+0x8 [0x2008]'])
    expect(stackOf(`${a}${b}${c}`)).toEqual(['in b+0x1008 [0x2008]'])
    expect(stackOf(`${a}${b}m 1 c 2000\n`)).toEqual(['in b+0x1008 [0x2008]'])
    expect(stackOf(`${a}m 1 -\n${c}`)).toEqual(['[0x2008]'])
    expect(stackOf(`${c}t 2008 0\n${a}`)).toEqual(['[0x2008]'])
  })

  it('a million different stacks are read with little memory', { tags: ['slow'] }, () => {
    const decoder = new HeaptrackDecoder()
    const n = 1_000_000
    const pieces = function* (): Generator<Uint8Array> {
      yield Buffer.from(RAW)
      for (let from = 0; from < n; from += 10_000)
        yield Buffer.from(
          lines(10_000, (i) => `t ${hex(from + i + 16)} 0\n+ 8 ${hex(from + i + 1)} ${hex(from + i + 1)}`),
        )
    }
    let events = 0
    let stacks = 0
    let most = 0
    for (const piece of pieces()) {
      decoder.feed(new Uint8Array(piece))
      for (let batch = decoder.next(); batch !== null; batch = decoder.next()) {
        events += batch.count
        stacks += batch.strings.listCount
        most = Math.max(most, batch.strings.memory)
      }
    }
    expect({ events, stacks }).toEqual({ events: n, stacks: n })
    expect(most).toBeLessThan(8 << 20)
    expect(process.memoryUsage().arrayBuffers).toBeLessThan(200 << 20)
  })

  it('deep stacks of many events close batches before they fill memory', { tags: ['slow'] }, () => {
    const text = `${RAW}${lines(20_000, (i) => `t ${hex(i + 16)} ${hex(i)}`)}${lines(500, (i) => `+ 8 ${hex(20_000 - i)} ${hex(i + 1)}`)}`
    const { out, error } = drive(new HeaptrackDecoder(), slices(new Uint8Array(Buffer.from(text)), 65_536))
    expect(error).toBeUndefined()
    expect(out.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThanOrEqual(500)
    expect(Math.max(...out.map(({ strings }) => strings.memory))).toBeLessThan(8 << 20)
  })
})

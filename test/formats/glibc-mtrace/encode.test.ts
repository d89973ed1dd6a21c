import { execFile } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import { MtraceDecoder } from '../../../lib/formats/glibc-mtrace/decode.js'
import { MtraceEncoder } from '../../../lib/formats/glibc-mtrace/encode.js'
import { replay } from '../../../lib/formats/replay/index.js'
import { scratch } from '../../support/commands.js'
import { decodeAll, drive, encodeAll } from '../../support/drive.js'
import { LiveBlocks } from '../../support/live-blocks.js'

const SCRIPT = '/usr/bin/mtrace'

function encode(events: TraceEvent[], strict = false): { text: string; losses: object; error?: Error } {
  const encoder = new MtraceEncoder({ strict })
  const { out, error } = drive(encoder, batchesOf(events, { format: 'test' }))
  const text = Buffer.concat(out)
    .toString('latin1')
    .replace(/^= Start\n/, '')
  return { text, losses: Object.fromEntries(encoder.losses.counts), ...(error && { error }) }
}

describe('writing', () => {
  it.each<[string, TraceEvent, string, object]>([
    ['an allocation', { kind: 'alloc', address: 16n, size: 32n }, '+ 0x10 0x20\n', {}],
    ['no bytes', { kind: 'alloc', address: 16n, size: 0n }, '+ 0x10 0\n', {}],
    ['a failed allocation', { kind: 'alloc', address: 0n, size: 1n }, '+ (nil) 0x1\n', {}],
    ['no size', { kind: 'alloc', address: 16n }, '+ 0x10 0\n', { 'no size, written as 0': 1 }],
    ['no address', { kind: 'alloc', size: 1n }, '', { 'allocations without an address': 1 }],
    [
      'an existing block',
      { kind: 'existing', address: 16n, size: 1n },
      '+ 0x10 0x1\n',
      { 'existing blocks, written as allocs': 1 },
    ],
    ['a free', { kind: 'free', address: 16n }, '- 0x10\n', {}],
    ['a free of null', { kind: 'free', address: 0n }, '', { 'frees of null': 1 }],
    ['a realloc', { kind: 'realloc', address: 16n, oldAddress: 32n, size: 1n }, '< 0x20\n> 0x10 0x1\n', {}],
    ['a realloc in place', { kind: 'realloc', address: 16n, size: 1n, outcome: 'none' }, '< 0x10\n> 0x10 0x1\n', {}],
    [
      'a failed realloc of an unknown block',
      { kind: 'realloc', address: 0n, size: 1n },
      '! (nil) 0x1\n',
      { 'no oldAddress, written as null': 1 },
    ],
    ['a failed realloc', { kind: 'realloc', address: 0n, oldAddress: 32n, size: 1n }, '! 0x20 0x1\n', {}],
    [
      'a realloc of null',
      { kind: 'realloc', address: 16n, oldAddress: 0n, size: 1n },
      '+ 0x10 0x1\n',
      { 'reallocs of null, written as allocs': 1 },
    ],
    [
      'a realloc of null that says that nothing moved',
      { kind: 'realloc', address: 16n, oldAddress: 0n, size: 1n, outcome: 'none' },
      '+ 0x10 0x1\n',
      { 'reallocs of null, written as allocs': 1 },
    ],
    [
      'a realloc to nothing',
      { kind: 'realloc', address: 0n, oldAddress: 16n, size: 0n },
      '- 0x10\n',
      { 'reallocs to nothing, written as frees': 1 },
    ],
    [
      'half a realloc',
      { kind: 'realloc', oldAddress: 16n, outcome: 'freed' },
      '- 0x10\n',
      { 'reallocs to nothing, written as frees': 1 },
    ],
    [
      'a function with its offset',
      { kind: 'free', address: 16n, function: 'f+1', fields: { offset: '+2a' } },
      '@ (f+1+2a)[0x0] - 0x10\n',
      {},
    ],
    ['a function alone', { kind: 'free', address: 16n, function: 'main' }, '@ (main)[0x0] - 0x10\n', {}],
    [
      'a function with parentheses',
      { kind: 'free', address: 16n, function: 'f(int)' },
      '- 0x10\n',
      { 'functions with spaces or parentheses': 1 },
    ],
    [
      'a function that looks like one with an offset',
      { kind: 'free', address: 16n, function: 'f+1', callSite: 1n },
      '@ [0x1] - 0x10\n',
      { 'functions that end like an offset': 1 },
    ],
    [
      'other fields',
      { kind: 'free', address: 16n, function: 'f', fields: { offset: 'x' } },
      '@ (f)[0x0] - 0x10\n',
      { 'fields other than an offset': 1 },
    ],
    [
      'a module with a line feed',
      { kind: 'free', address: 16n, module: 'a\nb' },
      '- 0x10\n',
      { 'modules with line feeds': 1 },
    ],
    [
      'a comment that is an event',
      { kind: 'comment', text: '- 0x10' },
      '',
      { 'comments that would be something else': 1 },
    ],
    ['a comment of two lines', { kind: 'comment', text: 'a\nb' }, '', { 'comments that would be something else': 1 }],
    [
      'fields without a place',
      { kind: 'free', address: 16n, thread: 1n, size: 2n },
      '- 0x10\n',
      { thread: 1, 'size of free': 1 },
    ],
  ])('%s', (_, event, text, losses) => {
    expect(encode([event])).toEqual({ text, losses })
  })

  it('writes the old block of a realloc alone, also at the end', () => {
    const half: TraceEvent = { kind: 'realloc', oldAddress: 16n, outcome: 'freed' }
    const events: TraceEvent[] = [half, half, { kind: 'free', address: 32n }, half]
    const encoder = new MtraceEncoder({ strict: true })
    const bytes = encodeAll(encoder, batchesOf(events, { format: 'glibc-mtrace' }))
    expect(Buffer.from(bytes).toString()).toBe('= Start\n< 0x10\n< 0x10\n- 0x20\n< 0x10\n= End\n')
    const back = decodeAll(new MtraceDecoder(), bytes)
    expect(back.error).toBeUndefined()
    expect(back.events).toEqual([...events, { kind: 'comment', text: '= End' }])
  })

  it.each<[TraceEvent, string, string]>([
    [
      { kind: 'realloc', address: 0n, oldAddress: 16n, size: 4704n, outcome: 'freed' },
      '! 0x10 0x1260\n',
      'outcome that the addresses do not show',
    ],
    [
      { kind: 'realloc', address: 16n, oldAddress: 0n, size: 1n, outcome: 'allocated' },
      '+ 0x10 0x1\n',
      'reallocs of null, written as allocs',
    ],
  ])('counts what half a realloc would not say', (event, text, loss) => {
    const encoder = new MtraceEncoder()
    const bytes = encodeAll(encoder, batchesOf([event], { format: 'glibc-mtrace' }))
    expect(Buffer.from(bytes).toString()).toBe(`= Start\n${text}`)
    expect(Object.fromEntries(encoder.losses.counts)).toEqual({ [loss]: 1 })
  })

  it('stops at the first loss when it is strict, behind all lines before it', () => {
    const fine: TraceEvent = { kind: 'free', address: 16n }
    const lossy: TraceEvent = { kind: 'realloc', address: 16n, oldAddress: 32n, size: 1n, function: 'f(int)' }
    const { text, error } = encode([fine, lossy, fine], true)
    expect(text).toBe('- 0x10\n')
    expect(error).toMatchObject({ code: 'ERR_TRACE_UNENCODABLE', event: 2 })
  })
})

describe.skipIf(!existsSync(SCRIPT))("glibc's script reads what is written", () => {
  it('and lists the blocks that are live at the end', async () => {
    const bytes = gunzipSync(readFileSync(new URL('../../fixtures/replay/mstress-head.txt.gz', import.meta.url)))
    const { batches, events } = decodeAll(replay.decoder(), bytes)
    const path = join(scratch(), 't.mtrace')
    writeFileSync(path, encodeAll(new MtraceEncoder(), batches))
    const live = new LiveBlocks(true)
    for (const event of events) live.add(event)
    expect(live.sizes.size).toBeGreaterThan(100)
    const listed = await promisify(execFile)(SCRIPT, [path]).catch((error: { stdout: string }) => error)
    const rows = [...listed.stdout.matchAll(/^0x0*([0-9a-f]+)\s+0x([0-9a-f]+)  at/gm)]
    expect(new Map(rows.map(([, address, size]) => [BigInt(`0x${address}`), BigInt(`0x${size}`)]))).toEqual(
      new Map([...live.sizes].filter(([, size]) => size > 0n)),
    )
  })
})

// @module-tag slow
import { readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import type { EventBatch } from '../lib/event/batch.js'
import { fieldNames, fieldSet, type FieldName, type KindName } from '../lib/event/fields.js'
import type { TimeUnit } from '../lib/event/header.js'
import { isWritable, type WritableFormat } from '../lib/event/format.js'
import { formatNamed, FORMATS, sniffFormat } from './support/formats.js'
import { corpusFile } from './support/corpus.js'
import { decodeAll, encodeAll } from './support/drive.js'

/** What stands for the block itself, and is compared as such. */
const BLOCK = fieldSet('address', 'oldAddress', 'size', 'outcome', 'index')
/** No more events than this are taken of a trace. */
const ENOUGH = 30_000

/** Real traces in the repository; of formats without any, the golden ones. */
const TRACES = [
  ['fixtures/mtrc/git.mtrc.gz'],
  ['fixtures/mtrc/fork-parent64.mtrc'],
  ['fixtures/mtrc/small64.mtrc.gz'],
  ['fixtures/replay/mstress-head.txt.gz'],
  ['fixtures/replay/twolf-head.txt'],
  ['fixtures/hatf/espresso-head.hatf'],
  ...['hatf', 'heapmon', 'heaptrack', 'kmemtrace', 'mtrc', 'replay'].flatMap((name) =>
    goldens(name).map((file) => [`golden/${name}/${file}`]),
  ),
] as [string][]

const IN_CORPUS = [['corpus/mtrc/mt64.mtrc'], ['corpus/mtrc/legacy-gcc.mtrc'], ['corpus/replay/systemui.txt']] as [
  string,
][]

function goldens(format: string): string[] {
  return readdirSync(new URL(`golden/${format}/`, import.meta.url)).filter(
    (file) => !file.endsWith('.ndjson') && !file.endsWith('.md'),
  )
}

function bytesOf(path: string): Uint8Array {
  if (path.startsWith('corpus/')) return corpusFile(path.slice('corpus/'.length).replace('replay/', 'memory-replay/'))
  const bytes = readFileSync(new URL(path, import.meta.url))
  return path.endsWith('.gz') ? gunzipSync(bytes) : bytes
}

/** What an event does to the heap, or that it is something else; with the fields that are compared beside that. */
interface Step {
  does: 'begin' | 'end' | KindName
  address?: bigint
  size?: bigint
  fields: Partial<Record<FieldName, unknown>>
}

/** What an allocator is made to do by these events, one after the other, with `kept` fields of each kind. */
function* stepsOf(batches: readonly EventBatch[], kept: (kind: KindName) => number): Generator<Step> {
  for (const batch of batches) {
    for (const event of batch) {
      const { kind, address = 0n, size, outcome } = event
      const fields = Object.fromEntries(
        fieldNames(kept(kind) & ~BLOCK).flatMap((name) => (event[name] === undefined ? [] : [[name, event[name]]])),
      )
      const begin = (): Step => ({ does: 'begin', address, ...(size !== undefined && { size }), fields })
      if (kind === 'alloc' || kind === 'existing') {
        if (address !== 0n) yield begin()
      } else if (kind === 'free') {
        if (address !== 0n) yield { does: 'end', address, fields }
      } else if (kind === 'realloc') {
        const old = outcome === 'allocated' ? 0n : (event.oldAddress ?? 0n)
        const isGone = address === 0n || outcome === 'freed'
        if (isGone && outcome !== 'freed' && (size ?? 0n) !== 0n) continue
        if (old !== 0n) yield { does: 'end', address: old, fields }
        if (!isGone) yield begin()
      } else {
        yield { does: kind, fields }
      }
    }
  }
}

/** MTRC cannot represent the end of a block that is not there. */
function* ofKnownBlocks(steps: Iterable<Step>): Generator<Step> {
  const live = new Set<bigint>()
  for (const step of steps) {
    if (step.does === 'begin') live.add(step.address as bigint)
    if (step.does === 'end' && !live.delete(step.address as bigint)) continue
    yield step
  }
}

/** Blocks by their sizes: a format without addresses says no more of the one that is freed. */
function* bySize(steps: Iterable<Step>): Generator<Step> {
  const sizes = new Map<bigint, bigint>()
  for (const step of ofKnownBlocks(steps)) {
    const { does, address, size = 0n } = step
    if (address === undefined) yield step
    else yield { ...step, address: does === 'begin' ? size : (sizes.get(address) as bigint) }
    if (does === 'begin') sizes.set(address as bigint, size)
  }
}

/** A value as it is after its unit was changed there, and perhaps back. */
function inUnits(value: bigint, units: readonly (TimeUnit | undefined)[]): bigint {
  return units
    .slice(1)
    .reduce(
      (time, unit, i) =>
        units[i] === unit
          ? time
          : unit === 'us' && units[i] === 'ns'
            ? time / 1000n
            : unit === 'ns' && units[i] === 'us'
              ? time * 1000n
              : time,
      value,
    )
}

function check(
  from: Step[],
  to: Step[],
  losses: ReadonlyMap<string, number>,
  units: readonly (TimeUnit | undefined)[],
): void {
  expect(to.length).toBe(from.length)
  from.forEach((step, i) => {
    const { does, address, fields } = to[i]
    if (step.does !== does || step.address !== address)
      expect({ i, does, address }).toEqual({ i, does: step.does, address: step.address })
    if (step.size !== undefined && step.size !== to[i]?.size)
      expect({ i, size: to[i]?.size }).toEqual({ i, size: step.size })
    for (const [name, value] of Object.entries(step.fields) as [FieldName, unknown][]) {
      const wanted = name === 'time' || name === 'endTime' ? inUnits(value as bigint, units) : value
      const found = fields[name]
      if (found === wanted) continue
      // What depends on the value, such as a name that the format does not have, was told when it was written.
      if (
        [...losses.keys()].some((reason) => reason.includes(name) || (name === 'api' && reason.startsWith('realloc')))
      )
        continue
      expect({ i, name, value: found }).toEqual({ i, name, value: wanted })
    }
  })
}

/** The batches of a trace, up to about `ENOUGH` events. */
function head(batches: readonly EventBatch[]): EventBatch[] {
  let n = 0
  return batches.filter(({ count }) => (n += count) - count < ENOUGH)
}

function convert(
  batches: readonly EventBatch[],
  to: WritableFormat,
): { batches: EventBatch[]; losses: ReadonlyMap<string, number> } {
  const encoder = to.encoder()
  const bytes = encodeAll(encoder, batches)
  const back = decodeAll(to.decoder(), bytes)
  expect(back.error).toBeUndefined()
  return { batches: back.batches, losses: encoder.losses.counts }
}

const unitOf = (batches: readonly EventBatch[]): TimeUnit | undefined => batches[0]?.header.timeUnit

function convertsToAndFro(path: string): void {
  const from = formatNamed(path.split('/')[1] as string) as WritableFormat
  let source: EventBatch[] = []
  beforeAll(() => {
    const bytes = bytesOf(path)
    expect(sniffFormat(bytes.subarray(0, 4096))).toBe(from)
    source = head(decodeAll(from.decoder(), bytes).batches)
  })

  test.each(FORMATS.filter((to) => to !== from && isWritable(to)).map(({ name }) => [name]))(
    'to %s and back keeps what the table says',
    (name) => {
      const to = formatNamed(name) as WritableFormat
      const kept = (kind: KindName): number => (from.carried[kind] ?? 0) & (to.carried[kind] ?? 0)
      const known = (steps: Iterable<Step>, format: WritableFormat): Step[] => {
        const placed = [...steps].filter(
          ({ does }) => does === 'begin' || does === 'end' || format.carried[does] !== undefined,
        )
        return format.name === 'mtrc' ? [...ofKnownBlocks(placed)] : placed
      }
      // What one format has of a sort of its own is none of the other's.
      const compared = (steps: Iterable<Step>): Step[] =>
        [from, to].some((format) => format.name === 'heaptrack')
          ? [...bySize(steps)].filter(({ does }) => does !== 'other')
          : [...steps]
      const there = convert(source, to)
      const wanted = known(stepsOf(source, kept), to)
      const all = (): number => -1
      const units = [unitOf(source), unitOf(there.batches)]
      check(compared(wanted), compared(stepsOf(there.batches, all)), there.losses, units)
      if (there.batches.length === 0) return
      const back = convert(there.batches, from)
      check(
        compared(known(wanted, from)),
        compared(stepsOf(back.batches, all)),
        new Map([...there.losses, ...back.losses]),
        [...units, unitOf(back.batches)],
      )
    },
  )
}

describe.each(TRACES)('%s', convertsToAndFro)
describe.each(IN_CORPUS)('%s', { tags: ['corpus'] }, convertsToAndFro)

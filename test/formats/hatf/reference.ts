import type { TraceEvent } from '../../../lib/event/batch.js'

/**
 * An encoder of its own, written from the specification with BigInt and objects, that changes widths and
 * interpretations at random wherever the next record's values allow it. It shares nothing with the library but the
 * event.
 */

const TAGS: Record<string, number> = {
  alloc: 0,
  free: 1,
  'heap-create': 6,
  'heap-destroy': 7,
  'thread-create': 8,
  'thread-destroy': 9,
}
const OUTCOME_TAGS: Record<string, number> = { none: 2, moved: 3, allocated: 4, freed: 5 }
const [NONE, DEFAULT, DELTA, STRIDE] = [0, 1, 3, 4]
const WIDTHS = [0, 1, 2, 4, 8]
const ATTRIBUTES = 5

interface Layout {
  width: number
  lastWidth: number
  interpretation: number
  argument: bigint
  stride: bigint
  touched: boolean
}

const wrap = (value: bigint) => BigInt.asUintN(64, value)

/** Numbers from 0 to below n, the same for the same seed. */
function dice(seed: number): (n: number) => number {
  let state = seed | 1
  return (n) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % n
  }
}

function bytesOf(value: bigint, width: number): number[] {
  return Array.from({ length: width }, (_, i) => Number((wrap(value) >> BigInt(8 * (width - 1 - i))) & 0xffn))
}

/** What is stored for each of the values; undefined if the layout cannot express them. Moves the layout on. */
function store(layout: Layout, values: bigint[]): number[][] | undefined {
  const { width, interpretation } = layout
  const out: number[][] = []
  for (const value of values) {
    if (interpretation === NONE) {
      if (BigInt.asUintN(8 * width, value) !== value) return undefined
      out.push(bytesOf(value, width))
    } else if (interpretation === DEFAULT || interpretation === STRIDE) {
      const implied = interpretation === DEFAULT ? layout.argument : wrap(layout.argument + layout.stride)
      if (implied !== value) return undefined
      layout.argument = implied
      // What is stored nevertheless is passed over.
      out.push(Array.from({ length: width }, () => 0xa5))
    } else {
      const distance = BigInt.asIntN(64, value - layout.argument)
      if (BigInt.asIntN(8 * width, distance) !== distance) return undefined
      out.push(bytesOf(distance, width))
      if (interpretation === DELTA) layout.argument = value
    }
  }
  return out
}

/** Encodes events that HATF can express, with metadata thrown in between by the dice. */
export function referenceEncode(events: TraceEvent[], seed: number): Uint8Array {
  const roll = dice(seed)
  const out: number[] = []
  const layouts: Layout[] = [4, 4, 0, 0, 0, 0].map((width, f) => ({
    width,
    lastWidth: width,
    interpretation: f < 2 ? NONE : DEFAULT,
    argument: 0n,
    stride: 0n,
    touched: f < 2,
  })) as Layout[]

  const setWidth = (f: number, width: number) => {
    const layout = layouts[f]
    out.push(11, 1, f, width)
    Object.assign(layout, { width, touched: true, ...(width !== 0 && { lastWidth: width }) })
  }
  const setInterpretation = (f: number, interpretation: number, argument = 0n, stride = 0n) => {
    const layout = layouts[f]
    out.push(11, 2, f, interpretation)
    if (interpretation !== NONE) out.push(...bytesOf(argument, 8))
    if (interpretation === STRIDE) out.push(...bytesOf(stride, 8))
    const width = interpretation === DEFAULT || interpretation === STRIDE ? 0 : layout.lastWidth
    Object.assign(layout, { interpretation, argument, stride, width, touched: true })
  }

  /** Lays field f out for its values in the next record, now and then again. */
  const layOut = (f: number, values: bigint[]): number[][] => {
    const layout = layouts[f]
    for (let attempt = 0; ; attempt++) {
      if (attempt > 0 || !layout.touched || roll(4) === 0) {
        const near = wrap(values[0] + BigInt(roll(300)) - 150n)
        const interpretation = attempt > 6 ? NONE : roll(5)
        if (interpretation === DEFAULT) setInterpretation(f, DEFAULT, values[0])
        else if (interpretation === STRIDE) {
          const stride = values.length > 1 ? values[1] - values[0] : BigInt(roll(5)) - 2n
          setInterpretation(f, STRIDE, wrap(values[0] - stride), wrap(stride))
        } else setInterpretation(f, interpretation, near)
        if (attempt > 6) setWidth(f, 8)
        else if (roll(2) === 0) setWidth(f, WIDTHS[roll(5)])
      }
      const trial = { ...layout }
      const stored = store(trial, values)
      if (stored !== undefined) {
        Object.assign(layout, trial)
        return stored
      }
    }
  }

  const layOutAttributes = (value: Uint8Array | undefined): number[] => {
    const layout = layouts[ATTRIBUTES]
    const length = value?.length ?? 0
    const fits = (width: number) => (width === 9 ? length < 256 : width === 10 ? true : width === length)
    if (!fits(layout.width) || roll(6) === 0) {
      if (roll(2) === 0 && length === 0) setInterpretation(ATTRIBUTES, DEFAULT)
      else if (layout.interpretation !== NONE) setInterpretation(ATTRIBUTES, NONE)
      const choices = [...WIDTHS, 9, 10].filter(fits)
      setWidth(ATTRIBUTES, choices[roll(choices.length)])
    }
    return [...(layout.width > 8 ? bytesOf(BigInt(length), layout.width - 8) : []), ...(value ?? [])]
  }

  const record = (tag: number, event: TraceEvent, values: [f: number, value: bigint | undefined][]) => {
    const all = [...values, [3, event.thread], [4, tag < 8 ? event.heap : undefined], [2, event.time]]
    const present = all.filter((entry): entry is [number, bigint] => entry[1] !== undefined)
    const stored = new Map<number, number[][]>()
    for (const [f] of present) {
      const ofField = present.filter(([g]) => g === f).map(([, value]) => value)
      if (!stored.has(f)) stored.set(f, layOut(f, ofField))
    }
    const attributes = layOutAttributes(event.attributes)
    out.push(tag)
    for (const [f] of present) out.push(...((stored.get(f) as number[][]).shift() as number[]))
    out.push(...attributes)
  }

  for (const event of events) {
    const { kind, size, address, oldAddress } = event
    const component = { ...event, attributes: undefined } as unknown as TraceEvent
    if (kind === 'comment') {
      const text = Buffer.from(event.text ?? '')
      out.push(10, roll(2), text.length >> 8, text.length & 255, ...text)
    } else if (kind === 'realloc') {
      const outcome = event.outcome as string
      const parts = [
        ...(outcome === 'moved' || outcome === 'allocated'
          ? [
              () =>
                record(0, component, [
                  [0, size],
                  [1, address],
                ]),
            ]
          : []),
        ...(outcome === 'moved' || outcome === 'freed' ? [() => record(1, component, [[1, oldAddress]])] : []),
      ]
      if (roll(2) === 0) parts.reverse()
      for (const part of parts) part()
      record(OUTCOME_TAGS[outcome], event, [
        [0, size],
        [1, oldAddress],
        [1, address],
      ])
    } else {
      record(
        TAGS[kind],
        event,
        kind === 'alloc'
          ? [
              [0, size],
              [1, address],
            ]
          : kind === 'free'
            ? [[1, address]]
            : [],
      )
    }
  }
  return Uint8Array.from(out)
}

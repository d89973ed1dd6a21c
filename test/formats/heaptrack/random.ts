import fc from 'fast-check'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { formatFrame, type Frame } from '../../../lib/event/frame.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { headerOf } from '../../../lib/formats/heaptrack/layout.js'

const name = fc.constantFrom('main', 'operator new(unsigned long)', 'f<int, (x)0>', 'run in two', 'a at b', 'née', '"')
const path = fc.constantFrom('/src/a.c', 'b.cc', './my file in there.c', '[0x1]')
const address = fc.bigInt({ min: 0x1000n, max: 0xffff_ffff_ffffn })

const function_ = fc
  .record({ name, file: fc.option(path, { nil: undefined }), line: fc.nat(5000) })
  .map(({ name: text, file, line }): Frame => ({ function: text, ...(file !== undefined && { file, line }) }))

/** The frames of one instruction: those that are inlined, and the one that they are in. */
const group = fc
  .tuple(fc.array(function_, { maxLength: 2 }), fc.option(function_), fc.option(path), fc.option(address))
  .map(([inlined, last, module, at]): Frame[] => [
    ...(last === null ? [] : inlined.map((frame): Frame => ({ ...frame, inlined: true }))),
    { ...last, ...(module !== null && { module }), ...(at !== null && { address: at }) },
  ])

const frames = fc.array(group, { minLength: 1, maxLength: 4 }).map((groups) => groups.flat().map(formatFrame))

type Step =
  | { step: 'alloc'; size: bigint; stack: string[] | null; address: bigint }
  | { step: 'free'; which: number }
  | { step: 'wait'; milliseconds: number }
  | { step: 'comment'; text: string }
  | { step: 'resident'; pages: number }

const size = fc.oneof(fc.bigInt({ min: 0n, max: 5000n }), fc.constantFrom(2n ** 40n, 2n ** 64n - 1n))

function step(stack: fc.Arbitrary<string[]>): fc.Arbitrary<Step> {
  return fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ step: fc.constant('alloc' as const), size, stack: fc.option(stack), address }),
    },
    { weight: 4, arbitrary: fc.record({ step: fc.constant('free' as const), which: fc.nat(20) }) },
    {
      weight: 1,
      arbitrary: fc.record({ step: fc.constant('wait' as const), milliseconds: fc.integer({ min: 1, max: 2 ** 33 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        step: fc.constant('comment' as const),
        text: fc.constantFrom('', '# strings: 3', 'S c leak:my_leak', 'A'),
      }),
    },
    { weight: 1, arbitrary: fc.record({ step: fc.constant('resident' as const), pages: fc.nat(100_000) }) },
  )
}

/** The events of steps, as a decoder gives them. */
function eventsOf(steps: readonly Step[], raw: boolean): TraceEvent[] {
  const events: TraceEvent[] = []
  const live = new Map<string, bigint[]>()
  let time = 0n
  let next = 0x1_0000n
  for (const one of steps) {
    if (one.step === 'alloc') {
      const at = raw ? one.address : next
      const room = one.size > 2n ** 40n ? 16n : (((one.size > 0n ? one.size : 1n) + 15n) / 16n) * 16n
      next += room
      const key = JSON.stringify([String(one.size), one.stack])
      live.set(key, [...(live.get(key) ?? []), at])
      events.push({ kind: 'alloc', time, address: at, size: one.size, ...(one.stack !== null && { stack: one.stack }) })
    } else if (one.step === 'free') {
      const blocks = [...live.values()].filter((some) => some.length > 0)
      const some = blocks[one.which % Math.max(1, blocks.length)]
      const at = some?.pop()
      if (at !== undefined) events.push({ kind: 'free', time, address: at })
    } else if (one.step === 'wait') {
      time += 1000n * BigInt(one.milliseconds)
      // A time is known by the event after it.
      events.push({ kind: 'comment', time, text: '#' })
    } else if (one.step === 'comment') {
      events.push({ kind: 'comment', time, text: one.text })
    } else {
      events.push({ kind: 'other', time, present: 4096n * BigInt(one.pages), code: 0x52 })
    }
  }
  return events
}

/** Traces that files of the format can say all of: raw and interpreted ones. */
export function random(): fc.Arbitrary<{ header: TraceHeader; events: TraceEvent[] }> {
  const rawStack = fc
    .array(address, { minLength: 1, maxLength: 6 })
    .map((stack) => stack.map((at) => formatFrame({ address: at })))
  const layout = { heaptrack: '1.4.0', version: 3, command: './prog', pageSize: 4096, pages: 1 }
  return fc.boolean().chain((raw) =>
    fc.array(step(raw ? rawStack : frames), { maxLength: 25 }).map((steps) => ({
      header: headerOf({ raw, ...layout, ...(raw && { executable: '/opt/my prog' }) }),
      events: eventsOf(steps, raw),
    })),
  )
}

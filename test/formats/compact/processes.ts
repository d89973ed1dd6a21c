import type { TraceEvent } from '../../../lib/event/batch.js'
import type { TraceHeader } from '../../../lib/event/header.js'

/** A trace. */
export interface Trace {
  readonly header: TraceHeader
  readonly events: readonly TraceEvent[]
}

/** A number below `n` that depends on a seed and on `i`. */
export function pick(seed: number, i: number, n: number): number {
  let x = Math.imul(i + 1, 0x9e37_79b1) ^ Math.imul(seed, 0x85eb_ca6b)
  x = Math.imul(x ^ (x >>> 15), 0x2c1b_3c6d)
  x = Math.imul(x ^ (x >>> 12), 0x297a_2d39)
  return ((x ^ (x >>> 15)) >>> 0) % n
}

/** Processes that leave blocks at their ends, most of them at addresses of others; some are freed later. */
export function processes(seed: number, count: number): Trace {
  const live: TraceEvent[] = []
  const events: TraceEvent[] = []
  for (let i = 0; i < count; i++) {
    const choose = (what: number, n: number) => pick(seed + what, i, n)
    const number = (i >> 9) + choose(0, 3)
    const process = number === 0 ? undefined : BigInt(number % 11)
    const of = { thread: BigInt(choose(1, 2)), ...(process !== undefined && { process }) }
    const what = choose(2, 200)
    if (what < 2) events.push({ kind: 'process-end', ...of })
    else if (what < 120 || live.length === 0) {
      const address = [0x10n, 0xffff_8000_0000_0000n][what % 16 === 0 ? 1 : 0]! + BigInt(32 * choose(3, 4000))
      live.push({ kind: 'free', address, ...of })
      events.push({ kind: 'alloc', address, size: BigInt(8 * choose(4, 9)), ...of })
    } else events.push(live.splice(choose(5, live.length), 1)[0] as TraceEvent)
  }
  return { header: { format: 'test' }, events }
}

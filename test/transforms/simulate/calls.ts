import type { TraceEvent } from '../../../lib/event/trace-event.js'

/** Random calls of a program, whose blocks all have different addresses. */
export interface CallShape {
  readonly events: number
  readonly blocks: number
  readonly seed: number
  /** The sizes: their logarithms are uniform up to this one. Default 12. */
  readonly log?: number
  /** How many processes there are. Default 1. */
  readonly processes?: number
  /** Processes end now and then, with all their blocks. */
  readonly ends?: boolean
}

/** A generator of numbers from 0 to below 1. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b_79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Allocations, frees and reallocs; about so many blocks are live after the first events. */
export function* callsOf({
  events,
  blocks,
  seed,
  log = 12,
  processes = 1,
  ends = false,
}: CallShape): Generator<TraceEvent> {
  const random = randomFrom(seed)
  let live: { address: bigint; process: bigint }[] = []
  let next = 0x1000n
  const sizeOf = () => (random() < 0.02 ? 0n : BigInt(Math.floor(2 ** (random() * log))))
  for (let i = 0; i < events; i++) {
    if (ends && random() < 0.01) {
      const process = BigInt(Math.floor(random() * processes))
      live = live.filter((block) => block.process !== process)
      yield { kind: 'process-end', process }
      continue
    }
    const chance = random()
    const grows = live.length < blocks * (0.5 + 0.5 * Math.sin(i / (3 * blocks + 50)))
    if (live.length === 0 || (chance < 0.9 && grows)) {
      const process = BigInt(Math.floor(random() * processes))
      const address = (next += 0x10n)
      live.push({ address, process })
      const isAligned = random() < 0.05
      const alignment = isAligned ? 2n ** BigInt(Math.floor(random() * 14)) : undefined
      yield {
        kind: 'alloc',
        api: isAligned ? 'memalign' : 'malloc',
        address,
        size: sizeOf(),
        ...(alignment !== undefined && { alignment }),
        ...(processes > 1 && { process }),
      }
      continue
    }
    const at = Math.floor(random() * live.length)
    const block = live[at] as (typeof live)[number]
    const process = processes > 1 && { process: block.process }
    if (chance > 0.9) {
      const oldAddress = block.address
      block.address = next += 0x10n
      yield { kind: 'realloc', address: block.address, oldAddress, size: sizeOf() + 1n, ...process }
    } else {
      live[at] = live.at(-1) as (typeof live)[number]
      live.pop()
      yield { kind: 'free', address: block.address, ...process }
    }
  }
}

/** Arenas for short-lived blocks, and which blocks these are, as plain lists. */
import type { TraceEvent } from '../../../lib/event/trace-event.js'
import { BASE } from './fits.js'

/**
 * The place and size of each allocation. A realloc without a stack is at the place of the block.
 * @param frames the frames of the stack that count
 */
export function kindsOf(events: readonly TraceEvent[], frames?: number): string[] {
  const places = new Map<bigint, readonly string[] | undefined>()
  return events.map(({ kind, stack, address, oldAddress, size = 0n }) => {
    if (kind === 'free') return ''
    const place = stack ?? (kind === 'realloc' ? places.get(oldAddress!) : undefined)
    places.set(address!, place)
    return JSON.stringify([place?.slice(0, frames) ?? null, Math.ceil(Number(size) / 4)])
  })
}

/** The kinds all of whose blocks were freed before more than so many bytes were allocated. */
export function shortKinds(events: readonly TraceEvent[], threshold: number, frames?: number): Set<string> {
  const short = new Set<string>()
  const long = new Set<string>()
  const live = new Map<bigint, { kind: string; birth: number }>()
  let clock = 0
  const end = (address: bigint) => {
    const { kind, birth } = live.get(address)!
    live.delete(address)
    if (clock - birth > threshold) long.add(kind)
  }
  const kinds = kindsOf(events, frames)
  for (const [i, event] of events.entries()) {
    const { address, oldAddress, size = 0n } = event as { address: bigint; oldAddress?: bigint; size?: bigint }
    if (event.kind !== 'alloc') end(oldAddress ?? address)
    if (event.kind === 'free') continue
    clock += Number(size)
    const kind = kinds[i]!
    short.add(kind)
    live.set(address, { kind, birth: clock })
  }
  for (const { kind } of live.values()) long.add(kind)
  return new Set([...short].filter((kind) => !long.has(kind)))
}

const up = (value: number, to: number) => Math.ceil(value / to) * to

/** The arenas of one heap. */
export class ArenaModel {
  private readonly arenas: { top: number; blocks: Set<number> }[] = []
  private readonly granted = new Map<number, number>()
  private current = 0
  private touched = 0

  constructor(
    count: number,
    private readonly size: number,
    private readonly granule: number,
    private readonly page: number,
  ) {
    this.arenas = Array.from({ length: count }, () => ({ top: 0, blocks: new Set<number>() }))
  }

  get used(): number {
    return up(this.touched * this.size, this.page)
  }

  /** @returns the address, null if there is no room */
  allocate(size: number, alignment: number): number | null {
    const bytes = up(Math.max(1, size), this.granule)
    if (bytes > this.size) return null
    let address = this.place(this.current, bytes, alignment)
    if (address === null) {
      const empty = this.arenas.findIndex(({ blocks }) => blocks.size === 0)
      if (empty < 0) return null
      this.arenas[empty]!.top = 0
      address = this.place(empty, bytes, alignment)
      if (address === null) return null
      this.current = empty
    }
    this.touched = Math.max(this.touched, this.current + 1)
    const arena = this.arenas[this.current]!
    arena.top = address + bytes
    arena.blocks.add(address)
    this.granted.set(address, bytes)
    return BASE + BASE + address
  }

  has(address: number): boolean {
    return this.granted.has(address - 2 * BASE)
  }

  free(address: number): void {
    this.arenas.find(({ blocks }) => blocks.delete(address - 2 * BASE))
    this.granted.delete(address - 2 * BASE)
  }

  /** @returns whether the block stays */
  resize(address: number, size: number): boolean {
    return size <= this.granted.get(address - 2 * BASE)!
  }

  private place(i: number, bytes: number, alignment: number): number | null {
    const start = i * this.size
    const isWide = alignment > this.granule && Number.isInteger(Math.log2(alignment))
    const at = up(Math.max(start, this.arenas[i]!.top), isWide ? alignment : this.granule)
    return at + bytes <= start + this.size ? at : null
  }
}

import { HI, LO } from '../bytes/u64.js'
import { U64Map } from '../bytes/u64-map.js'
import type { EventBatch } from '../event/batch.js'
import { FieldBit, Kind } from '../event/fields.js'
import type { TraceHeader } from '../event/header.js'

const { free: FREE, existing: LAST_OF_BLOCKS, 'process-end': PROCESS_END } = Kind
const HAS_PROCESS = FieldBit.process

/**
 * The parts of a trace in which each process allocates, for splitting without following blocks. The end of a process
 * goes into each part that may have blocks which it ends. Memory grows with the processes, and with the parts of each.
 */
export class ProcessParts {
  private readonly numbers = new U64Map(1)
  /** The labels of each process. The first entry is for events without a process. */
  private readonly parts: Set<number>[] = [new Set()]
  private header: TraceHeader | undefined

  /** @param further gets the other labels of ends of processes: an event of the batch and a label in turn */
  constructor(private readonly further: number[]) {}

  /** Notes where the processes of a batch allocate, and gives the ends of processes their labels, in place. */
  follow(batch: EventBatch, labels: Uint32Array): void {
    const { further, parts } = this
    further.length = 0
    if (batch.header !== this.header) this.begin(batch.header)
    const { kind, mask, count } = batch
    const words = (batch.columns & HAS_PROCESS) === 0 ? undefined : batch.process.words
    let [lastLo, lastHi, last] = [0, 0, -1]
    for (let i = 0; i < count; i++) {
      const isEnd = kind[i] === PROCESS_END
      if (!isEnd && (kind[i] > LAST_OF_BLOCKS || kind[i] === FREE)) continue
      let number = 0
      if (words !== undefined && (mask[i] & HAS_PROCESS) !== 0) {
        const lo = words[2 * i + LO]
        const hi = words[2 * i + HI]
        if (last < 0 || lo !== lastLo || hi !== lastHi) last = this.numberOf(lo, hi)
        lastLo = lo
        lastHi = hi
        number = last
      }
      if (isEnd) this.end(parts[number], labels, i)
      else parts[number].add(labels[i])
    }
  }

  private begin(header: TraceHeader): void {
    this.header = header
    this.numbers.clear()
    this.parts.length = 1
    this.parts[0].clear()
  }

  private numberOf(lo: number, hi: number): number {
    const { numbers, parts } = this
    let slot = numbers.find(lo, hi)
    if (slot < 0) {
      slot = numbers.add(lo, hi)
      numbers.values[slot] = parts.push(new Set()) - 1
    }
    return numbers.values[slot]
  }

  /** The end of a process, whose own label stays if no part, or its own, has allocations of the process. */
  private end(found: Set<number>, labels: Uint32Array, event: number): void {
    const own = found.has(labels[event]) ? labels[event] : lowest(found)
    if (found.size > 0) labels[event] = own
    for (const label of [...found].toSorted((a, b) => a - b)) if (label !== own) this.further.push(event, label)
    found.clear()
  }
}

function lowest(some: Iterable<number>): number {
  let found = Infinity
  for (const one of some) found = Math.min(found, one)
  return found
}

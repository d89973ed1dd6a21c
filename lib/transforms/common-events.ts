import { LABEL } from '../blocks/lifetimes.js'
import type { EventBatch } from '../event/batch.js'
import { earlyEnd } from '../event/early-end.js'
import { Kind } from '../event/fields.js'
import { selectRows } from '../kernel/select.js'

const { lost: LOST } = Kind

/** An event that concerns all parts, as a batch of its own, and its number in the stream. */
export interface CommonEvent {
  readonly batch: EventBatch
  readonly number: number
}

/** The last event of a kind that concerns all parts. */
class Last {
  /** Its row in the current batch; -1 if it came before. */
  row = -1
  event: CommonEvent | undefined
  /** The labels that have had events since; undefined before the first such event. */
  since: Set<number> | undefined
  /** The labels that begin after that row, and so do not begin with the event of an earlier batch. */
  readonly later = new Set<number>()
}

/**
 * Gives events that concern all parts of a trace to each of them: that events were lost, and that the recording ended
 * early. What is missing may belong to any part, so that the figures of none are known.
 *
 * A part gets such an event only if it has had others since the last one, so that all copies together are no more than
 * the events. A part that begins later begins with the last one. Memory grows with the number of labels.
 */
export class CommonEvents {
  private readonly begun = new Set<number>()
  private readonly kinds = [new Last(), new Last()]
  private hasSome = false

  /** Another trace begins. */
  clear(): void {
    this.begun.clear()
    for (const last of this.kinds) last.event = last.since = undefined
  }

  /**
   * Finds such events, and adds their further labels.
   * @param further an event of the batch and a label alternate, in the order of the events
   * @param isCommon whether an event of these kinds concerns all parts
   */
  spread(
    batch: EventBatch,
    count: number,
    labels: Uint32Array,
    further: number[],
    isCommon: (i: number) => boolean,
  ): void {
    const kindOf = kindsOf(batch, count, isCommon)
    this.hasSome = kindOf.size > 0
    if (!this.hasSome) return
    const { kinds, begun } = this
    /** The labels that begin in this batch. */
    const fresh = new Set<number>()
    const added: [event: number, label: number][] = []
    const enter = (label: number): void => {
      const isNew = !begun.has(label) && !fresh.has(label)
      if (isNew) fresh.add(label)
      for (const last of kinds) {
        if (isNew && last.row >= 0) {
          added.push([last.row, label])
          last.later.add(label)
        }
        last.since?.add(label)
      }
    }
    for (let i = 0, next = 0; i < count; i++) {
      enter(labels[i])
      const last = kinds[kindOf.get(i) ?? -1]
      if (last !== undefined) {
        for (const label of last.since ?? [...begun, ...fresh]) if (label !== labels[i]) added.push([i, label])
        last.since = new Set()
        last.row = i
      }
      for (; further[next] === i; next += 2) enter(further[next + 1] & LABEL)
    }
    insert(further, added)
  }

  /**
   * The parts of a batch are known.
   * @param present their labels
   * @param before the number of events before the batch
   * @returns for labels that have had no event before, the events of earlier batches with which they begin, in order
   */
  enter(batch: EventBatch, present: readonly number[], before: number): Map<number, CommonEvent[]> {
    const { begun, kinds } = this
    const first = new Map<number, CommonEvent[]>()
    for (const label of present) {
      if (!begun.has(label)) {
        const earlier = kinds.flatMap(({ event, later }) => (event === undefined || later.has(label) ? [] : event))
        if (earlier.length > 0)
          first.set(
            label,
            earlier.toSorted((a, b) => a.number - b.number),
          )
      }
      begun.add(label)
      if (!this.hasSome) for (const { since } of kinds) since?.add(label)
    }
    for (const last of kinds) {
      last.later.clear()
      if (last.row < 0) continue
      last.event = { batch: selectRows(batch, Int32Array.of(last.row), 1), number: before + last.row + 1 }
      last.row = -1
    }
    return first
  }
}

/** The events that concern all parts: 0 for lost events, 1 for the early end of a recording. */
function kindsOf(batch: EventBatch, count: number, isCommon: (i: number) => boolean): Map<number, number> {
  const found = new Map<number, number>()
  const { kind } = batch
  for (let i = kind.indexOf(LOST); i >= 0 && i < count; i = kind.indexOf(LOST, i + 1)) if (isCommon(i)) found.set(i, 0)
  for (let i = earlyEnd(batch, 0, count); i >= 0; i = earlyEnd(batch, i + 1, count)) if (isCommon(i)) found.set(i, 1)
  return found
}

/** Adds further labels of events, in the order of the events. */
function insert(further: number[], added: readonly [event: number, label: number][]): void {
  const pairs = [...added]
  for (let at = 0; at < further.length; at += 2) pairs.push([further[at], further[at + 1]])
  further.length = 0
  for (const [event, label] of pairs.toSorted(([a], [b]) => a - b)) further.push(event, label)
}

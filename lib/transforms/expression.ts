import { BATCH_EVENTS, BATCH_STRING_BYTES, EventBatch, type TraceEvent } from '../event/batch.js'
import type { BatchTransform } from '../event/stage.js'

/**
 * What to make of an event: called with each event as a plain object and its number, from 1. What it returns decides:
 * - `false` or `null`: the event is left out
 * - another object: that event takes its place
 * - an array: the events in it do, however many
 * - anything else (`true`, `undefined`, the value of an assignment ...): the event stays, with what was changed in it
 */
export type EventFunction = (event: TraceEvent, n: number) => unknown

/** A user's code that could not be compiled, failed, or gave something that is no event. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError'

  /** @param event the number of the event, from 1, that the code was called with; absent when it does not compile */
  constructor(
    reason: string,
    readonly event?: number,
    options?: ErrorOptions,
  ) {
    super(event === undefined ? `expression: ${reason}` : `expression: event ${event}: ${reason}`, options)
  }
}

/**
 * Makes a function of a user's code: an expression, such as `event.size *= 2n`, or else the body of a function. It sees
 * `event` and `n`, runs in strict mode with all rights of this process, and is no place for code of others.
 * @throws ExpressionError when it is neither
 */
export function compileExpression(code: string): EventFunction {
  try {
    return compile(`return (${code}\n)`)
  } catch {
    try {
      return compile(code)
    } catch (error) {
      throw new ExpressionError(reasonOf(error), undefined, { cause: error })
    }
  }
}

function compile(body: string): EventFunction {
  return new Function('event', 'n', `'use strict'\n${body}`) as EventFunction
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/**
 * Passes every event as a plain object through a function. Slow by design, for it makes an object of each event: some
 * hundred thousand events a second. The order of events is kept, and every batch gives at least one, if need be
 * without events.
 */
export class Evaluator implements BatchTransform {
  private input: EventBatch | null = null
  /** The next row of the input. */
  private row = 0
  /** How many events were passed to the function. */
  private seen = 0
  /** What the function returned, from `taken` on still to be given out. */
  private results: readonly unknown[] = []
  private taken = 0
  private failure: ExpressionError | undefined

  constructor(private readonly evaluate: EventFunction) {}

  feed(batch: EventBatch): void {
    this.input = batch
    this.row = 0
  }

  /** @throws ExpressionError once all events before the fault were given out */
  next(): EventBatch | null {
    if (this.failure !== undefined) throw this.failure
    const source = this.input
    if (source === null) return null
    const left = source.count - this.row + this.results.length - this.taken
    const batch = new EventBatch(Math.min(Math.max(left, 16), BATCH_EVENTS), source.columns, source.header)
    try {
      while (batch.count < batch.capacity && batch.strings.byteLength <= BATCH_STRING_BYTES) {
        if (this.taken < this.results.length) batch.push(asEvent(this.results[this.taken++]))
        else if (this.row < source.count) this.call(source.event(this.row++))
        else break
      }
    } catch (error) {
      this.failure = new ExpressionError(reasonOf(error), this.seen, { cause: error })
      return batch
    }
    if (this.row === source.count && this.taken === this.results.length) this.input = null
    return batch
  }

  end(): void {}

  cut(): void {}

  private call(event: TraceEvent): void {
    this.seen++
    const { evaluate } = this
    const result = evaluate(event, this.seen)
    if (result === false || result === null) this.results = []
    else if (Array.isArray(result)) this.results = result
    else this.results = [typeof result === 'object' ? result : event]
    this.taken = 0
  }
}

/** @throws TypeError when a value is no object; its fields are checked where they are stored */
function asEvent(value: unknown): TraceEvent {
  if (typeof value !== 'object' || value === null) throw new TypeError(`not an event: ${String(value)}`)
  return value as TraceEvent
}

import { BATCH_EVENTS, BATCH_STRING_BYTES, EventBatch, type TraceEvent } from '../event/batch.js'
import { expressionError, wrongType, type TraceError } from '../event/error.js'
import { synchronous } from '../event/synchronous.js'
import type { BatchTransform } from '../event/stage.js'
import { RemovalMarks } from './removal-marks.js'

/**
 * Processes an event: called with each event as a plain object and its number, from 1. The return value decides what
 * happens:
 * - `false` or `null`: the event is dropped
 * - another object: it replaces the event
 * - an array: its elements, any number, replace the event
 * - anything else (`true`, `undefined`, the value of an assignment ...): the event is kept, with the changes made to it
 */
export type EventFunction = (event: TraceEvent, n: number) => Synchronous

/** Any result except a promise or a generator: events are not held up by functions that take time. */
export type Synchronous =
  | (object & { readonly then?: never; readonly next?: never })
  | string
  | number
  | bigint
  | boolean
  | symbol
  | null
  | undefined
  | void

/**
 * Compiles a user's code: an expression, such as `event.size *= 2n`, or the body of a function. The code sees `event`
 * and `n` and runs in strict mode with all rights of this process, so it must be trusted.
 * @throws TraceError (ERR_TRACE_EXPRESSION) if it is neither
 */
export function compileExpression(code: string): EventFunction {
  try {
    return compile(`return (${code}\n)`)
  } catch {
    try {
      return compile(code)
    } catch (error) {
      throw expressionError(error instanceof EvalError ? new Error(FORBIDDEN, { cause: error }) : error)
    }
  }
}

const FORBIDDEN =
  'code cannot be compiled, because node was started with --disallow-code-generation-from-strings: run node without ' +
  'this option'

function compile(body: string): EventFunction {
  return new Function('event', 'n', `'use strict'\n${body}`) as EventFunction
}

/**
 * Passes every event through a function as a plain object. This is slow by design, some hundred thousand events per
 * second, because it creates an object per event. Events keep their order, and every batch gives at least one batch,
 * which may be empty. Headers say that events were dropped, as `RemovalMarks` finds out.
 */
export class Evaluator implements BatchTransform {
  private input: EventBatch | null = null
  /** The next row of the input. */
  private row = 0
  /** The number of events passed to the function. */
  private seen = 0
  /** The results of the function; those from `taken` on are still to be delivered. */
  private results: readonly unknown[] = []
  private taken = 0
  private failure: TraceError | undefined
  private readonly marks = new RemovalMarks()
  private ready: EventBatch[] = []

  constructor(private readonly evaluate: EventFunction) {}

  get warnings(): readonly string[] {
    return this.marks.warnings
  }

  feed(batch: EventBatch): void {
    this.ready = this.marks.begin(batch.header)
    this.input = batch
    this.row = 0
  }

  /** @throws TraceError (ERR_TRACE_EXPRESSION) once all events before the fault have been delivered */
  next(): EventBatch | null {
    while (this.ready.length === 0) {
      if (this.failure !== undefined) throw this.failure
      const batch = this.evaluateNext()
      if (batch === null) return null
      this.ready = this.marks.take(batch)
      if (this.failure !== undefined) this.ready.push(...this.marks.release())
    }
    return this.ready.shift() as EventBatch
  }

  /** The next events of the input. Where the function fails, those before the fault. */
  private evaluateNext(): EventBatch | null {
    const source = this.input
    if (source === null) return null
    const left = source.count - this.row + this.results.length - this.taken
    const batch = new EventBatch(Math.min(Math.max(left, 16), BATCH_EVENTS), source.columns, source.header)
    try {
      while (batch.count < batch.capacity && batch.strings.byteLength <= BATCH_STRING_BYTES) {
        if (this.taken < this.results.length) batch.push(this.results[this.taken++] as TraceEvent)
        else if (this.row < source.count) this.call(source.event(this.row++))
        else break
      }
    } catch (error) {
      this.failure = expressionError(error, this.seen)
      return batch
    }
    if (this.row === source.count && this.taken === this.results.length) this.input = null
    return batch
  }

  end(): void {
    this.ready = this.marks.end()
  }

  endTruncated(): void {
    this.end()
  }

  private call(event: TraceEvent): void {
    this.seen++
    const { evaluate } = this
    const result: unknown = synchronous(evaluate(event, this.seen))
    if (result === false || result === null) this.results = []
    else if (typeof result === 'function') throw wrongType('the result is a function, which is never called')
    else if (typeof result !== 'object' || isValueOf(event, result)) this.results = [event]
    else this.results = Array.isArray(result) ? result : [result]
    this.taken = 0
    this.marks.note(this.results.length)
  }
}

/** Whether a result is the value that was assigned to one of the event's fields. */
function isValueOf(event: TraceEvent, result: object): boolean {
  return result !== event && Object.values(event).includes(result)
}

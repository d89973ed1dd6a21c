import type { Sink } from '../../bytes/sink.js'
import type { EventBatch } from '../../event/batch.js'
import type { Versioned } from '../loop-version.js'

/** What a loop that reads lines is given, and where it leaves how far it came. */
export interface LineReadCursor {
  readonly bytes: Uint8Array
  /** Where the next line begins. The loop moves it behind those that it has read. */
  pos: number
  /** One past the last line feed. */
  readonly end: number
  /** How many events the batch may have at most. */
  readonly limit: number
}

/** What a loop that writes lines is given, and where it leaves how far it came. */
export interface LineWriteCursor {
  /** Where lines are written. */
  readonly sink: Sink
  /** The event to be written next. The loop moves it behind those that it has written. */
  row: number
  /** How many events of the batch are to be written. */
  readonly end: number
  /** By `recordSlot`, the position of the record in the mapping of the DTD that an event is written as, or -1. */
  readonly table: Int32Array
}

/**
 * The compiled loops of a DTD of 1.2. They read and write lines of plain numbers, one after the other, and stop at the
 * first that is any different. The reader and writer for all lines take that one, and the loop goes on behind it.
 */
export interface LineLoops extends Versioned {
  /** Adds records, one a line, to a batch. */
  read(batch: EventBatch, cursor: LineReadCursor): void
  /** Writes events of a batch. */
  write(batch: EventBatch, cursor: LineWriteCursor): void
}

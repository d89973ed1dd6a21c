import { archiveName } from '../compression/magic.js'
import { isEventBatch, type EventBatch } from '../event/batch.js'
import { EventCollector } from '../event/collector.js'
import { asError, wrongType } from '../event/error.js'
import { NO_HEADER } from '../event/header.js'
import { isBoundary } from '../event/json-record.js'
import { showValue } from '../event/message-text.js'
import type { TraceEvent } from '../event/trace-event.js'
import { sniffFormat } from '../formats/index.js'
import type { Warn } from '../reading/run-stage.js'
import { isFailure } from './failure.js'

/** A chunk written to a stream: bytes (or text), or events, in batches or one at a time. */
export type Intake = 'bytes' | 'events'

/** Whether a chunk is bytes or text. */
export function isBytes(chunk: unknown): chunk is Uint8Array | string {
  return typeof chunk === 'string' || chunk instanceof Uint8Array
}

/** Whether a chunk is meant as one event: it has a kind. Everything else is checked when it is added to a batch. */
export function isEvent(chunk: unknown): chunk is TraceEvent {
  return typeof chunk === 'object' && chunk !== null && typeof (chunk as { kind?: unknown }).kind === 'string'
}

/**
 * The error for a chunk of the wrong kind, which names the stage missing before the stream.
 * @param name the name of the stream in messages, such as `hatf.encode()`
 */
export async function wrongChunk(chunk: unknown, takes: Intake, name: string): Promise<TypeError> {
  if (takes === 'bytes') {
    const reason = `${name} takes bytes (a Buffer, Uint8Array or string), but was given`
    if (!isEventBatch(chunk) && !isEvent(chunk)) return wrongType(`${reason} ${showValue(chunk)}`)
    return wrongType(
      `${reason} events: they need no decoder, and an encoder such as ndjson.encode() makes bytes of them`,
    )
  }
  if (isBytes(chunk)) return wrongType(`${name} takes events, but was given bytes: ${await missingDecoder(chunk)}`)
  return wrongType(
    `${name} takes events (EventBatch objects, or objects such as { kind: 'free', address: 16n }), ` +
      `but was given ${showValue(chunk)}`,
  )
}

async function missingDecoder(chunk: Uint8Array | string): Promise<string> {
  const head = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
  const archive = archiveName(head)
  if (archive !== undefined) return `they are ${archive}, so put decompress() and then decodeAny() before it`
  const entry = await sniffFormat(head)
  if (entry === undefined)
    return 'put a decoder before it, such as mtrc.decode(), or decodeAny(), which finds the format'
  return `they look like ${entry.title}, so put ${namespaceOf(entry.name)}.decode() before it`
}

/** The name of a format in programs: `hatfAscii` for `hatf-ascii`. */
export function namespaceOf(format: string): string {
  return format.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** The chunks of a stream of bytes as bytes. @throws TypeError for anything else; the error of a `Failure` */
export async function* bytesOf(source: AsyncIterable<unknown>, name: string): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    if (isFailure(chunk)) throw chunk.error
    if (!isBytes(chunk)) throw await wrongChunk(chunk, 'bytes', name)
    yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk
  }
}

/**
 * The chunks of a stream of events as batches; plain events are collected until a batch is full, or something else
 * arrives.
 * @param warn receives warnings
 * @throws TypeError for anything else; the error of a `Failure` or of the source, after all events before it
 */
export async function* batchesIn(source: AsyncIterable<unknown>, name: string, warn: Warn): AsyncGenerator<EventBatch> {
  const ready: EventBatch[] = []
  const intake = new EventIntake(name, (batch) => void ready.push(batch), warn)
  let fault: Error | undefined
  try {
    for await (const chunk of source) {
      await intake.take(chunk)
      if (ready.length > 0) yield* ready.splice(0)
    }
    await intake.finish()
  } catch (error) {
    fault = asError(error)
  }
  yield* [...ready, ...intake.rest()]
  if (fault !== undefined) throw fault
}

/** Passes the batches that a sink of events receives to `write`, and collects plain events into batches. */
export class EventIntake {
  private readonly collector: EventCollector

  /** @param name the name of the sink in messages about a wrong chunk @param warn receives warnings */
  constructor(
    private readonly name: string,
    private readonly write: (batch: EventBatch) => void | Promise<void>,
    warn: Warn,
  ) {
    this.collector = new EventCollector(name, NO_HEADER, warn)
  }

  /**
   * Takes a chunk.
   * @throws TypeError for a chunk of the wrong kind, or the error of a `Failure`, after all events before it were
   *   written; the error of an invalid event, with the events before it still in `rest`
   */
  async take(chunk: unknown): Promise<void> {
    const { collector } = this
    if (isEvent(chunk) && !isBoundary(chunk)) {
      collector.add(chunk)
      if (collector.isFull) await this.flush()
      return
    }
    await this.flush()
    if (isFailure(chunk)) throw chunk.error
    if (isEventBatch(chunk)) {
      collector.header = chunk.header
      await this.write(chunk)
    } else if (isEvent(chunk)) {
      const header = collector.begin(chunk)
      if (header !== null) await this.write(header)
    } else throw await wrongChunk(chunk, 'events', this.name)
  }

  /** Writes the collected events, after which no more come. @throws TraceError when an end record is missing */
  async finish(): Promise<void> {
    await this.flush()
    const fault = this.collector.unfinished()
    if (fault !== undefined) throw fault
  }

  /** The events that were collected but not written, after a fault. */
  rest(): EventBatch[] {
    return this.collector.taken()
  }

  private async flush(): Promise<void> {
    for (const batch of this.collector.taken()) await this.write(batch)
  }
}

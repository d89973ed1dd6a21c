import type { Duplex, Readable } from 'node:stream'
import type { EventBatch } from '../event/batch.js'

/** The callback of Node's methods of streams. */
export type Done = (error?: Error | null) => void

/** The chunks that a stream accepts or gives. */
type Flow = 'bytes' | 'events'

/** The input of a stream, for the compiler only: the property does not exist. */
declare const takes: unique symbol
/** The output of a stream. */
declare const gives: unique symbol

/** The events that a stream emits in addition to Node's, with their arguments. */
export interface StreamEvents<Chunk> {
  data: [chunk: Chunk]
  error: [error: Error]
  /** A recoverable oddity, as a sentence. */
  warning: [text: string]
  /** Emitted at the end of an encoder that dropped fields: the fields, and the numbers of events. */
  losses: [counts: ReadonlyMap<string, number>]
  /** Emitted by streams that read: the number of events of a batch. */
  events: [count: number]
}

type Listener<Name, Events> = Name extends keyof Events
  ? Events[Name] extends unknown[]
    ? (...args: Events[Name]) => void
    : never
  : (...args: never[]) => void

/**
 * The type of a stream's chunks in Node's own types. `NodeJS.ReadableStream` gives strings or Buffers, so the type of
 * any other stream must include these, or `pipeline` would reject it.
 */
type AnyChunk = ReturnType<Duplex['read']>

/** Methods of Node's streams that return the stream itself, which a type made by `Omit` would forget. */
interface Fluent<Events> {
  on<Name extends string | symbol>(name: Name, listener: Listener<Name, Events>): this
  once<Name extends string | symbol>(name: Name, listener: Listener<Name, Events>): this
  addListener<Name extends string | symbol>(name: Name, listener: Listener<Name, Events>): this
  prependListener<Name extends string | symbol>(name: Name, listener: Listener<Name, Events>): this
  prependOnceListener<Name extends string | symbol>(name: Name, listener: Listener<Name, Events>): this
  off<Name extends string | symbol>(name: Name, listener: Listener<Name, Events>): this
  removeListener<Name extends string | symbol>(name: Name, listener: Listener<Name, Events>): this
  removeAllListeners(name?: string | symbol): this
  setMaxListeners(n: number): this
  destroy(error?: Error): this
  pause(): this
  resume(): this
  setEncoding(encoding: BufferEncoding): this
  unpipe(destination?: NodeJS.WritableStream): this
}

/** The iterator of a stream, with what newer type definitions of Node and TypeScript require of it. */
interface ChunkIterator<Chunk>
  extends
    AsyncIterator<Chunk>,
    Omit<ReturnType<Duplex[typeof Symbol.asyncIterator]>, keyof AsyncIterableIterator<unknown>> {
  [Symbol.asyncIterator](): this
}

/** Members of heapflow's readable streams that replace Node's own. */
interface TypedReadable<Gives extends Flow, Chunk, Events> extends Fluent<Events> {
  readonly [gives]?: Gives
  [Symbol.asyncIterator](): ChunkIterator<Chunk>
  [Symbol.asyncIterator](): ChunkIterator<AnyChunk>
}

/** The common members of `EventStream` and `ByteStream`. */
interface TypedStream<Takes extends Flow, Gives extends Flow, Chunk, Events>
  extends
    Omit<Duplex, keyof TypedReadable<Gives, Chunk, Events> | 'pipe' | 'end' | 'setDefaultEncoding'>,
    TypedReadable<Gives, Chunk, Events> {
  readonly [takes]?: Takes
  end(done?: () => void): this
  end(chunk: unknown, done?: () => void): this
  end(chunk: unknown, encoding?: BufferEncoding, done?: () => void): this
  setDefaultEncoding(encoding: BufferEncoding): this
}

/**
 * A stream that gives batches of events: a Duplex in object mode, with all methods of Node's own. It is not one of
 * Node's classes (see docs/library.md), so `instanceof Transform` is false.
 *
 * @template Takes what is written to it. `'events'` are `EventBatch` objects, plain `TraceEvent` objects, or both
 */
export interface EventStream<Takes extends Flow = Flow, Events = StreamEvents<EventBatch>> extends TypedStream<
  Takes,
  'events',
  EventBatch,
  Events
> {
  /** Does not take streams of bytes, such as files: an encoder belongs before these. */
  pipe<Target extends NodeJS.WritableStream & { readonly [takes]?: 'events'; readonly bytesWritten?: undefined }>(
    destination: Target,
    options?: { end?: boolean },
  ): Target
}

/** A stream that gives bytes, as Buffers; like `EventStream` otherwise. */
export interface ByteStream<Takes extends Flow = Flow> extends TypedStream<
  Takes,
  'bytes',
  Buffer,
  StreamEvents<Buffer>
> {
  /** Does not take streams that want events: a decoder belongs before these. */
  pipe<Target extends NodeJS.WritableStream & { readonly [takes]?: 'bytes' }>(
    destination: Target,
    options?: { end?: boolean },
  ): Target
}

/** A Readable of batches. */
export interface EventReadable
  extends
    Omit<Readable, keyof TypedReadable<'events', EventBatch, StreamEvents<EventBatch>> | 'pipe'>,
    TypedReadable<'events', EventBatch, StreamEvents<EventBatch>> {
  pipe: EventStream['pipe']
}

/** The base of sinks for events, in addition to `Writable`. */
export interface TakesEvents {
  readonly [takes]?: 'events'
}

type TakesOf<Stream> = Stream extends { readonly [takes]?: infer Takes extends Flow } ? Takes : Flow
type GivesOf<Stream> = Stream extends { readonly [gives]?: infer Gives extends Flow } ? Gives : Flow

/** The stages of `compose`, each of which accepts the results of the one before it; the compiler rejects all others. */
export type InOrder<Stages extends readonly unknown[]> = Stages extends readonly [
  infer First,
  infer Second,
  ...infer Rest,
]
  ? [First, ...([GivesOf<First> & TakesOf<Second>] extends [never] ? [never] : InOrder<[Second, ...Rest]>)]
  : Stages

/** The type of a composed stream. */
export type Composed<Stages extends readonly unknown[]> = Stages extends readonly [
  infer First,
  ...unknown[],
  infer Last,
]
  ? GivesOf<Last> extends infer Gives
    ? [Gives] extends ['events']
      ? EventStream<TakesOf<First>>
      : [Gives] extends ['bytes']
        ? ByteStream<TakesOf<First>>
        : Duplex
    : never
  : Duplex

import { EventBatch } from '../../event/batch.js'
import type { TraceHeader } from '../../event/header.js'
import type { KeyedBatch } from '../../order/sort-buffer.js'
import { SpillFile, type Run } from './spill.js'
import { TemporaryFileError } from './temporary-error.js'

const NO_KEYS = new Uint32Array(0)

/** A trace of a source, in the temporary file. */
interface Spooled {
  readonly header: TraceHeader
  readonly run: Run
}

interface Source {
  readonly batches: AsyncGenerator<EventBatch, void, void>
  readonly traces: Spooled[]
  /** Its error, if it failed. */
  readonly failures: unknown[]
}

/**
 * A temporary file for the events of sources whose decoders need much memory: they are decoded one after the other, so
 * that only one decoder is in memory at a time.
 */
export class Spool {
  private file: SpillFile | undefined
  private isClosed = false
  /** The reason why nothing more can be written. */
  private fault: TemporaryFileError | undefined
  private turn: Promise<unknown> = Promise.resolve()

  constructor(private readonly folder: string) {}

  /** The events of a source, once all of them are decoded; then its error, if it fails. */
  async *through(batches: AsyncGenerator<EventBatch, void, void>): AsyncGenerator<EventBatch, void, void> {
    const source: Source = { batches, traces: [], failures: [] }
    this.turn = this.turn.then(() => this.decode(source))
    await this.turn
    for (const { header, run } of source.traces) {
      if (run.end === run.start) yield new EventBatch(0, 0, header)
      for await (const { batch } of this.opened().read(run, header, true)) yield batch
    }
    for (const error of source.failures) throw error
  }

  /** Closes the file. May be called at any time. */
  async close(): Promise<void> {
    this.isClosed = true
    await this.file?.close()
  }

  /** Writes the traces of a source to the file, up to its fault if it has one. */
  private async decode({ batches, traces, failures }: Source): Promise<void> {
    try {
      // The other sources fail with the same error, without being read.
      if (this.fault !== undefined) throw this.fault
      let next = await batches.next()
      while (next.done !== true) {
        const { header } = next.value
        const trace = async function* (): AsyncGenerator<KeyedBatch> {
          while (next.done !== true && next.value.header === header) {
            if (next.value.count > 0) yield { batch: next.value, keys: NO_KEYS }
            next = await batches.next().catch((error: unknown) => {
              failures.push(error)
              return { done: true, value: undefined }
            })
          }
        }
        traces.push({ header, run: await this.opened().write(trace()) })
      }
    } catch (error) {
      if (error instanceof TemporaryFileError) this.fault = error
      failures.push(error)
    }
  }

  private opened(): SpillFile {
    if (this.isClosed) throw new Error('the stream is closed')
    return (this.file ??= new SpillFile(this.folder))
  }
}

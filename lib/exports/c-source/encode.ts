import { Sink } from '../../bytes/sink.js'
import type { EventBatch } from '../../event/batch.js'
import { unencodable } from '../../event/error.js'
import { fieldSet } from '../../event/fields.js'
import type { EncodeOptions } from '../../event/format.js'
import type { Carried, LossCounts } from '../../event/losses.js'
import type { Encoder } from '../../event/stage.js'
import { encodeText } from '../../event/strings.js'
import { Losses } from '../../kernel/losses.js'
import { rowsFrom } from '../../kernel/select.js'
import { HEAD_BYTES, Op, type OrderName } from '../../transforms/drive/layout.js'
import { Preparation } from '../../transforms/drive/preparation.js'
import type { SkippedCounts } from '../../transforms/drive/result.js'
import { info } from './info.js'
import { writeOperations } from './operations.js'
import { PROGRAM } from './program.js'
import { programEnd } from './tables.js'

/** Options of C source. */
export interface CSourceOptions extends EncodeOptions {
  /**
   * The order that threads keep: `epochs` of 1,000 events (default), which begin when the one before is over;
   * `lifetimes`, so that blocks are freed after they were allocated; or the `total` order of the trace.
   */
  order?: OrderName
}

/** What identifies a block or a thread is in the program as a slot or a table. */
const COMMON = ['api', 'process', 'thread', 'index', 'address'] as const
const CARRIED: Carried = {
  alloc: fieldSet(...COMMON, 'size', 'alignment'),
  realloc: fieldSet(...COMMON, 'oldAddress', 'size', 'outcome'),
  free: fieldSet(...COMMON, 'size'),
  existing: fieldSet(...COMMON, 'size', 'alignment'),
  'thread-create': fieldSet('process', 'thread'),
  'thread-destroy': fieldSet('process', 'thread'),
  'process-end': fieldSet('process', 'thread'),
}

/** The reason why calls are not in the program. */
const REASONS: Readonly<Record<keyof SkippedCounts, string>> = {
  unknown: 'frees and reallocs of unknown blocks',
  again: 'frees of blocks that were freed before',
  reused: 'allocations at the address of a live block, which is freed before',
  left: 'blocks that were live when their process ended, which are freed then',
  existing: 'blocks from before the recording and calls that end them',
  failed: 'calls that failed',
  absurd: 'blocks of more than 2^46 bytes and calls that end them',
  unaligned: 'alignments that are no power of two or above 2^30',
  later: 'events of further traces',
}

/**
 * Writes a program in C that makes the calls of a trace. Its parts are written while the trace is read: it takes the
 * memory of `Preparation` and of one part. If the trace is truncated, the program has the calls before the fault, and
 * is complete.
 */
export class CSourceEncoder implements Encoder {
  readonly consumes = true
  private readonly fields: Losses
  private readonly preparation: Preparation
  private readonly isStrict: boolean
  private readonly sink = new Sink()
  private failure: Error | undefined
  private at = 0

  /** @throws RangeError for an order that does not exist */
  constructor(options: CSourceOptions = {}) {
    const { order, strict = false } = options
    this.isStrict = strict
    this.fields = new Losses(info.name, CARRIED, strict)
    this.preparation = new Preparation(order === undefined ? {} : { order })
  }

  /** The fields that were dropped, and the calls that are not in the program. */
  get losses(): LossCounts {
    const counts = new Map(this.fields.counts)
    for (const [why, n] of skippedCounts(this.preparation)) if (n > 0) counts.set(REASONS[why], n)
    return { counts }
  }

  feed(batch: EventBatch): void {
    const n = this.fields.countBatch(batch)
    if (n < batch.count) this.failure = this.fields.errorFor(batch, n)
    this.preparation.feed(n < batch.count ? rowsFrom(batch, 0, n) : batch)
  }

  /** @throws TraceError for blocks that cannot be told apart; with `strict`, for the first loss */
  next(): Uint8Array | null {
    for (;;) {
      const chunk = this.preparation.next()
      if (chunk === null) break
      this.write(chunk)
      if (this.sink.pos > 0) return this.sink.handOver()
    }
    if (this.isStrict) this.refuseSkipped()
    if (this.failure !== undefined) throw this.failure
    return null
  }

  end(): void {
    this.preparation.end()
  }

  endTruncated(): void {
    this.preparation.endTruncated()
  }

  dispose(): void {
    this.preparation.dispose()
    this.fields.dispose()
  }

  /** Writes the part of the program that a part of the file of operations stands for. */
  private write(chunk: Uint8Array): void {
    const { sink, at } = this
    this.at += chunk.length
    const words = new Uint32Array(chunk.buffer, chunk.byteOffset, chunk.length / 4)
    if (at < HEAD_BYTES) sink.append(encodeText(PROGRAM))
    else if (words.at(-2) === Op.link) {
      sink.append(encodeText(`static const uint32_t ops_${at}[] = {\n`))
      writeOperations(sink, words)
      sink.append(encodeText('END};\n'))
    } else for (const text of programEnd(words, this.preparation.result())) sink.append(encodeText(text))
  }

  private refuseSkipped(): void {
    const { firstSkipped } = this.preparation
    const first = skippedCounts(this.preparation).find(([, n]) => n > 0)
    if (first !== undefined) throw unencodable(REASONS[first[0]], { format: info.name, event: firstSkipped })
  }
}

function skippedCounts(preparation: Preparation): [keyof SkippedCounts, number][] {
  return Object.entries(preparation.result().skipped) as [keyof SkippedCounts, number][]
}

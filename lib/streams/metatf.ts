import type { EventEmitter } from 'node:events'
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import type { EventBatch } from '../event/batch.js'
import { chain } from '../event/chain.js'
import { malformed, TraceError } from '../event/error.js'
import { showText } from '../event/message-text.js'
import type { Format, TextDecodeOptions } from '../event/format.js'
import type { Stage } from '../event/stage.js'
import { announcementOf, isAnnounced, isTelling, type Announcement } from '../metatf/dtd-name.js'
import { FORMAT } from '../metatf/binary/header.js'
import type { BinaryDecodeOptions } from '../metatf/binary/decoder.js'
import type { ReadAt } from '../metatf/binary/table-section.js'
import { formatOf } from '../metatf/format.js'
import type { Dtd } from '../metatf/model.js'
import type { ReadOptions } from './event-counter.js'
import { DTD_PATH, findDtd, NoDtdError } from './dtd-files.js'
import { peek } from '../reading/peek.js'
import { runStage } from '../reading/run-stage.js'
import { misreading } from './misread.js'
import { warningsOn } from './warnings-on.js'

/** Options for reading a trace in Meta-TF. */
interface MetaTfOptions extends Pick<ReadOptions, 'recycle'> {
  /**
   * The file that the bytes are from, or `-` for standard input. The DTD may be beside a file, and tables may be read
   * from the file again.
   */
  readonly path?: string
  /** The DTD, regardless of the name in the trace. */
  readonly dtd?: Dtd
  /** Folders to search for the DTD. */
  readonly folders?: readonly string[]
  /** Options for the decoder of binary traces. */
  readonly decode?: BinaryDecodeOptions
  /** Options for the decoder of traces in ASCII. */
  readonly decodeText?: TextDecodeOptions
}

/** The way to read a trace, determined from its first bytes. */
interface MetaTf {
  readonly format: Format
  /** The options of the format's decoder. */
  readonly decode: object
  /** Closes the file from which the decoder reads tables. Call this when the decoder is done. */
  close(): void
}

/**
 * The events of the bytes (inflated) of a Meta-TF trace of any sort. The first bytes show whether it is binary with a
 * header, or ASCII with a head. If the DTD is given, the trace may have neither, and the DTD's version determines the
 * form.
 * @param emitter warnings are emitted on it
 * @param last the stage that all events go through
 * @throws TraceError, or a DtdError
 */
export async function* metaTfBytes<Out>(
  source: AsyncIterable<Uint8Array>,
  options: MetaTfOptions,
  emitter: EventEmitter,
  last: Stage<EventBatch, Out>,
): AsyncGenerator<Out> {
  const { head, whole, failure } = await peek(source, isTelling)
  let found: MetaTf
  try {
    found = recognizeMetaTf(head, options, failure)
  } catch (error) {
    // With a DTD, bytes of any form may be valid.
    throw options.dtd === undefined && !isAnnounced(head)
      ? await misreading(head)(error, FORMAT, 'a Meta-TF trace')
      : error
  }
  const { format, decode, close } = found
  const { recycle = false } = options
  try {
    yield* runStage(chain(format.decoder(decode), last, { recycle }), whole, warningsOn(emitter), recycle)
  } finally {
    close()
  }
}

/**
 * Determines how to read a trace that begins with these bytes.
 * @param failure the error of the source after these bytes, if any, which is the reason if they do not suffice
 * @throws TraceError when that cannot be determined; DtdError
 */
export function recognizeMetaTf(head: Uint8Array, options: MetaTfOptions, failure?: unknown): MetaTf {
  try {
    return decide(head, options)
  } catch (error) {
    throw failure ?? error
  }
}

function decide(head: Uint8Array, options: MetaTfOptions): MetaTf {
  const said = options.decode?.header === false ? null : announcementOf(head)
  const dtd = options.dtd ?? search(head, said, options)
  if (said !== null && (said.form === 'binary') !== (dtd.version === '1.0')) {
    const [is, describes] =
      said.form === 'binary' ? ['binary', 'describes traces in ASCII'] : ['in ASCII', 'describes binary traces']
    const reason = `the trace is ${is}, and ${dtd.file}, of Meta-TF ${dtd.version}, ${describes}`
    throw malformed(reason, { format: FORMAT, offset: 0 })
  }
  const file = said?.form === 'binary' && options.path !== undefined ? readAgain(options.path, head) : undefined
  return {
    format: formatOf(dtd),
    // Those of binary traces have no effect on others, and the reverse.
    decode: dtd.version === '1.0' ? { ...options.decode, ...(file && { read: file.read }) } : { ...options.decodeText },
    close: () => file?.close(),
  }
}

function search(head: Uint8Array, said: Announcement | null, { path, folders = [] }: MetaTfOptions): Dtd {
  const fail = (reason: string) => new TraceError('ERR_TRACE_UNKNOWN_FORMAT', reason, { format: FORMAT, offset: 0 })
  if (head.length === 0) throw fail('the input is empty')
  if (said === null) throw fail('the trace has no header that names its DTD: give it with --dtd')
  if (said.dtd === null) throw fail('the header of the trace names no DTD: use metatf-decode --dtd')
  try {
    return findDtd(said.dtd, { ...(path !== undefined && { trace: path }), folders })
  } catch (error) {
    if (!(error instanceof NoDtdError)) throw error
    throw fail(
      `the trace is by the DTD "${showText(said.dtd)}", but ${error.message}: use metatf-decode --dtd, or set ` +
        `${DTD_PATH}`,
    )
  }
}

/**
 * Reopens the input for random access if it is a regular, uncompressed file. Never standard input: its bytes may begin
 * anywhere in a file.
 */
function readAgain(path: string, head: Uint8Array): { read: ReadAt; close(): void } | undefined {
  if (path === '-' || statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined
  const fd = openSync(path, 'r')
  const close = () => closeSync(fd)
  const read: ReadAt = (offset, length) => {
    const bytes = new Uint8Array(length)
    return bytes.subarray(0, readSync(fd, bytes, 0, length, offset))
  }
  if (Buffer.compare(read(0, head.length), head) === 0) return { read, close }
  close()
  return undefined
}

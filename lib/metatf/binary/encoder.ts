import type { EventBatch } from '../../event/batch.js'
import { limit, unencodable } from '../../event/error.js'
import { FieldBit } from '../../event/fields.js'
import type { TimeUnit, TraceHeader } from '../../event/header.js'
import { AddressedLosses, spacesTold } from '../../blocks/addressed-losses.js'
import type { Losses } from '../../kernel/losses.js'
import type { Encoder } from '../../event/stage.js'
import { ENCODE_OPTIONS, type EncodeOptions } from '../../event/format.js'
import { checkOptions, type OptionNames } from '../../event/options.js'
import { BinaryWriter, WINDOW } from './writer.js'
import { Chooser } from '../record-choice.js'
import { lastPart } from '../dtd-name.js'
import { FORMAT, formatFileHeader, headerLength, type ByteOrder, type SectionHeader } from './header.js'
import { isOptional } from '../generate/code.js'
import { codecOf, type Codec } from '../generate/loops.js'
import { binaryPlan, Layouts, type Plan, type SectionLayouts } from '../layout.js'
import type { RecordMapping } from '../mapping.js'
import type { Dtd } from '../model.js'
import { timeUnitOf } from '../names.js'
import { TableWriter } from './packer.js'

export interface BinaryEncodeOptions extends EncodeOptions {
  /** Begin with a header. Default: as in the input, otherwise true. */
  header?: boolean
  /**
   * The name of the DTD in the header, by which readers find it. Default: as in the input, otherwise the DTD's file
   * name.
   */
  name?: string
  /** Maps the original name, or null, because another DTD has another name. Default: no change. */
  rename?: (name: string | null) => string | null
  /** Default: as in the input, otherwise `big`. */
  byteOrder?: ByteOrder
  /** The address size in the header, in bits. Default: as in the input, otherwise 64. */
  addressSize?: 32 | 64
  /**
   * Write each table that fields take values from into a separate part of the file, before the records. The whole trace
   * is then held in memory until its end. Default: as in the input; always if a table has no tags.
   */
  contiguous?: boolean
  /**
   * Write each batch as soon as it arrives, for live input. Default false: tables that fields take values from are
   * written before the records of a whole window (`window`, 4096 records by default), regardless of the division into
   * batches.
   */
  latency?: boolean
  /** The format's name in messages. Default `metatf`. */
  format?: string
}

const OPTIONS: OptionNames<BinaryEncodeOptions> = {
  ...ENCODE_OPTIONS,
  header: 'boolean',
  name: 'string',
  rename: 'function',
  byteOrder: ['big', 'little'],
  addressSize: [32, 64],
  contiguous: 'boolean',
  latency: 'boolean',
  format: 'string',
}

/** The maximum size of a trace file, whose header has 32-bit offsets. */
const MAX_FILE = 2 ** 32 - 1

const TIMES = FieldBit.time | FieldBit.endTime

/**
 * A pure encoder for binary traces.
 *
 * @throws RangeError if the DTD is not of version 1.0, or its name is too long for a header
 */
export function binaryEncoder(dtd: Dtd, options: BinaryEncodeOptions = {}): Encoder {
  return new BinaryEncoder(dtd, options)
}

/** The layout of a trace. */
interface Form {
  readonly header: boolean
  readonly name: string
  readonly byteOrder: ByteOrder
  readonly addressSize: 32 | 64
  readonly contiguous: boolean
}

/** The writer, once the layout is known. */
interface Output {
  readonly form: Form
  readonly tables: TableWriter
  readonly writer: BinaryWriter
}

/** Writes events by a DTD. */
export class BinaryEncoder implements Encoder {
  readonly losses: Losses
  private readonly plan: Plan
  private readonly unit: TimeUnit | undefined
  private readonly layouts: Layouts
  private readonly mappings: readonly RecordMapping[]
  private readonly chooser: Chooser
  private readonly window: number
  private readonly ready: Uint8Array[] = []
  /** Output that is held until the end, if sections are contiguous: the records under 0, and tables by ID. */
  private readonly held = new Map<number, Uint8Array[]>()
  /** The current section at the end of the delivered output. */
  private atFlush: SectionLayouts
  private header: TraceHeader | undefined
  private output: Output | undefined
  private fault: Error | undefined
  private isEnded = false

  constructor(
    dtd: Dtd,
    private readonly options: BinaryEncodeOptions = {},
    private readonly codec: Codec = codecOf(dtd),
  ) {
    checkOptions(options, OPTIONS, 'binaryEncoder')
    const { mapping } = codec
    this.plan = binaryPlan(dtd, mapping.of)
    this.unit = timeUnitOf(dtd).timeUnit
    this.losses = new AddressedLosses(
      spacesTold(mapping.carried),
      options.format ?? FORMAT,
      mapping.carried,
      options.strict,
    )
    this.losses.useUnit(this.unit ?? null)
    this.layouts = new Layouts(this.plan)
    this.atFlush = this.layouts.of(0)
    this.chooser = new Chooser(mapping, this.losses)
    this.mappings = mapping.records.map(withoutOptional)
    // Errors in the options are thrown immediately.
    this.window = Math.min(options.window ?? WINDOW, WINDOW)
    this.checkForm(this.formOf(undefined))
  }

  feed(batch: EventBatch): void {
    const count = this.losses.countBatch(batch)
    if (count < batch.count) this.fault = this.losses.errorFor(batch, count)
    try {
      this.checkUnit(batch)
      const output = this.begin(batch.header)
      // Only one header can precede the records.
      if (this.header !== undefined && batch.header !== this.header)
        this.losses.countEvent('beginning of another trace', batch, 0)
      this.header = batch.header
      output.writer.write(
        batch,
        count,
        (position) => this.codec.loop('write', position),
        () => this.flush(),
      )
    } catch (error) {
      const isLimit = error instanceof RangeError
      this.fault = isLimit ? limit(error.message, { format: this.options.format ?? FORMAT }) : (error as Error)
    }
    if (this.fault !== undefined) this.finish(true)
    else if (this.output?.writer.waits === false) this.flush()
  }

  /** Times in another unit than the DTD's would be wrong, and only the caller can decide to convert them. */
  private checkUnit({ columns, header }: EventBatch): void {
    if (
      (columns & TIMES) === 0 ||
      header.timeUnit === undefined ||
      this.unit === undefined ||
      header.timeUnit === this.unit
    )
      return
    throw unencodable(`times are in ${header.timeUnit}, and the DTD says ${this.unit}`, {
      format: this.options.format ?? FORMAT,
    })
  }

  dispose(): void {
    this.losses.dispose()
  }

  /**
   * @throws TraceError when an event or field cannot be written in strict mode, or contiguous sections become too large
   */
  next(): Uint8Array | null {
    const bytes = this.ready.shift()
    if (bytes !== undefined) return bytes
    if (this.fault !== undefined) throw this.fault
    return null
  }

  end(): void {
    this.begin(undefined)
    this.finish(false)
  }

  endTruncated(): void {
    this.finish(true)
  }

  /** Decides the layout of the trace when its first events arrive, and writes its header. */
  private begin(header: TraceHeader | undefined): Output {
    if (this.output !== undefined) return this.output
    const form = this.formOf(header)
    this.checkForm(form)
    const little = form.byteOrder === 'little'
    const tables = new TableWriter(this.layouts, little)
    const { mappings, chooser, losses, layouts, options } = this
    const waits = this.plan.tables.size > 0 && options.latency !== true
    const writer = new BinaryWriter(mappings, chooser, losses, layouts, little, tables, waits, this.window)
    this.output = { form, tables, writer }
    if (form.header && !form.contiguous) this.ready.push(fileHeader(form, 0, []))
    return this.output
  }

  private formOf(header: TraceHeader | undefined): Form {
    const { options, plan } = this
    const layout = header?.format === (options.format ?? FORMAT) ? (header.layout ?? {}) : {}
    const { dtd, byteOrder, addressSize } = layout
    const isHeld = options.contiguous ?? (plan.raw.size > 0 || layout['contiguous'] === true)
    return {
      header: options.header ?? layout['header'] !== false,
      name: options.name ?? (typeof dtd === 'string' ? this.renamed(dtd) : lastPart(plan.dtd.file)),
      byteOrder: options.byteOrder ?? (byteOrder === 'little' ? 'little' : 'big'),
      addressSize: options.addressSize ?? (addressSize === 32 ? 32 : 64),
      // If no field takes values from a table, there is nothing to wait for.
      contiguous: isHeld && plan.tables.size > 0,
    }
  }

  private renamed(name: string): string {
    const { rename } = this.options
    return rename === undefined ? name : (rename(name === '' ? null : name) ?? '')
  }

  private checkForm(form: Form): void {
    const [raw] = this.plan.raw
    if (raw !== undefined && !form.contiguous)
      throw new RangeError(`section ${raw} has no tags, and must be contiguous`)
    if (form.contiguous && !form.header) throw new RangeError('contiguous sections need a header')
    if (form.header) fileHeader(form, 0, [])
  }

  /** Delivers the output, the elements of tables before the records that use them. */
  private flush(): void {
    if (this.output === undefined) return
    const { form, tables, writer } = this.output
    const { sink } = writer
    const { ready } = this
    writer.empty()
    if (form.contiguous) {
      for (const { id, sink: elements } of tables.pending()) this.hold(id, elements.take())
      if (sink.pos > 0) this.hold(0, sink.take())
      return
    }
    const records = sink.pos > 0 ? sink.take() : null
    if (tables.pendingBytes > 0) {
      // The records begin in the section that was current when the last ones were handed on.
      const after = writer.section
      writer.section = this.atFlush
      const { id: before } = this.atFlush.section
      for (const { id, sink: elements } of tables.pending()) {
        writer.switchTo(id)
        sink.append(elements.take())
      }
      writer.switchTo(before)
      ready.push(sink.take())
      writer.section = after
    }
    if (records !== null) ready.push(records)
    this.atFlush = writer.section
  }

  private hold(id: number, bytes: Uint8Array): void {
    const parts = this.held.get(id)
    if (parts === undefined) this.held.set(id, [bytes])
    else parts.push(bytes)
  }

  /** Delivers the rest. A truncated trace must not look complete, so its header states a larger size of the records. */
  private finish(isCut: boolean): void {
    if (this.isEnded || this.output === undefined) return
    this.isEnded = true
    this.flush()
    const { form, writer } = this.output
    if (!form.contiguous) return
    const sections: SectionHeader[] = []
    const { length } = new TextEncoder().encode(form.name)
    const tables = [...this.held].filter(([table]) => table !== 0)
    let at = headerLength(length, tables.length + 1)
    for (const [table, parts] of tables) at = this.place(table, parts, at, sections)
    const start = at
    const records = this.held.get(0) ?? []
    // The records of several sections are records of the global section, with section records among them.
    const id = writer.used.size === 1 ? [...writer.used][0] : 0
    at = this.place(id, records, at, sections, isCut ? 1 : 0)
    if (at > MAX_FILE) {
      const reason = `contiguous sections of ${at} bytes, more than a header can tell`
      this.fault ??= limit(reason, { format: this.options.format ?? FORMAT })
      return
    }
    this.ready.push(fileHeader(form, writer.records, sections, start))
    for (const [, parts] of tables) this.ready.push(...parts)
    this.ready.push(...records)
    this.held.clear()
  }

  /** Assigns a position to a part of the file, and returns the position of the next one. */
  private place(
    id: number,
    parts: readonly Uint8Array[],
    start: number,
    sections: SectionHeader[],
    missing = 0,
  ): number {
    const size = parts.reduce((sum, { length }) => sum + length, missing)
    sections.push({ id, start, size })
    return start + size
  }
}

function fileHeader(form: Form, records: number, sections: SectionHeader[], start?: number): Uint8Array {
  const { name, byteOrder, addressSize } = form
  const { length } = new TextEncoder().encode(name)
  return formatFileHeader({
    dtd: name,
    byteOrder,
    addressSize,
    records: records > MAX_FILE ? 0 : records,
    sections,
    start: start ?? headerLength(length, sections.length),
  })
}

/**
 * The mapping of a record whose needs do not include optional bytes, because empty bytes mean that the event has none.
 */
function withoutOptional(mapping: RecordMapping): RecordMapping {
  const optional = mapping.leaves.filter(isOptional).reduce((set, { field }) => set | (1 << field), 0)
  return { ...mapping, needs: mapping.needs & ~optional }
}

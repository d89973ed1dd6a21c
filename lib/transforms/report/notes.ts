import { HI, LO } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { FieldBit, Kind } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import type { Calendar } from './plain.js'
import { integer } from './plain.js'
import type { ReportData } from './result.js'

const { other: OTHER, comment: COMMENT, lost: LOST } = Kind
const { present: HAS_PRESENT, text: HAS_TEXT } = FieldBit

/** The maximum number of moments of the resident set; then only each second one is kept. */
const MOST_RESIDENT = 2000
/** The maximum number of marks, and of the characters of their titles. */
const MOST_MARKS = 50
const LONGEST = 60

interface Note<Value> {
  readonly event: number
  readonly time: bigint | undefined
  readonly value: Value
}

/** What recorders note between the events about blocks: the resident set, comments, and lost events. */
export class RecorderNotes {
  private resident: Note<bigint>[] = []
  private readonly marks: Note<string>[] = []
  private period = 1
  private seen = 0
  private mostResident = 0n
  private readonly origin = new Map<string, string>()
  private header: TraceHeader | undefined

  /** Takes what the header of a trace says of its recording; of several traces, the first one's. */
  begin(header: TraceHeader): void {
    if (header === this.header) return
    this.header = header
    const { layout = {} } = header
    const { command, executable, heaptrack, pageSize, pages } = layout
    const found: [string, string | undefined][] = [
      ['command', typeof command === 'string' ? command : undefined],
      ['program', typeof executable === 'string' ? executable : undefined],
      ['recorder', typeof heaptrack === 'string' ? `heaptrack ${heaptrack}` : undefined],
      [
        'memory',
        typeof pages === 'number' && typeof pageSize === 'number'
          ? String(BigInt(pages) * BigInt(pageSize))
          : undefined,
      ],
    ]
    for (const [name, value] of found)
      if (value !== undefined && value !== '' && !this.origin.has(name)) this.origin.set(name, value.toWellFormed())
  }

  /** Takes events `from` to `to` of a batch. @param before the number of events before event `from` */
  add(batch: EventBatch, from: number, to: number, before: number, time: bigint | undefined): void {
    const { kind, mask } = batch
    let now = time
    for (let i = from; i < to; i++) {
      const code = kind[i] as number
      if (code !== OTHER && code !== COMMENT && code !== LOST) continue
      const fields = mask[i] as number
      if ((fields & FieldBit.time) !== 0) {
        const { words } = batch.time
        now = (BigInt(words[2 * i + HI] as number) << 32n) | BigInt(words[2 * i + LO] as number)
      }
      const event = before + i - from + 1
      if (code === OTHER) {
        if ((fields & HAS_PRESENT) !== 0) this.addResident(batch, i, event, now)
      } else if (this.marks.length < MOST_MARKS) {
        const text = (fields & HAS_TEXT) !== 0 ? batch.strings.text(batch.text[i] as number).slice(0, LONGEST) : ''
        // heaptrack's comments are lines about modules and the like.
        const isMark = batch.header.format !== 'heaptrack'
        const value = code === LOST ? 'lost events' : isMark ? text.toWellFormed() : ''
        if (value !== '') this.marks.push({ event, time: now, value })
      }
    }
  }

  private addResident({ present }: EventBatch, i: number, event: number, time: bigint | undefined): void {
    const value = (BigInt(present.words[2 * i + HI] as number) << 32n) | BigInt(present.words[2 * i + LO] as number)
    if (value > this.mostResident) this.mostResident = value
    if (this.seen++ % this.period !== 0) return
    this.resident.push({ event, time, value })
    if (this.resident.length < MOST_RESIDENT) return
    this.resident = this.resident.filter((_, n) => n % 2 === 0)
    this.period *= 2
  }

  /** @param longest the maximum number of characters of the command line and the program */
  result(calendar: Calendar, longest: number): Pick<ReportData, 'resident' | 'marks' | 'origin'> {
    const moments = (notes: readonly Note<unknown>[]) =>
      calendar.moments(
        notes.map(({ event }) => event),
        notes.map(({ time }) => time),
      )
    const { resident, marks, mostResident, origin } = this
    const short = (text: string) => (text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text)
    return {
      ...(origin.size > 0 && {
        origin: Object.fromEntries([...origin].map(([name, value]) => [name, short(value)])),
      }),
      ...(resident.length > 0 && {
        resident: {
          ...moments(resident),
          bytes: resident.map(({ value }) => integer(value)),
          most: integer(mostResident),
        },
      }),
      ...(marks.length > 0 && { marks: { ...moments(marks), title: marks.map(({ value }) => value) } }),
    }
  }
}

import type { EventBatch } from '../../event/batch.js'
import { FieldBit, Kind } from '../../event/fields.js'
import { commandOf, formatsOf, type TraceHeader } from '../../event/header.js'
import { recordingNote } from '../../event/recording-note.js'
import type { Calendar } from './plain.js'
import type { ReportData } from './result.js'
import { wellFormed } from '../../event/message-text.js'

const { comment: COMMENT, lost: LOST } = Kind
const HAS_TEXT = FieldBit.text

const RECORDER = 'recorder'
/** The maximum number of notes for readers. */
const MOST_NOTES = 10
/** The maximum number of marks, and of the characters of their titles. */
const MOST_MARKS = 50
const LONGEST = 60

/** Comments of recorders that do not mark a moment of the program: lines about modules, and names of threads. */
const NO_MARKS: ReadonlyMap<string, RegExp> = new Map([
  ['heaptrack', /^/],
  [RECORDER, /^(?:module|thread) /],
])

interface Note {
  readonly event: number
  readonly time: bigint | undefined
  readonly title: string
}

/** The notes of recorders between the events about blocks: comments, and lost events. */
export class RecorderNotes {
  /** What comments tell of the whole recording, as sentences. */
  readonly sentences: string[] = []
  private readonly marks: Note[] = []
  private readonly origin = new Map<string, string>()
  private header: TraceHeader | undefined

  /** Takes the data about the recording from the header of a trace; of several traces, from the first one. */
  begin(header: TraceHeader): void {
    if (header === this.header) return
    this.header = header
    const { layout = {} } = header
    const { executable, heaptrack, pageSize, pages } = layout
    const found: [string, string | undefined][] = [
      ['command', commandOf(header)],
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
      if (value !== undefined && value !== '' && !this.origin.has(name)) this.origin.set(name, wellFormed(value))
  }

  /**
   * Takes events `from` to `to` of a batch.
   * @param before the number of events before event `from`
   * @param time the last time before it
   * @param isTimed the times of the trace are used
   */
  add(batch: EventBatch, from: number, to: number, before: number, time: bigint | undefined, isTimed: boolean): void {
    const { kind, mask, header } = batch
    const isRecording = formatsOf(header).includes(RECORDER)
    let now = time
    for (let i = from; i < to; i++) {
      const code = kind[i]
      if (this.marks.length >= MOST_MARKS && !isRecording) return
      if (code !== COMMENT && code !== LOST) continue
      const fields = mask[i]
      if (isTimed && (fields & FieldBit.time) !== 0) now = batch.time.values[i]
      const event = before + i - from + 1
      const text = (fields & HAS_TEXT) !== 0 ? batch.strings.text(batch.text[i]) : ''
      const note = isRecording ? recordingNote(text) : undefined
      if (note !== undefined && this.sentences.length < MOST_NOTES) this.sentences.push(`T${note.slice(1)}.`)
      if (this.marks.length >= MOST_MARKS) continue
      const isMark = NO_MARKS.get(header.format)?.test(text) !== true
      const title = code === LOST ? 'lost events' : isMark ? shortened(text, LONGEST) : ''
      if (title !== '') this.marks.push({ event, time: now, title })
    }
  }

  /** @param longest the maximum number of characters of the command line and the program */
  result(calendar: Calendar, longest: number): Pick<ReportData, 'marks' | 'origin'> {
    const { marks, origin } = this
    const moments = calendar.moments(
      marks.map(({ event }) => event),
      marks.map(({ time }) => time),
    )
    return {
      ...(origin.size > 0 && {
        origin: Object.fromEntries([...origin].map(([name, value]) => [name, shortened(value, longest)])),
      }),
      ...(marks.length > 0 && { marks: { ...moments, title: marks.map(({ title }) => title) } }),
    }
  }
}

function shortened(text: string, longest: number): string {
  return text.length > longest ? `${wellFormed(text.slice(0, longest))}…` : wellFormed(text)
}

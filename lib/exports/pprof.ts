import { NumberedTexts } from '../text/numbered-texts.js'
import type { Profile } from '../transforms/profile/profile.js'
import { knownValue, knownValues, VALUES, type ProfileValue } from '../transforms/profile/values.js'
import { Message } from './protobuf.js'
import { NANOSECONDS, notesOf, type ExportOptions } from './writer.js'

/** Fields of the messages, by github.com/google/pprof/proto/profile.proto. */
const PROFILE = {
  sampleType: 1,
  sample: 2,
  mapping: 3,
  location: 4,
  function: 5,
  string: 6,
  duration: 10,
  periodType: 11,
  period: 12,
  comment: 13,
  defaultSampleType: 14,
} as const
const VALUE_TYPE = { type: 1, unit: 2 } as const
const SAMPLE = { location: 1, value: 2 } as const
const MAPPING = { id: 1, filename: 5, hasFunctions: 7, hasFilenames: 8, hasLineNumbers: 9 } as const
const LOCATION = { id: 1, mapping: 2, address: 3, line: 4 } as const
const LINE = { function: 1, line: 2 } as const
const FUNCTION = { id: 1, name: 2, systemName: 3, filename: 4 } as const

/**
 * The figures by the names that viewers know, in the order of Go's heap profiles, with others in between. Programs that
 * read only one figure take the last one.
 */
const TYPES: readonly (readonly [type: string, value: ProfileValue])[] = [
  ['alloc_objects', 'allocated-blocks'],
  ['alloc_space', 'allocated-bytes'],
  ['temporary_objects', 'temporary-blocks'],
  ['temporary_space', 'temporary-bytes'],
  ['foreign_frees', 'foreign-frees'],
  ['peak_objects', 'peak-blocks'],
  ['peak_space', 'peak-bytes'],
  ['inuse_objects', 'live-blocks'],
  ['inuse_space', 'live-bytes'],
]

const CAPPED = 'Figures whose sum would be beyond 2^63 - 1 are capped.'
/** Readers add up figures as signed integers of 64 bits. */
const MOST = 2n ** 63n - 1n
/** A piece of output is about this long. */
const PIECE = 65_536

/**
 * A profile for pprof, not compressed: readers expect gzip in files. Readers would take a sum beyond 2^63 - 1 for a
 * negative one, so the figures of the stacks that would lead there are capped, and a comment says so.
 * @see https://github.com/google/pprof/blob/main/proto/profile.proto
 */
export function* pprof(
  profile: Profile,
  { value = 'live-bytes', name = '' }: ExportOptions = {},
): Generator<Uint8Array> {
  const { statistics, frames, tree } = profile
  const known = knownValues(profile)
  knownValue(profile, value)
  const types = TYPES.filter(([, figure]) => known.includes(figure))
  const strings = new NumberedTexts()
  // The first one is empty.
  strings.id('')
  const out = new Message()
  for (const [type, figure] of types)
    out.message(PROFILE.sampleType, valueType(strings, type, VALUES[figure].unit === 'bytes' ? 'bytes' : 'count'))
  // Readers take the first mapping for the program.
  const mappings = new Map<string | undefined, number>([[undefined, 1]])
  for (const { module } of frames) if (!mappings.has(module)) mappings.set(module, mappings.size + 1)
  const mapping = new Message()
  for (const [module, id] of mappings) {
    mapping.clear()
    mapping.integer(MAPPING.id, id)
    mapping.integer(MAPPING.filename, strings.id(module ?? name))
    for (const field of [MAPPING.hasFunctions, MAPPING.hasFilenames, MAPPING.hasLineNumbers]) mapping.integer(field, 1)
    out.message(PROFILE.mapping, mapping)
  }
  out.message(PROFILE.periodType, valueType(strings, 'space', 'bytes'))
  out.integer(PROFILE.period, 1)
  const { time } = statistics
  if (time?.unit !== undefined) out.integer(PROFILE.duration, time.span * NANOSECONDS[time.unit])
  out.integers(
    PROFILE.comment,
    notesOf(profile).map((note) => strings.id(note)),
  )
  const first = types.find(([, figure]) => figure === value) ?? (types.at(-1) as (typeof types)[number])
  out.integer(PROFILE.defaultSampleType, strings.id(first[0]))

  const message = new Message()
  const left = types.map(() => MOST)
  let isCapped = false
  for (const sample of profile.samples()) {
    message.clear()
    message.integers(SAMPLE.location, locations(tree, sample.node))
    message.integers(
      SAMPLE.value,
      types.map(([, figure], i) => {
        const amount = BigInt(VALUES[figure].of(sample, profile.temporaryBy))
        const room = left[i]
        const written = amount > room ? room : amount
        isCapped ||= written < amount
        left[i] = room - written
        return written
      }),
    )
    out.message(PROFILE.sample, message)
    if (out.length >= PIECE) yield out.take()
  }

  if (isCapped) out.integers(PROFILE.comment, [strings.id(CAPPED)])

  const functions = new Map<string, number>()
  const [line, location] = [new Message(), new Message()]
  for (const [f, frame] of frames.entries()) {
    const key = `${frame.name}\0${frame.file ?? ''}`
    let id = functions.get(key)
    if (id === undefined) {
      functions.set(key, (id = functions.size + 1))
      message.clear()
      message.integer(FUNCTION.id, id)
      message.integer(FUNCTION.name, strings.id(frame.name))
      message.integer(FUNCTION.systemName, strings.id(frame.name))
      message.integer(FUNCTION.filename, strings.id(frame.file ?? ''))
      out.message(PROFILE.function, message)
    }
    line.clear()
    line.integer(LINE.function, id)
    line.integer(LINE.line, frame.line ?? 0)
    location.clear()
    location.integer(LOCATION.id, f + 1)
    location.integer(LOCATION.mapping, mappings.get(frame.module) as number)
    if (frame.address !== undefined) location.integer(LOCATION.address, frame.address)
    location.message(LOCATION.line, line)
    out.message(PROFILE.location, location)
    if (out.length >= PIECE) yield out.take()
  }
  for (const text of strings.all) {
    out.text(PROFILE.string, text)
    if (out.length >= PIECE) yield out.take()
  }
  yield out.take()
}

/** The locations of a stack, the innermost first: each frame has one, with its own number plus 1. */
function* locations({ parents, frames }: Profile['tree'], node: number): Generator<number> {
  for (; node > 0; node = parents[node]) yield frames[node] + 1
}

function valueType(strings: NumberedTexts, type: string, unit: string): Message {
  const message = new Message()
  message.integer(VALUE_TYPE.type, strings.id(type))
  message.integer(VALUE_TYPE.unit, strings.id(unit))
  return message
}

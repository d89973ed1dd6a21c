// The JSON schema of hf-replay --json, as data: what it writes depends on the machine and on what is installed there.
import { all, schemaText } from './json-schema.mjs'

const integer = { type: 'integer', minimum: 0 }
const number = { type: 'number', minimum: 0 }
const rank = { ...integer, type: ['integer', 'null'] }
const text = { type: 'string' }

/** Fields of the same kind. */
function each(names, schema) {
  return Object.fromEntries(names.split(' ').map((name) => [name, schema]))
}

const spread = (description) => all(each('median low high', number), description)
const amount = all(each('blocks bytes', integer))
const heap = all({ pages: integer, external: number })

const trace = all({
  events: integer,
  calls: all(each('malloc calloc memalign realloc free', integer)),
  skipped: all(
    each('unknown again reused left existing failed absurd unaligned later', integer),
    'Events that are not replayed as they are.',
  ),
  ...each('threads processes slots epochs', integer),
  peak: amount,
  peakSizes: {
    type: 'array',
    items: all(each('size blocks', integer)),
    description: 'Live blocks when most bytes were live, by size: of up to 1,024 bytes, in steps of 8.',
  },
  final: amount,
  duration: { type: ['number', 'null'], description: 'Nanoseconds, if the trace has times in a known unit.' },
})

const allocator = all({
  name: text,
  library: { type: ['string', 'null'] },
  time: spread('Processor time of all calls, without that of the driver, in nanoseconds; quartiles of the runs.'),
  wall: spread('Wall time of a run, with the driver, in nanoseconds.'),
  peak: spread('Resident bytes at their peak.'),
  final: spread('Resident bytes at the end.'),
  pageFaults: spread(),
  timeRank: {
    ...rank,
    description: '1 and the number of allocators that certainly need less; null if calls failed: it is not compared.',
  },
  peakRank: rank,
  fragmentation: {
    type: ['number', 'null'],
    description:
      'The peak over the most live bytes, less 1; null if blocks are not written to as a whole, or calls failed.',
  },
  percentiles: {
    ...all(each('50 90 99 99.9 100', number), 'Nanoseconds of sampled calls; null without samples.'),
    type: ['object', 'null'],
  },
  moments: { type: 'array', items: all(each('calls time resident', integer)) },
  failed: { ...integer, description: 'Calls that got no memory.' },
})

const pools = {
  ...all(
    { general: text, sites: { type: 'array', items: text }, saved: integer, without: heap, pooled: heap },
    'What pools for the sites of short-lived blocks would save; null if that is less than a tenth.',
  ),
  type: ['object', 'null'],
}

/** The text of the schema. */
export function replaySchema() {
  return schemaText(
    'hf-replay --json',
    'Real allocators with the calls of a trace: docs/commands/hf-replay.md.',
    all({
      trace,
      options: all({ order: text, touch: text, paced: { type: 'boolean' }, runs: integer }),
      driver: spread('The processor time of the driver itself, which is subtracted.'),
      allocators: { type: 'array', items: allocator },
      pools,
      verdict: { type: 'array', items: text, description: 'The result in sentences.' },
    }),
  )
}

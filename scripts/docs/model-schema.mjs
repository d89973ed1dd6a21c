import {
  KIND_COLUMNS,
  MODEL_FORMAT,
  MODEL_NUMBERS,
  MODEL_VERSION,
  ROW_COLUMNS,
} from '../../dist/lib/generate/trace-model.js'
import { all, schemaText, table } from './json-schema.mjs'

const ABOUT = {
  phaseLength: 'The number of allocations of each phase, but the last one.',
  lifetimeBits: 'Lifetimes below 2^(bits + 2) are exact; each doubling above has 2^bits codes.',
  threads: 'The number of threads.',
  sites: 'The number of sites.',
  thread: 'The thread that allocates, from 1.',
  site: 'The site, from 1; 0 for an unknown one.',
  api: 'The function: its place in the list of the field api in ndjson.md, from 0; one more than these for a realloc that ends another block; -1 if it is not known.',
  size: 'The size in bytes, or the smallest one.',
  sizes: 'How many sizes there are from it on.',
  alignment: 'The alignment of memalign, a power of two; 0 for the usual one.',
  phase: 'The phase of the allocations, from 0, rising.',
  kind: 'The place of their kind in the columns of kinds, from 0.',
  lifetime: 'The code of the number of allocations during the lifetime of each block; 0 for blocks that stay.',
  ending: '0: the block stays; 1: a realloc ends it; 2: its thread frees it; 3 + n: thread n frees it.',
  count: 'The number of blocks.',
}

/** The JSON Schema of the models of hf-generate. */
export function modelSchema() {
  const whole = ([name, [minimum, maximum]]) => [name, { type: 'integer', minimum, maximum, description: ABOUT[name] }]
  const properties = {
    format: { const: MODEL_FORMAT },
    version: { const: MODEL_VERSION },
    ...Object.fromEntries(Object.entries(MODEL_NUMBERS).map(whole)),
    gaps: {
      type: 'array',
      description: 'The mean time between allocations in each phase, in nanoseconds; empty if there were no times.',
      items: { type: 'number', minimum: 0 },
    },
    kinds: table('Kinds of allocation, in columns of the same length.', KIND_COLUMNS, ABOUT),
    rows: table(
      'Blocks of the same phase, kind, lifetime and ending, in columns of the same length.',
      ROW_COLUMNS,
      ABOUT,
    ),
  }
  return schemaText('Model of a trace', 'What hf-generate --write-model writes: see allocators.md.', all(properties))
}

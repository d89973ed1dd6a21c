import {
  KIND_COLUMNS,
  LIFETIME_FORMAT,
  LIFETIME_VERSION,
  STACK_COLUMNS,
  TOP_COLUMNS,
} from '../../dist/lib/transforms/simulate/lifetimes/model.js'
import { all, schemaText, table } from './json-schema.mjs'

const PLACE = { type: 'integer', minimum: 0 }

/** The JSON Schema of the models of hf-simulate. */
export function lifetimesSchema() {
  const properties = {
    format: { const: LIFETIME_FORMAT },
    version: { const: LIFETIME_VERSION },
    threshold: { ...PLACE, description: 'The most bytes that are allocated in the lifetime of a short-lived block.' },
    frames: {
      type: ['integer', 'null'],
      minimum: 1,
      description: 'How many innermost frames of a stack are the site; null: all.',
    },
    allKinds: { ...PLACE, description: 'The pairs of a site and a size in the trace.' },
    hasSites: { type: 'boolean', description: 'Whether any allocation had a site; otherwise kinds are sizes alone.' },
    isLimited: { type: 'boolean', description: 'Whether there were more pairs than are distinguished.' },
    names: {
      type: 'array',
      description: 'The names of frames, functions, files and modules, each once.',
      items: { type: 'string' },
    },
    stacks: table('The frames of stacks as a tree, in columns. A stack is its innermost frame.', STACK_COLUMNS, {
      name: 'The place of its name, from 0.',
      caller: 'The place of its caller in these columns, from 1, which comes before; 0 for an outermost frame.',
    }),
    sites: {
      type: 'array',
      description: 'Places of allocations: a stack, or else what is known.',
      items: {
        type: 'object',
        properties: {
          stack: { ...PLACE, minimum: 1, description: 'The place of its innermost frame in stacks, from 1.' },
          function: { ...PLACE, description: 'The place of its name, from 0.' },
          file: { ...PLACE, description: 'The place of its name, from 0.' },
          module: { ...PLACE, description: 'The place of its name, from 0.' },
          line: PLACE,
          callSite: { type: 'string', pattern: '^[0-9a-f]{1,16}$' },
        },
        minProperties: 1,
        additionalProperties: false,
      },
    },
    kinds: table('The sites and sizes all of whose blocks were short-lived, in columns.', KIND_COLUMNS, {
      site: 'The place of the site, from 1; 0 for allocations without one.',
      size: 'The size in bytes, rounded up to a multiple of 4.',
    }),
    top: table('The sites with the most bytes in short-lived blocks, at most 16, in columns.', TOP_COLUMNS, {
      site: 'The place of the site, from 1.',
      blocks: 'The number of these blocks.',
      bytes: 'The bytes that were requested for them.',
    }),
  }
  return schemaText(
    'Model of lifetimes',
    'What hf-simulate --predict TRAIN --write-model writes: see allocators.md.',
    all(properties),
  )
}

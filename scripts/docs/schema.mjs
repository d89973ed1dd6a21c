import { APIS, EVERY_FIELD, KINDS, OUTCOMES } from '../../dist/lib/event/fields.js'
import { MEANINGS } from './fields.mjs'
import { all, schemaText } from './json-schema.mjs'

/** Stands for the largest 64-bit integer, which a double and so `JSON.stringify` would round. */
const MAX_U64 = '@u64@'

const DEFINITIONS = {
  u64: { type: 'integer', minimum: 0, maximum: MAX_U64 },
  address: { type: 'string', pattern: '^0x(0|[1-9a-f][0-9a-f]{0,15})$' },
  u32: { type: 'integer', minimum: 0, maximum: 4294967295 },
  i32: { type: 'integer', minimum: -2147483648, maximum: 2147483647 },
  api: { enum: APIS },
  outcome: { enum: OUTCOMES },
  string: { type: 'string' },
  bytes: {
    type: 'string',
    contentEncoding: 'base64',
    pattern: '^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
  },
  list: { type: 'array', items: { type: 'string' } },
  json: { type: 'object' },
}

/** The JSON Schema of one line of NDJSON as heapflow writes it. */
export function wireSchema() {
  const about = 'One line of the stream as heapflow writes it. A decoder accepts more: see ndjson.md.'
  const schema = schemaText('heapflow NDJSON', about, {
    oneOf: [{ $ref: '#/$defs/header' }, { $ref: '#/$defs/event' }, { $ref: '#/$defs/end' }],
    $defs: {
      header: {
        type: 'object',
        description: 'The first record of a trace.',
        properties: {
          kind: { const: 'header' },
          format: { type: 'string', description: 'The format that the events were read from.' },
          timeUnit: { enum: ['ns', 'us'], description: 'The unit of time and endTime.' },
          layout: {
            type: 'object',
            description: 'What the same format needs to write the same bytes again.',
            additionalProperties: { type: ['string', 'number', 'boolean'] },
          },
          filtered: { const: true, description: 'Events were left out with no regard to blocks.' },
          part: {
            type: 'object',
            description: 'The events are a part of a trace that was split.',
            properties: {
              of: { type: 'string', description: 'An id of the stream that was split.' },
              trace: { type: 'integer', minimum: 1, description: 'Which trace of that stream this is a part of.' },
              whole: { const: true, description: 'All events of a block are in the same part.' },
              first: { type: 'integer', minimum: 1, description: 'The number of the first event in that stream.' },
            },
            required: ['of', 'trace'],
            additionalProperties: false,
          },
        },
        required: ['kind', 'format'],
        additionalProperties: false,
      },
      event: {
        type: 'object',
        properties: {
          kind: { enum: KINDS },
          ...Object.fromEntries(
            EVERY_FIELD.map(({ name, type }) => [name, { $ref: `#/$defs/${type}`, description: MEANINGS[name] }]),
          ),
        },
        required: ['kind'],
        additionalProperties: false,
      },
      end: all(
        {
          kind: { const: 'end' },
          events: { type: 'integer', minimum: 0, description: 'How many events came since the header.' },
        },
        'The last record of a trace.',
      ),
      ...DEFINITIONS,
    },
  })
  return schema.replace(`"${MAX_U64}"`, '18446744073709551615')
}

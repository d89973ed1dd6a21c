import { BUDGET_FIGURES } from '../../dist/lib/transforms/option-values.js'
import { schemaText } from './json-schema.mjs'

const NUMBER = '[0-9]{1,15}[KMGkmg]?'
const PERCENT = '[0-9]{1,6}(\\.[0-9]{1,6})?%'
const WHOLE = { type: 'integer', minimum: 0, maximum: 999999999999999 }

/** The JSON Schema of `heapflow.check.json`. */
export function checkSchema() {
  const figures = Object.entries(BUDGET_FIGURES)
  const ofFunctions = figures.filter(([, { ofFunctions }]) => ofFunctions)
  const limits = (some, rule) => ({
    type: 'object',
    properties: Object.fromEntries(
      some.map(([name, figure]) => [
        name,
        {
          $ref: `#/$defs/${rule === 'grow' ? 'growth' : 'whole' in figure ? 'share' : 'number'}`,
          description: `The ${figure.title}${figure.unit === 'bytes' && !figure.title.startsWith('bytes') ? ', in bytes' : ''}.`,
        },
      ]),
    ),
    minProperties: 1,
    additionalProperties: false,
  })
  const group = (about, name, some) => ({
    type: 'object',
    description: about,
    properties: {
      ...(name !== undefined && { [name]: { type: 'string', minLength: 1, description: 'A * is any characters.' } }),
      max: { ...limits(some, 'max'), description: 'The largest value that a figure may have.' },
      grow: { ...limits(some, 'grow'), description: 'By how much a figure may grow since the baseline.' },
    },
    ...(name !== undefined && { required: [name] }),
    minProperties: name === undefined ? 1 : 2,
    additionalProperties: false,
  })
  const text = (pattern) => ({ oneOf: [WHOLE, { type: 'string', pattern: `^(${pattern})$` }] })
  return schemaText('heapflow.check.json', 'Budgets of hf-check: see ci.md.', {
    type: 'object',
    properties: {
      $schema: { type: 'string' },
      budgets: {
        type: 'array',
        minItems: 1,
        items: { oneOf: ['whole', 'at', 'each'].map((name) => ({ $ref: `#/$defs/${name}` })) },
      },
    },
    required: ['budgets'],
    additionalProperties: false,
    $defs: {
      whole: group('Budgets of the whole trace.', undefined, figures),
      at: group('Budgets of the functions that match, added up, with what they call.', 'at', ofFunctions),
      each: group('Budgets of each function that matches, without what it calls.', 'each', ofFunctions),
      number: text(NUMBER),
      share: text(`${NUMBER}|${PERCENT}`),
      growth: text(`${NUMBER}|${PERCENT}(\\+${NUMBER})?`),
    },
  })
}

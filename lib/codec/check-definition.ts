import { KINDS, type KindName } from '../event/fields.js'
import { showValue } from '../event/message-text.js'
import { checkNeededOptions, type OptionNames, type ValueCheck } from '../event/options.js'
import { didYouMean } from '../event/suggest.js'
import type { FormatDefinition } from './definition.js'

const ENDINGS: ValueCheck = {
  what: "an array of endings such as '.mine'",
  is: (value) => Array.isArray(value) && value.every((end) => typeof end === 'string' && /^\../.test(end)),
}

const CARRIED: ValueCheck = {
  what: 'an object of results of fieldSet()',
  is: (value) => typeof value === 'object' && value !== null && Object.values(value).every(Number.isInteger),
}

const PROPERTIES: OptionNames<FormatDefinition> = {
  name: 'string',
  title: 'string',
  extensions: ENDINGS,
  binary: 'boolean',
  carried: CARRIED,
  groups: 'number',
  filled: true,
  writtenAs: true,
  decodeOptions: true,
  encodeOptions: true,
  sniff: 'function',
  read: 'function',
  decoder: 'function',
  writer: 'function',
  encoder: 'function',
}

/**
 * Refuses what a definition of a format cannot have.
 * @throws TypeError without `carried` or `sniff`
 * @throws RangeError for an unknown property or kind of event, with the name that was probably meant
 */
export function checkDefinition(definition: FormatDefinition): void {
  checkNeededOptions(definition, PROPERTIES, 'defineFormat')
  for (const name of ['carried', 'sniff'] as const)
    if (definition[name] === undefined) throw new TypeError(`defineFormat: ${name} is missing`)
  const { carried, filled = [], writtenAs = {} } = definition
  checkKinds('carried', Object.keys(carried))
  for (const { kinds } of filled) checkKinds('filled', kinds)
  checkKinds('writtenAs', Object.keys(writtenAs))
  for (const kinds of Object.values(writtenAs)) checkKinds('writtenAs', kinds)
}

function checkKinds(where: string, kinds: readonly string[]): void {
  const unknown = kinds.find((kind) => !KINDS.includes(kind as KindName))
  if (unknown === undefined) return
  const hint = didYouMean(unknown, KINDS)
  throw new RangeError(`defineFormat: unknown kind of event in ${where}: ${showValue(unknown)}${hint}`)
}

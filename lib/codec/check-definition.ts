import { ENCODE_OPTIONS, TEXT_OPTIONS } from '../event/format.js'
import { fieldSet, KINDS, type KindName } from '../event/fields.js'
import { showValue } from '../event/message-text.js'
import { checkNeededOptions, type OptionNames, type ValueCheck } from '../event/options.js'
import { didYouMean } from '../event/suggest.js'
import type { FormatDefinition } from './definition.js'

const ENDINGS: ValueCheck = {
  what: "an array of endings such as '.mine'",
  is: (value) => Array.isArray(value) && value.every((end) => typeof end === 'string' && /^\../.test(end)),
}

const CARRIED = objectOf('results of fieldSet()', Number.isInteger)

const WRITTEN_AS = objectOf('arrays of kinds of events', Array.isArray)

const OPTION_SPECS = objectOf("options such as { help: 'read all', default: false }", (value) => hasText(value, 'help'))

const FILLED: ValueCheck = {
  what: "an array of fillings such as { field: 'size', kinds: ['alloc'], as: '0' }",
  is: (value) => Array.isArray(value) && value.every((item) => hasText(item, 'as') && Array.isArray(item['kinds'])),
}

const PROPERTIES: OptionNames<FormatDefinition> = {
  name: 'string',
  title: 'string',
  extensions: ENDINGS,
  binary: 'boolean',
  carried: CARRIED,
  groups: 'number',
  filled: FILLED,
  writtenAs: WRITTEN_AS,
  decodeOptions: OPTION_SPECS,
  encodeOptions: OPTION_SPECS,
  sniff: 'function',
  read: 'function',
  decoder: 'function',
  writer: 'function',
  encoder: 'function',
}

/**
 * Refuses what a definition of a format cannot have.
 * @throws TypeError without `carried` or `sniff`
 * @throws RangeError for an unknown property, field or kind of event, with the name that was probably meant
 */
export function checkDefinition(definition: FormatDefinition): void {
  checkNeededOptions(definition, PROPERTIES, 'defineFormat')
  for (const name of ['carried', 'sniff'] as const)
    if (definition[name] === undefined) throw new TypeError(`defineFormat: ${name} is missing`)
  const { carried, filled = [], writtenAs = {}, decodeOptions = {}, encodeOptions = {} } = definition
  refuseTaken('decodeOptions', decodeOptions, TEXT_OPTIONS)
  refuseTaken('encodeOptions', encodeOptions, ENCODE_OPTIONS)
  checkKinds('carried', Object.keys(carried))
  fieldSet(...filled.map(({ field }) => field))
  for (const { kinds } of filled) checkKinds('filled', kinds)
  checkKinds('writtenAs', Object.keys(writtenAs))
  for (const kinds of Object.values(writtenAs)) checkKinds('writtenAs', kinds)
}

function objectOf(what: string, is: (value: unknown) => boolean): ValueCheck {
  return {
    what: `an object of ${what}`,
    is: (value) => typeof value === 'object' && value !== null && Object.values(value).every(is),
  }
}

/** Refuses options whose names are taken by those that all formats have, which `read` and `writer` do not get. */
function refuseTaken(where: 'decodeOptions' | 'encodeOptions', options: object, common: object): void {
  const taken = Object.keys(options).find((name) => Object.hasOwn(common, name))
  if (taken === undefined) return
  throw new RangeError(`defineFormat: ${taken} cannot be in ${where}: it is an option of all formats`)
}

/** Whether a value is an object with a text of this name. */
function hasText(value: unknown, name: string): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && typeof (value as Record<string, unknown>)[name] === 'string'
}

function checkKinds(where: string, kinds: readonly string[]): void {
  const unknown = kinds.find((kind) => !KINDS.includes(kind as KindName))
  if (unknown === undefined) return
  const hint = didYouMean(unknown, KINDS)
  throw new RangeError(`defineFormat: unknown kind of event in ${where}: ${showValue(unknown)}${hint}`)
}

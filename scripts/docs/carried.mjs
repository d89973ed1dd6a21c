import { fieldNames, FIELDS, KINDS } from '../../dist/lib/event/fields.js'
import { FORMATS } from '../../dist/lib/registry.js'
import { code, GENERATED, table } from './markdown.mjs'

const NO = '–'

/** Formats with a limit to what they carry; NDJSON carries everything. */
export const LIMITED = FORMATS.filter((format) => format.name !== 'ndjson')

/** The kinds of event on which a format carries a field. */
export function kindsWith(format, field) {
  return KINDS.filter((kind) => fieldNames(format.carried[kind] ?? 0).includes(field))
}

/** Which kinds of event and which fields each format has a place for. */
export function carriedPage() {
  const titles = LIMITED.map((format) => format.name)
  const kinds = KINDS.map((kind) => [code(kind), ...LIMITED.map((format) => (format.carried[kind] === undefined ? NO : 'yes'))])
  const fields = FIELDS.map(({ name }) => [code(name), ...LIMITED.map((format) => places(format, name))])
  return [
    GENERATED,
    '# What each format carries',
    [
      'An encoder that is given anything else counts it, and the command says so on standard error when it ends; with `--strict` the first such event or field is an error.',
      '[NDJSON](ndjson.md), which the commands use between them, carries every field on every kind of event.',
      'The pages of the formats tell the rest: what depends on their version, and on the values.',
    ].join('\n'),
    '## Kinds of event',
    table(['kind', ...titles], kinds),
    '## Fields',
    'A cell names the kinds of event on which the format has a place for the field; "all" stands for all kinds that the format has.',
    table(['field', ...titles], fields),
  ].join('\n\n') + '\n'
}

function places(format, field) {
  const kinds = kindsWith(format, field)
  if (kinds.length === 0) return NO
  const others = KINDS.filter((kind) => format.carried[kind] !== undefined && !kinds.includes(kind))
  if (others.length === 0) return 'all'
  return others.length < kinds.length ? `all but ${others.join(', ')}` : kinds.join(', ')
}

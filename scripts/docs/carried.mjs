import { EVERY_FIELD, KINDS } from '../../dist/lib/event/fields.js'
import { carriedFields } from '../../dist/lib/event/format.js'
import { FORMATS as ALL } from '../../dist/lib/formats/index.js'
import { code, GENERATED, table } from './markdown.mjs'

const NO = '–'

const FORMATS = await Promise.all(ALL.map((format) => format.load()))

/** Formats with a limit to what they carry; NDJSON carries everything. */
export const LIMITED = FORMATS.filter((format) => format.name !== 'ndjson')

/** The kinds of event on which a format carries a field. */
export function kindsWith(format, field) {
  return KINDS.filter((kind) => carriedFields(format, kind).includes(field))
}

/** Which kinds of event and which fields each format has a place for. */
export function carriedPage() {
  const titles = LIMITED.map((format) => format.name)
  const targets = LIMITED.filter((format) => format.readOnly !== true)
  const readOnly = LIMITED.filter((format) => format.readOnly === true).map((format) => format.name)
  const kinds = KINDS.map((kind) => [code(kind), ...LIMITED.map((format) => place(format, kind))])
  const fields = EVERY_FIELD.map(({ name }) => [code(name), ...LIMITED.map((format) => places(format, name))])
  return (
    [
      GENERATED,
      '# What each format carries',
      [
        'An encoder counts anything else that it is given, and the command reports it on standard error when it ' +
          'ends; with `--strict` the first such event or field is an error.',
        '[NDJSON](ndjson.md), which the commands use between them, carries every field on every kind of event.',
        'The pages of the formats describe the rest: what depends on their version, and on the values.',
      ].join('\n'),
      '## Kinds of event',
      table(['kind', ...titles], kinds),
      '## Fields',
      'A cell names the kinds of event on which the format can represent the field; "all" stands for all kinds ' +
        'of the format.',
      table(['field', ...titles], fields),
      LIMITED.filter(({ sometimes }) => sometimes)
        .map(({ name, sometimes }) => `\\* ${name}: ${sometimes.when}.`)
        .join('\n'),
      '## From one to another',
      [
        'The fields that are dropped when a trace in the format of the row is converted to that of the column. ' +
          'All others are kept.',
        'A field is named without kinds if it is kept on none of them. What a format has in another place comes back ' +
          'there: from heaptrack and heap monitoring text, function, file, line, call site and module are the ' +
          'innermost frame of the stack.',
        ...(readOnly.length === 0 ? [] : [`These can only be read, and so have no column: ${readOnly.join(', ')}.`]),
      ].join('\n'),
      table(
        ['from \\ to', ...targets.map(({ name }) => name)],
        LIMITED.map((from) => [from.name, ...targets.map((to) => (from === to ? 'all kept' : leftOut(from, to)))]),
      ),
    ].join('\n\n') + '\n'
  )
}

function places(format, field) {
  if (format.sometimes?.fields.includes(field)) return '\\*'
  const kinds = kindsWith(format, field)
  if (kinds.length === 0) return NO
  const others = KINDS.filter((kind) => format.carried[kind] !== undefined && !kinds.includes(kind))
  if (others.length === 0) return 'all'
  return others.length < kinds.length ? `all but ${others.join(', ')}` : kinds.join(', ')
}

/** How a format writes events of a kind. */
function place(format, kind) {
  if (format.carried[kind] === undefined) return NO
  const others = format.writtenAs?.[kind]
  return others === undefined ? 'yes' : `as ${others.map(code).join(' and ')}`
}

/** What of one format another one cannot represent: kinds of event, and fields of the kinds that it has. */
function leftOut(from, to) {
  const kinds = KINDS.filter((kind) => from.carried[kind] !== undefined && to.carried[kind] === undefined)
  const shared = KINDS.filter((kind) => from.carried[kind] !== undefined && to.carried[kind] !== undefined)
  const fields = EVERY_FIELD.flatMap(({ name }) => {
    const has = shared.filter((kind) => carriedFields(from, kind).includes(name))
    const lost = has.filter((kind) => !carriedFields(to, kind).includes(name))
    if (lost.length === 0) return []
    return [lost.length === has.length ? name : `${name} of ${lost.join(', ')}`]
  })
  return (
    [kinds.map((kind) => `${code(kind)} events`).join(', '), fields.join(', ')]
      .filter((text) => text !== '')
      .join('; ') || 'nothing'
  )
}

import { FIELDS } from '../../event/fields.js'
import { lastPart } from '../dtd-name.js'
import { LOOP_VERSION } from '../loop-version.js'
import { mappingOf } from '../mapping.js'
import type { Dtd } from '../model.js'
import { printDtd } from '../print.js'
import { asciiLoops } from './ascii.js'
import { readFunction } from './binary-read.js'
import { writeFunction } from './binary-write.js'
import { bitName } from './columns.js'
import { imports } from './imports.js'
import { loopSections } from './loopable.js'
import { Naming, nameLoops } from './naming.js'
import { block, comment, quoted, render, uses, withoutComments, type Code, type Language } from './source.js'
import { recordTypes } from './types.js'

/** What the compiler can be told. */
export interface CompileOptions {
  /** The language of the module: TypeScript (`ts`, the default), or JavaScript (`js`) with its types in comments. */
  language?: Language
}

/** What a module is made of besides the types of its records. */
interface Parts {
  /** Constants and functions, and what `LOOPS` is. */
  readonly loops: Code
  /** The type of `LOOPS`. */
  readonly type: string
  readonly value: Code
  /** Binary or Ascii, as in names of functions and types. */
  readonly form: 'Binary' | 'Ascii'
}

/**
 * Compiles a DTD: the source of a module with the types of its records and a reader and writer for its traces, which
 * read and write the same as `binaryDecoder` and `binaryEncoder` (in 1.2 `asciiDecoder` and `asciiEncoder`) do with
 * that DTD, but faster. The module imports nothing but heapflow, of the same version.
 *
 * @throws DtdError if the DTD is of 1.2 and asks for what lines cannot say
 */
export function compileDtd(dtd: Dtd, { language = 'ts' }: CompileOptions = {}): string {
  const naming = new Naming(language)
  // The folder is nobody's business, and readers and writers do not look at it.
  const file = lastPart(dtd.file)
  const { records } = mappingOf(dtd)
  const parts = dtd.version === '1.0' ? binaryParts(dtd, naming) : asciiLoops(dtd, naming)
  const types = recordTypes(records, { ...dtd, file }, naming)
  const beginning = [...constants([parts.loops, parts.value]), ...spaced(parts.loops)]
  const body = [...beginning, ...exportsOf(file, printDtd(dtd), parts, naming)]
  // The definition and its name need no imports, whatever words are in them.
  const code = withoutComments([...beginning, ...exportsOf('', '', parts, naming)])
  return render([...header({ ...dtd, file }), ...imports(code, language), ...types, '', ...body])
}

function header({ file, version }: Dtd): Code {
  return [
    ...comment(
      `Traces as ${file} defines them, in Meta-TF ${version}: the types of the records, a reader and a writer.`,
      '',
      `Made by metatf-compile from ${file}. To change it, change the definition and compile that.`,
    ),
    '',
  ]
}

function binaryParts(dtd: Dtd, naming: Naming): Parts {
  const mapping = mappingOf(dtd)
  const groups = nameLoops(loopSections(dtd, mapping), dtd, mapping)
  const most = Math.max(0, ...groups.flatMap(({ records }) => records.map(({ leaves }) => leaves.length)))
  const version = `version: ${LOOP_VERSION}`
  const value = groups.flatMap(({ sections, records, read, readLittle, write }) => {
    const tags = records.map(({ record }) => record.tag).join(', ')
    return sections.map(
      (section) =>
        `{ section: ${section}, tags: [${tags}], read: ${read}, readLittle: ${readLittle}, write: ${write} }`,
    )
  })
  return {
    form: 'Binary',
    type: 'BinaryLoops',
    loops: [
      scratchOf(most),
      ...groups.flatMap((group) => [
        readFunction(group, naming, 'big'),
        readFunction(group, naming, 'little'),
        writeFunction(group, naming),
      ]),
    ],
    value:
      value.length === 0
        ? [`{ ${version}, sections: [] }`]
        : [
            '{',
            [`${version},`, 'sections: [', value.map((line, i) => (i < value.length - 1 ? `${line},` : line)), ']'],
            '}',
          ],
  }
}

/** Where numbers are while they are not in a column. */
function scratchOf(leaves: number): Code {
  return [
    '/** Numbers that have no column of words, by the positions of their fields. */',
    `const scratch = new Uint32Array(${2 * leaves})`,
  ]
}

/** The definitions that are used, with empty lines between them. */
function spaced(definitions: Code): Code {
  const text = withoutComments(definitions)
  return definitions.flatMap((definition) => {
    const isScratch = typeof definition !== 'string' && render(definition).includes('const scratch =')
    const isUsed = !isScratch || text.split('scratch').length > 2
    return isUsed && typeof definition !== 'string' ? [...definition, ''] : []
  })
}

const CONSTANTS = { NO_BYTES: 'new Uint8Array(0)', SPACE: '0x20', LINE_FEED: '0x0a', ZERO: '0x30', LETTER_X: '0x78' }

/** Copies of what loops use, for an import is looked up each time. */
function constants(code: Code): Code {
  const text = withoutComments(code)
  const bits = FIELDS.filter(({ name }) => uses(text, bitName(name)))
  const lines = bits.map(({ name }) => `const ${bitName(name)} = Has.${name}`)
  for (const [name, value] of Object.entries(CONSTANTS)) if (uses(text, name)) lines.push(`const ${name} = ${value}`)
  return lines.length > 0 ? [...lines, ''] : []
}

function exportsOf(file: string, definition: string, { form, type, value }: Parts, { language, typed }: Naming): Code {
  const isTs = language === 'ts'
  // A template takes a carriage return for a line feed.
  const text = definition
    .replaceAll(/[`\\]|\$\{/g, (special) => `\\${special}`)
    .replaceAll('\r', '\\r')
    .trimEnd()
    .split('\n')
  const lower = form.toLowerCase()
  const [first = '', ...others] = value as [string, ...(string | Code)[]]
  const make = (name: string, what: string, options: string, result: string, body: string): Code => [
    ...(isTs
      ? comment(what)
      : comment(
          what,
          `@param {import('heapflow/metatf').${options}} [options]`,
          `@returns {import('${result === 'Transform' ? 'node:stream' : 'heapflow'}').${result}}`,
        )),
    ...block(`export function ${name}(options${isTs ? `?: ${options}` : ''})${isTs ? `: ${result}` : ''}`, [
      `return ${body}`,
    ]),
    '',
  ]
  return [
    ...(isTs ? [] : [`/** @type {${type.replace(/\w+Loops/, "import('heapflow/metatf').$&")}} */`]),
    `const LOOPS${isTs ? `: ${type}` : ''} = ${first}`,
    ...others,
    '',
    ...comment(`The definition, without its comments.`),
    `export const dtd = parseDtd(\`${text[0]}`,
    ...text.slice(1),
    `\`, ${quoted(file)})`,
    '',
    ...make(
      'decoder',
      'A pure decoder: bytes to events.',
      `${form}DecodeOptions`,
      'Decoder',
      `${lower}Decoder(dtd, options, LOOPS)`,
    ),
    ...make(
      'encoder',
      'A pure encoder: events to bytes.',
      `${form}EncodeOptions`,
      'Encoder',
      `${lower}Encoder(dtd, options, LOOPS)`,
    ),
    ...make(
      'decode',
      'Bytes to events: a Transform. Its error is a TraceError, after all events before it.',
      `${form}DecodeOptions`,
      'Transform',
      'decoderStream(decoder(options))',
    ),
    ...make(
      'encode',
      'Events to bytes: a Transform.',
      `${form}EncodeOptions`,
      'Transform',
      'encoderStream(encoder(options))',
    ),
    ...(isTs
      ? comment('The events of a batch that `decoder` gave, as what they are.')
      : comment(
          'The events of a batch that `decoder` gave, as what they are.',
          "@param {import('heapflow').EventBatch} batch",
          '@returns {Iterable<TraceRecord>}',
        )),
    ...block(`export function recordsOf(batch${isTs ? ': EventBatch' : ''})${isTs ? ': Iterable<TraceRecord>' : ''}`, [
      isTs
        ? `return ${typed('batch', 'Iterable<unknown>')} as Iterable<TraceRecord>`
        : 'return /** @type {any} */ (batch)',
    ]),
  ]
}

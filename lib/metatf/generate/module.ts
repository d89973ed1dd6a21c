import { lastPart } from '../dtd-name.js'
import { asciiRecords } from '../ascii/records.js'
import { mappingOf } from '../mapping.js'
import type { Dtd } from '../model.js'
import { printDtd } from '../dtd/print.js'
import { RUNTIME } from './runtime.js'
import { block, indent, type Code } from './code.js'
import { groupsOf, loopCode, LOOPS_VERSION, type LoopName } from './loops.js'
import { comment, quoted, recordTypes, type Language } from './types.js'

export type { Language } from './types.js'

/** What `compileDtd` can be told. */
export interface CompileOptions {
  /** The language of the module: TypeScript (`ts`, the default), or JavaScript (`js`) with its types in comments. */
  language?: Language
}

/**
 * Names that no type of a record may have: those of what the module imports and makes itself, and those of the language
 * that it uses.
 */
const RESERVED = [...Object.keys(RUNTIME), 'EventBatch', 'TraceRecord', 'Array', 'Iterable', 'Record', 'Uint8Array']

/**
 * The source of a module with the types of a DTD's records, and a reader and writer for its traces: the code that is
 * otherwise generated when a program first reads or writes such a trace. It imports `heapflow` and
 * `heapflow/metatf/runtime`, of the same version.
 *
 * @throws DtdError if the DTD is of 1.2 and asks for what lines cannot say
 */
export function compileDtd(dtd: Dtd, { language = 'ts' }: CompileOptions = {}): string {
  // The folder is nobody's business, and readers and writers do not look at it.
  const file = lastPart(dtd.file)
  const mapping = mappingOf(dtd)
  if (dtd.version === '1.2') asciiRecords(dtd, mapping)
  const loops = loopFunctions(dtd, language)
  const code = loops.text.replaceAll(/^ *\/\/.*$/gm, '')
  const used = Object.keys(RUNTIME).filter((name) => new RegExp(`(?<![.\\w])${name}\\b`).test(code))
  const pair = dtd.version === '1.0' ? 'binaryPair' : 'asciiPair'
  const isTs = language === 'ts'
  const any = isTs ? '' : '/** @type {any} */\n'
  const parts = [
    comment(
      `Traces as ${file} defines them, in Meta-TF ${dtd.version}: the types of the records, a reader and a writer.`,
      '',
      `Made by metatf-compile from ${file}. To change it, change the definition and compile that.`,
    ).join('\n'),
    [
      ...(isTs ? ["import type { EventBatch } from 'heapflow'"] : []),
      `import { ${pair}, parseDtd${used.length > 0 ? ', RUNTIME' : ''} } from 'heapflow/metatf/runtime'`,
    ].join('\n'),
    indent(recordTypes(mapping.records, { ...dtd, file }, language, RESERVED)).trimEnd(),
    ...(used.length > 0 ? [`const { ${used.join(', ')} } = RUNTIME`] : []),
    ...(loops.texts.length > 0
      ? [`${any}const k${isTs ? ': any' : ''} = [\n${loops.texts.map((text) => `  ${quoted(text)},\n`).join('')}]`]
      : []),
    ...(loops.text === '' ? [] : [loops.text.trimEnd()]),
    `/** The definition, without its comments. */\nexport const dtd = parseDtd(\n  [\n${definition(dtd)}  ].join('\\n'),\n  ${quoted(file)},\n)`,
    indent(exportsOf(pair, loops.names)).trimEnd(),
    indent(recordsOf(language)),
  ]
  return parts.join('\n\n')
}

function definition(dtd: Dtd): string {
  return printDtd(dtd)
    .trimEnd()
    .split('\n')
    .map((line) => `    ${quoted(line)},\n`)
    .join('')
}

/** The functions that read and write records, the texts that they need, and an object for each group of records. */
function loopFunctions(dtd: Dtd, language: Language) {
  const texts: string[] = []
  const names: Code[] = []
  const kinds: LoopName[] = dtd.version === '1.0' ? ['readBig', 'readLittle', 'write'] : ['readBig', 'write']
  const functions = groupsOf(mappingOf(dtd)).flatMap((group, g) => {
    names.push(
      [...kinds, ...(kinds.length < 3 ? ['readLittle'] : [])].map((name) => {
        return `${name}: ${dtd.version === '1.2' && name === 'readLittle' ? 'readBig' : name}${g}`
      }),
    )
    return kinds.map((name) => {
      const head = language === 'ts' ? '(run: any): void' : '(run)'
      const doc = language === 'ts' ? '' : '/** @param {any} run */\n'
      return doc + indent(block(`function ${name}${g}${head}`, loopCode(dtd, group, name, texts, true)))
    })
  })
  return { text: functions.join('\n'), texts, names }
}

function exportsOf(pair: string, groups: readonly Code[]): Code {
  return [
    'export const {',
    '/** A pure decoder: bytes to events. */',
    'decoder,',
    '/** A pure encoder: events to bytes. */',
    'encoder,',
    '/** Bytes to events: a Transform. Its error is a TraceError, after all events before it. */',
    'decode,',
    '/** Events to bytes: a Transform. */',
    'encode,',
    `} = ${pair}(dtd, {`,
    `version: ${LOOPS_VERSION},`,
    'loops: [',
    ...groups.map((names) => `{ ${names.join(', ')} },`),
    '],',
    '})',
  ]
}

function recordsOf(language: Language): Code {
  const doc = 'The events of a batch that `decoder` gave, as what they are.'
  if (language === 'ts') {
    return [
      ...comment(doc),
      ...block('export function recordsOf(batch: EventBatch): Iterable<TraceRecord>', [
        'return batch as Iterable<unknown> as Iterable<TraceRecord>',
      ]),
    ]
  }
  return [
    ...comment(doc, "@param {import('heapflow').EventBatch} batch", '@returns {Iterable<TraceRecord>}'),
    ...block('export function recordsOf(batch)', ['return /** @type {any} */ (batch)']),
  ]
}

import { checkOptions } from '../../event/options.js'
import { asciiRecords } from '../ascii/reader.js'
import { lastPart } from '../dtd-name.js'
import { printDtd } from '../dtd/print.js'
import { type Mapping, mappingOf } from '../mapping.js'
import type { Dtd } from '../model.js'
import { type Code, each, indent } from './code.js'
import { groupsOf, loopCode, type LoopName, LOOPS_VERSION } from './loops.js'
import { RUNTIME } from './runtime.js'
import { comment, quoted, TypePrinter } from './types.js'

/** Options of `compileDtd`. */
export interface CompileOptions {
  /** The language of the module: TypeScript (`ts`, the default), or JavaScript (`js`) with its types in comments. */
  language?: Language
}

/**
 * The source of a module with the types of a DTD's records, and a reader and writer for its traces: code that is
 * otherwise generated when a program first reads or writes such a trace. It imports `heapflow` and
 * `heapflow/metatf/runtime`, of the same version.
 *
 * @throws DtdError if the DTD is of 1.2 and asks for what lines cannot say
 */
export function compileDtd(dtd: Dtd, options: CompileOptions = {}): string {
  checkOptions(options, { language: ['ts', 'js'] }, 'compileDtd')
  const mapping = mappingOf(dtd)
  // Without the folder, which is private and which readers and writers do not need.
  const file = lastPart(dtd.file)
  if (dtd.version === '1.2') asciiRecords(dtd, mapping)
  const isTs = options.language !== 'js'
  const { functions, texts, groups } = loopFunctions(dtd, mapping, isTs)
  const used = Object.keys(RUNTIME).filter((name) =>
    new RegExp(`(?<![.\\w])${name}\\b`).test(withoutComments(functions.join('\n'))),
  )
  const pair = dtd.version === '1.0' ? 'binaryPair' : 'asciiPair'
  const types = new TypePrinter({ ...dtd, file }, isTs)
  const parts = [
    comment(
      `Traces as ${file} defines them, in Meta-TF ${dtd.version}: the types of the records, a reader and a writer.`,
      '',
      `Made by metatf-compile from ${file}. To change it, change the definition and compile that.`,
    ),
    `${isTs ? "import type { EventBatch } from 'heapflow'\n" : ''}import { ${pair}, parseDtd` +
      `${used.length > 0 ? ', RUNTIME' : ''} } from 'heapflow/metatf/runtime'`,
    ...types.all(mapping.records),
    used.length > 0 ? `const { ${used.join(', ')} } = RUNTIME` : '',
    texts.length > 0 ? `${isTs ? 'const k: any' : '/** @type {any} */\nconst k'} = [\n${literals(texts)}\n]` : '',
    ...functions,
    `/** The definition, without its comments. */
    export const dtd = parseDtd(
    [
    ${literals(printDtd(dtd).trimEnd().split('\n'))}
    ].join('\\n'),
    ${quoted(file)},
    )`,
    `export const {
    /** A pure decoder: bytes to events. */
    decoder,
    /** A pure encoder: events to bytes. */
    encoder,
    /** Bytes to events: a Transform. Its error is a TraceError, after all events before it. */
    decode,
    /** Events to bytes: a Transform. */
    encode,
    } = ${pair}(dtd, {
    version: ${LOOPS_VERSION},
    loops: [
    ${groups}
    ],
    })`,
    recordsOf(isTs),
  ]
  return parts
    .filter((part) => part !== '')
    .map(indent)
    .join('\n')
}

function withoutComments(code: Code): Code {
  return code.replaceAll(/^ *\/\/.*$/gm, '')
}

function literals(texts: readonly string[]): Code {
  return each(texts, (text) => `${quoted(text)},`)
}

/** The functions that read and write records, the texts that they need, and an object for each group of records. */
function loopFunctions(dtd: Dtd, mapping: Mapping, isTs: boolean) {
  const texts: string[] = []
  const kinds: LoopName[] = dtd.version === '1.0' ? ['readBig', 'readLittle', 'write'] : ['readBig', 'write']
  const groups = groupsOf(mapping)
  const functions = groups.flatMap((group, g) => {
    return kinds.map((name): Code => {
      const head = isTs ? `function ${name}${g}(run: any): void` : `/** @param {any} run */\nfunction ${name}${g}(run)`
      return `${head} {\n${loopCode(dtd, group, name, texts, true)}\n}`
    })
  })
  const objects = each(groups, (_, g) => {
    const members = kinds.map((name) => `${name}: ${name}${g}`)
    return `{ ${[...members, ...(dtd.version === '1.0' ? [] : [`readLittle: readBig${g}`])].join(', ')} },`
  })
  return { functions, texts, groups: objects }
}

function recordsOf(isTs: boolean): Code {
  const doc = 'The events of a batch that `decoder` gave, as what they are.'
  if (!isTs)
    return `
      ${comment(doc, "@param {import('heapflow').EventBatch} batch", '@returns {Iterable<TraceRecord>}')}
      export function recordsOf(batch) {
      return /** @type {any} */ (batch)
      }`
  return `
    ${comment(doc)}
    export function recordsOf(batch: EventBatch): Iterable<TraceRecord> {
    return batch as Iterable<unknown> as Iterable<TraceRecord>
    }`
}

/** The languages that modules can be written in. */
export type Language = 'ts' | 'js'

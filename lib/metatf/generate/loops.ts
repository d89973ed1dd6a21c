import { FieldBit } from '../../event/fields.js'
import type { AsciiReader } from '../ascii/reader.js'
import type { BinaryReader } from '../binary/reader.js'
import type { EventWriter } from '../event-writer.js'
import { type Mapping, mappingOf, type RecordMapping } from '../mapping.js'
import type { Dtd } from '../model.js'
import { type Code, columnLocals, declare, each, fieldsIn, type Target } from './code.js'
import { getUint, ReadCode, STOP } from './read.js'
import { RUNTIME } from './runtime.js'
import { WriteCode } from './write.js'

/** Names and values of variables. */
type Variables = readonly (readonly [string, string])[]

/** Variables with the properties of an object, by the same names. */
function propertiesOf(object: string, names: string): Variables {
  return names.split(' ').map((name) => [name, `${object}.${name}`])
}

/** Variables that are set where they are needed. */
function zeros(names: string): Variables {
  return names.split(' ').map((name) => [name, '0'])
}

/**
 * The body of a function `(run)` that reads records into a batch, up to a record that is not one of these, is
 * incomplete, or is wrong. All state is in local variables; `run` is a `BinaryReader` or `AsciiReader`.
 */
function readLoop(records: readonly RecordMapping[], target: Target, little: boolean): Code {
  const { binary, tagWidth } = target
  const codeOf = (record: RecordMapping) => new ReadCode(record, target, little).code()
  const switched = `
    switch (position) {
      ${each(records, (record) => `case ${record.position}: {\n${codeOf(record)}\nbreak\n}`)}
      default:
      break reading
    }`
  const columns = columnLocals(
    records,
    records.flatMap(({ given }) => fieldsIn(given)),
  )
  const loop = `
    reading: for (;;) {
      ${declare('const', columns, switched, target)}
      while (${binary ? `pos + ${tagWidth} <= end` : 'pos < end'} && n < limit) {
        ${declare('const', [['row', '2 * n']], switched, target)}
        ${binary ? binaryTag(tagWidth, little) : LINE_TAG}
        const position = tag < 256 ? index[tag] : section.positionOf(tag)
        ${switched}
        ${binary ? 'pos = p' : LINE_END}
        n++
      }
      break
    }`
  const variables: Variables = [
    ...propertiesOf('run', `${binary ? 'left' : 'line'} pos limit`),
    ['n', 'batch.count'],
    ...zeros('p lo hi w fields rounds values'),
    ['t', "''"],
    ['L', `L${records[0].position}`],
  ]
  const constants: Variables = [
    ...propertiesOf('run', 'bytes view end batch value section'),
    ...propertiesOf('batch', 'kind mask strings'),
    ...propertiesOf('section', 'index byPosition'),
    ...records.flatMap(({ position: r }): Variables => [
      [`L${r}`, `byPosition[${r}]`],
      [`H${r}`, `L${r}?.how`],
      [`W${r}`, `L${r}?.width`],
      [`R${r}`, `L${r}?.reference`],
      // Metadata is not read here, so layouts do not change.
      [`C${r}`, `L${r} === undefined ? 0 : L${r}.columns`],
      [`F${r}`, `L${r} === undefined ? 0 : L${r}.fields`],
      [`M${r}`, `L${r} !== undefined && L${r}.moving !== 0`],
    ]),
  ]
  const body = `
    ${declare('let', variables, loop, target)}
    ${loop}
    run.pos = pos
    run.${binary ? 'left = left' : 'line = line'}
    batch.count = n
    if (p < 0) {
      run.stop = p
      if (L !== undefined) run.undo(L)
    }`
  return `${declare('const', constants, body, target)}\n${body}`
}

function binaryTag(width: number, little: boolean): Code {
  const isInline = width === 1 || width === 2 || width === 4
  return `const tag = ${isInline ? getUint('pos', width, little) : `run.tag(pos, ${width})`}`
}

/** One digit and a space, or any other start of a line. */
const LINE_TAG: Code = `
  let tag = bytes[pos] - 48
  p = pos + 1
  if (tag < 0 || tag > 9 || bytes[p] !== SPACE) {
    p = run.begin(pos)
    ${STOP}
    tag = run.tag
  }`

const LINE_END: Code = `
  if (bytes[p] !== LINE_FEED) {
    p = run.lineEnd(p)
    ${STOP}
  }
  if (p - pos >= MAX_LINE) {
    p = run.tooLongLine(pos)
    break reading
  }
  pos = p + 1
  line++`

/**
 * The body of a function `(run)` that writes events as records, up to an event for a record of another loop. `run` is a
 * `BinaryWriter` or `AsciiWriter`. The records' positions in the mapping follow each other.
 */
function writeLoop(records: readonly RecordMapping[], target: Target): Code {
  const { binary } = target
  const [first, last] = [records[0].position, records[records.length - 1].position]
  const others = `${first > 0 ? `position < ${first} || ` : ''}position > ${last}`
  const switched = `
    switch (position) {
      ${each(records, (record) => `case ${record.position}: {\n${new WriteCode(record, target).code()}\nbreak\n}`)}
      default:
      break writing
    }`
  const loop = `
    writing: while (i < end) {
      ${declare('const', [['row', '2 * i']], switched, target)}
      const m = mask[i]
      run.row = i
      sink.pos = pos
      let position = byKind[kind[i]]
      if (position < 0 || (m & ${FieldBit.code}) !== 0 || ((m & losing[position]) | (needed[position] & ~m)) !== 0) {
        position = run.choose(i)
        if (position < 0) {
          i++
          continue
        }
        if (${others}) break
        run.compare(i, position)
      }
      else if (${others}) break
      ${switched}
      pos = p
      i++
      ${binary ? 'if (waits && run.wait(pos)) break' : ''}
    }`
  const constants = propertiesOf('run', 'batch sink end byKind losing needed little waits packer')
  const variables: Variables = [
    ['i', 'run.row'],
    ['pos', 'sink.pos'],
    ...zeros('p lo hi known rounds values'),
    ['v', 'undefined'],
    ['bytes', 'sink.bytes'],
    ...(binary ? [['view', 'run.view()'] as const] : []),
    ['byPosition', binary ? 'run.section.byPosition' : 'run.byPosition'],
  ]
  const body = `
    ${declare('const', [...propertiesOf('batch', 'kind mask'), ...columnLocals(records)], loop, target)}
    ${declare('let', variables, loop, target)}
    ${loop}
    run.row = i
    sink.pos = pos`
  return `${declare('const', constants, body, target)}\n${body}`
}

/** Reads records from the current position, up to one of another loop. */
type ReadLoop = (run: BinaryReader | AsciiReader) => void
/** Writes events from the current one, up to one for a record of another loop. */
type WriteLoop = (run: EventWriter) => void

/** The generated code for some records that follow each other in the mapping. */
export interface Loops {
  readonly readBig: ReadLoop
  /** Not for lines. */
  readonly readLittle: ReadLoop
  readonly write: WriteLoop
}

/** The version of the interface between generated code and the runtime. Increase it with every change there. */
export const LOOPS_VERSION = 2

/** Loops that were printed as a module. */
export interface PrintedLoops {
  /** `LOOPS_VERSION` of the heapflow that printed them. */
  readonly version: number
  readonly loops: readonly Loops[]
}

/**
 * The engine does not optimize functions of more than 60 kB of bytecode. A loop has some 100 bytes for each leaf, so it
 * handles at most this many leaves; a record with more has its own loop, which uses calls only.
 */
const MAX_LEAVES = 200

/** The names of the functions of `Loops`. */
export type LoopName = keyof Loops

/** The records of a DTD in groups, one for each loop. */
export function groupsOf({ records }: Mapping): readonly (readonly RecordMapping[])[] {
  const groups: RecordMapping[][] = []
  let leaves = Infinity
  for (const record of records) {
    leaves += record.leaves.length
    if (leaves > MAX_LEAVES) {
      groups.push([])
      leaves = record.leaves.length
    }
    groups[groups.length - 1].push(record)
  }
  return groups
}

/** The body of a function `(run)`. Adds the texts that it needs to `texts`, which the code calls `k`. */
export function loopCode(
  dtd: Dtd,
  group: readonly RecordMapping[],
  name: LoopName,
  texts: string[],
  isPrinted = false,
): Code {
  const binary = dtd.version === '1.0'
  const target: Target = {
    binary,
    tagWidth: dtd.tagWidth ?? 0,
    maxValues: binary ? 'MAX_VALUES' : 'MAX_LINE_VALUES',
    isPrinted,
    inline: group.length > 1 || group[0].leaves.length <= MAX_LEAVES,
    texts,
  }
  if (name === 'write') return writeLoop(group, target)
  return readLoop(group, target, name === 'readLittle')
}

/** The loops of a DTD, each generated on first use unless it was printed before. */
export class Codec {
  readonly mapping: Mapping
  private readonly groups: readonly (readonly RecordMapping[])[]
  /** By record, the group that it is in. */
  private readonly groupOf: Uint16Array
  private readonly loops: Partial<Loops>[]

  /** The loops of a module. @throws Error if another version of heapflow made it */
  static of(dtd: Dtd, { version, loops }: PrintedLoops): Codec {
    if (version === LOOPS_VERSION) return new Codec(dtd, loops)
    throw new Error('this reader and writer was compiled by another version of heapflow: run metatf-compile again')
  }

  /** @throws Error if the loops must be generated, but the engine forbids it */
  constructor(
    private readonly dtd: Dtd,
    printed?: readonly Loops[],
  ) {
    this.mapping = mappingOf(dtd)
    this.groups = groupsOf(this.mapping)
    this.groupOf = new Uint16Array(this.mapping.records.length)
    for (const [g, group] of this.groups.entries()) for (const { position } of group) this.groupOf[position] = g
    if (printed === undefined) checkGeneration()
    this.loops = printed === undefined ? this.groups.map(() => ({})) : [...printed]
  }

  /** The loop of a name for the record at a position of the mapping. */
  loop<Name extends LoopName>(name: Name, position: number): Loops[Name] {
    const g = this.groupOf[position]
    const loops = this.loops[g]
    return (loops[name] ??= this.make(g, name) as Loops[Name])
  }

  private make(g: number, name: LoopName): ReadLoop | WriteLoop {
    const texts: string[] = []
    const code = loopCode(this.dtd, this.groups[g], name, texts)
    const names = Object.keys(RUNTIME).join(', ')
    const source = `'use strict'\nconst { ${names} } = runtime\nreturn function (run) {\n${code}\n}`
    // oxlint-disable-next-line no-new-func, no-implied-eval
    return (new Function('runtime', 'k', source) as Factory)(RUNTIME, texts)
  }
}

type Factory = (runtime: typeof RUNTIME, texts: readonly string[]) => ReadLoop & WriteLoop

/** @throws Error if the engine does not allow code to be generated */
function checkGeneration(): void {
  try {
    // oxlint-disable-next-line no-new-func, no-implied-eval
    Function()
  } catch (error) {
    throw new Error(
      'Meta-TF definitions and hatf-ascii need generated code, which a content security policy or ' +
        '--disallow-code-generation-from-strings forbids: run node without this option, use a module made by ' +
        'metatf-compile, or give a page another format, such as by hf-convert',
      { cause: error },
    )
  }
}

const CODECS = new WeakMap<Dtd, Codec>()

/** The loops of a DTD, which all its readers and writers share. */
export function codecOf(dtd: Dtd): Codec {
  let codec = CODECS.get(dtd)
  if (codec === undefined) CODECS.set(dtd, (codec = new Codec(dtd)))
  return codec
}

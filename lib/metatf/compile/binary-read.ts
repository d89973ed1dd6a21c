import { isOptional } from '../binary/events.js'
import type { LeafMapping, RecordMapping } from '../mapping.js'
import { columnFor, hoisted, type Column } from './columns.js'
import { lengthOf } from './loopable.js'
import { Naming, type LoopNames, type LoopRecord } from './naming.js'
import { block, render, type Code } from './source.js'

/** The widths that are read and written in place where the DTD has them. */
const SPELLED = [1, 2, 4, 8]

/** The function that reads the records of a section. */
export function readFunction({ read, records, what, tagWidth }: LoopNames, naming: Naming): Code {
  const { number, typed } = naming
  const columns = records.flatMap(({ leaves, given }) => [
    ...leaves.flatMap(({ field }) => (field < 0 ? [] : [field])), ...Naming.givenFields(given)
  ])
  const hasBytes = columns.some((field) => columnFor(field).type === 'ids')
  const inBounds = tagWidth === 1 ? 'pos < end' : `pos + ${tagWidth} <= end`
  const loop = block('reading: for (;;)', [
    ...hoisted(columns),
    ...block(`while (${inBounds} && n < limit${hasBytes ? ' && strings.byteLength <= BATCH_STRING_BYTES' : ''})`, [
      ...(columns.some((field) => columnFor(field).type === 'words') ? ['const row = 2 * n'] : []),
      ...block(`switch (${tagAt('pos', tagWidth)})`, [
        ...records.flatMap((record) => block(`case ${record.record.tag}:`, readRecord(record, tagWidth, number))),
        'default:',
        ['break reading']
      ]),
      'n++'
    ]),
    'break'
  ])
  return naming.loop(read, 'ReadCursor', `Reads ${what} until there comes something else, or one that is not as it should be.`, [
    taken('cursor', ['bytes', 'view', 'little', 'end', 'limit', 'layouts'], [...loop, 'layouts']),
    ...records.map(({ layout }, i) => `const ${layout} = ${typed(`layouts[${i}]`, 'RecordLayout')}`),
    taken('batch', ['kind', 'mask', 'strings'], loop),
    'let { pos } = cursor',
    'let n = batch.count',
    ...loop,
    'cursor.pos = pos',
    'batch.count = n'
  ])
}

/** Constants for those of an object's properties that code uses. */
export function taken(from: string, names: readonly string[], code: Code): string {
  const text = render(code)
  return `const { ${names.filter((name) => new RegExp(`\\b${name}\\b`).test(text)).join(', ')} } = ${from}`
}

function tagAt(at: string, width: number): string {
  if (width === 1) return `view.getUint8(${at})`
  if (width === 2 || width === 4) return `view.getUint${8 * width}(${at}, little)`
  return `getTag(view, ${at}, ${width}, little)`
}

function readRecord(record: LoopRecord, tagWidth: number, number: Naming['number']): Code {
  const { layout, leaves, given, kind } = record
  const values = leaves.slice(1)
  const variable = values.filter(({ leaf }) => lengthOf(leaf) >= 0)
  const optional = values.filter((leaf) => leaf.leaf.type === 'bytes' && isOptional(leaf) && lengthOf(leaf.leaf) >= 0)
  const steps = values.flatMap((leaf) => readLeaf(leaf, record, number))
  const body: Code[number][] = [
    leafList(record),
    `${variable.length > 0 ? 'let' : 'const'} after = pos + ${layout}.length`,
    'if (after > end) break reading',
    ...readLengths(variable, layout, record, number),
    `${optional.length > 0 ? 'let' : 'const'} fields = ${layout}.fields`,
    ...optional.map(({ leaf, field }) => `if (length${lengthOf(leaf)} > 0) fields |= ${columnFor(field).bit}`),
    ...block('if ((fields & ~batch.columns) !== 0)', ['batch.addColumns(fields)', 'continue reading']),
    ...(steps.length === 0 ? [] : [`${moves(steps) ? 'let' : 'const'} p = pos + ${tagWidth}`]),
    ...withoutLastMove(steps),
    ...keepValues(record),
    ...Naming.givenFields(given).map((field) => {
      const { local, type } = columnFor(field)
      const value = type === 'u32' ? record.record.tag : columnFor(field).local === 'apiCodes' ? record.api : record.outcome
      return `${local}[n] = ${value}`
    }),
    `kind[n] = ${kind}`,
    'mask[n] = fields',
    'pos = after',
    'break'
  ]
  return body
}

/** A comment that names a record and its leaves with their positions, by which layouts know them. */
export function leafList({ name, leaves }: LoopRecord): string {
  const list = leaves.slice(1).map(({ leaf }) => `${leaf.position} ${leaf.name}`)
  return list.length === 0 ? `// ${name}` : `// ${name}: ${list.join(', ')}`
}

/** The lengths of bytes, which say how long the record is. */
function readLengths(variable: readonly LeafMapping[], layout: string, { leaves }: RecordMapping, number: Naming['number']): Code {
  return variable.flatMap(({ leaf }, i) => {
    const p = lengthOf(leaf)
    // Bytes of variable length that come before the length itself.
    const before = variable.slice(0, i).filter((other) => other.leaf.position < p)
    const shift = before.map((other) => ` + length${lengthOf(other.leaf)}`).join('')
    const width = (leaves[p] as LeafMapping).leaf.width as { bytes: number }
    const plain = width.bytes === 1 ? `view.getUint8(at${p})` : `view.getUint${8 * width.bytes}(at${p}, little)`
    const general = `${layout}.readLength(${p}, view, at${p}, little)`
    return [
      `const at${p} = pos + ${number(`${layout}.offset[${p}]`)}${shift}`,
      width.bytes === 3 ? `const length${p} = ${general}` : `const length${p} = ${layout}.how[${p}] === ${width.bytes} ? ${plain} : ${general}`,
      `after += length${p}`,
      `if (length${p} > MAX_BYTES || after > end) break reading`
    ]
  })
}

/** Reads a value at `p`, and moves `p` behind it. */
function readLeaf(mapping: LeafMapping, { layout }: LoopRecord, number: Naming['number']): Code {
  const { leaf, field, role } = mapping
  const p = leaf.position
  if (leaf.type === 'bytes') return readBytes(mapping, layout, number)
  if (role === 'counted') return [`p += ${number(`${layout}.how[${p}]`)}`]
  // A field without a place that is silent takes no bytes.
  if (field < 0) return []
  const column = columnFor(field)
  const general = readGeneral(column, layout, p, number)
  const width = plainWidth(mapping)
  const plain = width === null ? null : readPlain(column, width)
  if (plain === null) {
    if (!mapping.silent) return general
    return general.length === 1 ? [`if (${layout}.how[${p}] !== 0) ${String(general[0])}`] : block(`if (${layout}.how[${p}] !== 0)`, general)
  }
  return [`if (${layout}.how[${p}] === ${width}) {`, [...plain, `p += ${width}`], '} else {', general, '}']
}

/** The width of a number that the DTD has stored as it is, if it is one that is spelled out; else null. */
export function plainWidth({ leaf: { width, interpretation } }: LeafMapping): number | null {
  const isPlain = interpretation.kind === 'none' || interpretation.kind === 'sectionOffset'
  return isPlain && width?.kind === 'constant' && SPELLED.includes(width.bytes) ? width.bytes : null
}

function readPlain({ local, type }: Column, width: number): string[] | null {
  const get = width === 1 ? 'view.getUint8(p)' : `view.getUint${8 * width}(p, little)`
  if (type === 'words') {
    if (width === 8) {
      return [
        `${local}[row + LO] = view.getUint32(little ? p : p + 4, little)`,
        `${local}[row + HI] = view.getUint32(little ? p + 4 : p, little)`
      ]
    }
    return [`${local}[row + LO] = ${get}`, `${local}[row + HI] = 0`]
  }
  return width < 4 || (width === 4 && type === 'u32') ? [`${local}[n] = ${get}`] : null
}

function readGeneral({ local, type }: Column, layout: string, p: number, number: Naming['number']): string[] {
  if (type === 'words') return [`p = ${layout}.read(${p}, view, p, little, ${local}, row)`]
  const [lo, hi] = [`scratch[${2 * p} + LO]`, `scratch[${2 * p} + HI]`]
  const sign = type === 'u32' ? '0' : `(${number(lo)} >> 31) >>> 0`
  return [
    `p = ${layout}.read(${p}, view, p, little, scratch, ${2 * p})`,
    // Larger numbers have no room in the column.
    `if (${hi} !== ${sign}) break reading`,
    `${local}[n] = ${number(lo)}`
  ]
}

function readBytes(mapping: LeafMapping, layout: string, number: Naming['number']): Code {
  const { leaf, field } = mapping
  const { local } = columnFor(field)
  const length = lengthOf(leaf)
  const name = length >= 0 ? `length${length}` : `width${leaf.position}`
  const store = `${local}[n] = strings.intern(bytes, p, p + ${name})`
  return [
    ...(length >= 0 ? [] : [`const ${name} = ${number(`${layout}.width[${leaf.position}]`)}`]),
    isOptional(mapping) ? `if (${name} > 0) ${store}` : store,
    `p += ${name}`
  ]
}

/** Tells the layout the values that delta and stride go on from: any number may be stored that way, if metadata says so. */
export function keepValues({ layout, leaves }: LoopRecord): Code {
  const numbers = leaves.slice(1).filter(({ leaf, field }) => leaf.type === 'int' && field >= 0)
  if (numbers.length === 0) return []
  return block(
    `if (${layout}.isMoving)`,
    numbers.map(({ leaf: { position: p }, field }) => {
      const { type, local } = columnFor(field)
      return `${layout}.keep(${p}, ${type === 'words' ? `${local}, row` : `scratch, ${2 * p}`})`
    })
  )
}

function moves(steps: Code): boolean {
  return withoutLastMove(steps).some((step) => (typeof step === 'string' ? /\bp \+?= /.test(step) : moves(step)))
}

/** The steps without the move of `p` behind the last value, which nobody looks at. */
function withoutLastMove(steps: Code): Code {
  const last = steps[steps.length - 1]
  if (typeof last === 'string' && last.startsWith('p += ')) return steps.slice(0, -1)
  return steps
}

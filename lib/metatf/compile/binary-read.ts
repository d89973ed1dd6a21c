import { isOptional } from '../binary/events.js'
import type { ByteOrder } from '../binary/layout.js'
import type { LeafMapping, RecordMapping } from '../mapping.js'
import { columnFor, hoisted, type Column } from './columns.js'
import { lengthOf } from './loopable.js'
import { Naming, type LoopNames, type LoopRecord } from './naming.js'
import { block, uses, withoutComments, type Code } from './source.js'

/** The widths that are read and written in place where the DTD has them. */
const SPELLED = [1, 2, 4, 8]
const WIDEST = 8

/** What the code of a loop depends on besides the records. */
interface Context {
  readonly number: Naming['number']
  readonly operand: Naming['operand']
  /** Where the numbers in the trace have their least significant byte first, `true`, else `false`. */
  readonly little: 'true' | 'false'
}

/**
 * The function that reads the records of a section in one byte order. There is one for each order: a loop that asks for
 * the order at each number takes a third longer.
 */
export function readFunction(
  { read, readLittle, records, what, tagWidth }: LoopNames,
  naming: Naming,
  order: ByteOrder,
): Code {
  const { number, operand, typed } = naming
  const context: Context = { number, operand, little: order === 'little' ? 'true' : 'false' }
  const columns = records.flatMap(({ leaves, given }) => [
    ...leaves.flatMap(({ field }) => (field < 0 ? [] : [field])),
    ...Naming.givenFields(given),
  ])
  const hasBytes = columns.some((field) => columnFor(field).type === 'ids')
  const inBounds = tagWidth === 1 ? 'pos < end' : `pos + ${tagWidth} <= end`
  const loop = block('reading: for (;;)', [
    ...hoisted(columns),
    ...block(`while (${inBounds} && n < limit)`, [
      ...(columns.some((field) => columnFor(field).type === 'words') ? ['const row = 2 * n'] : []),
      ...block(`switch (${tagAt('pos', tagWidth, context)})`, [
        ...records.flatMap((record) => block(`case ${record.record.tag}:`, readRecord(record, tagWidth, context))),
        'default:',
        ['break reading'],
      ]),
      'n++',
    ]),
    'break',
  ])
  const name = order === 'little' ? readLittle : read
  const doc = `Reads ${what} in ${order}-endian byte order until there comes something else, or one that is not as it should be.`
  return naming.loop(name, 'ReadCursor', doc, [
    taken('cursor', ['bytes', 'view', 'end', 'layouts'], [...loop, 'layouts']),
    ...records.map(({ layout }, i) => `const ${layout} = ${typed(`layouts[${i}]`, 'RecordLayout')}`),
    taken('batch', ['kind', 'mask', 'strings'], loop),
    'let { pos } = cursor',
    `${hasBytes ? 'let' : 'const'} { limit } = cursor`,
    'let n = batch.count',
    ...loop,
    'cursor.pos = pos',
    'batch.count = n',
  ])
}

/** Constants for those of an object's properties that code uses. */
export function taken(from: string, names: readonly string[], code: Code): string {
  const text = withoutComments(code)
  return `const { ${names.filter((name) => uses(text, name)).join(', ')} } = ${from}`
}

function tagAt(at: string, width: number, context: Context): string {
  return width === 1 || width === 2 || width === 4
    ? get(at, width, context)
    : `getTag(view, ${at}, ${width}, ${context.little})`
}

/** An unsigned number of 1, 2 or 4 bytes. */
function get(at: string, width: number, { little }: Context): string {
  return `view.getUint${8 * width}(${at}${width > 1 && little === 'true' ? ', true' : ''})`
}

function readRecord(record: LoopRecord, tagWidth: number, context: Context): Code {
  const { layout, leaves, given, kind } = record
  const values = leaves.slice(1)
  const variable = values.filter(({ leaf }) => lengthOf(leaf) >= 0)
  const optional = values.filter((leaf) => leaf.leaf.type === 'bytes' && isOptional(leaf) && lengthOf(leaf.leaf) >= 0)
  const steps = values.flatMap((leaf) => readLeaf(leaf, record, context))
  const body: Code[number][] = [
    leafList(record),
    `${variable.length > 0 ? 'let' : 'const'} after = pos + ${layout}.length`,
    'if (after > end) break reading',
    ...readLengths(variable, layout, record, context),
    `${optional.length > 0 ? 'let' : 'const'} fields = ${layout}.fields`,
    ...optional.map(({ leaf, field }) => `if (length${lengthOf(leaf)} > 0) fields |= ${columnFor(field).bit}`),
    ...block('if ((fields & ~batch.columns) !== 0)', ['batch.addColumns(fields)', 'continue reading']),
    ...(steps.length === 0 ? [] : [`${moves(steps) ? 'let' : 'const'} p = pos + ${tagWidth}`]),
    ...withoutLastMove(steps),
    ...keepValues(record),
    ...Naming.givenFields(given).map((field) => {
      const { local, type } = columnFor(field)
      const value =
        type === 'u32' ? record.record.tag : columnFor(field).local === 'apiCodes' ? record.api : record.outcome
      return `${local}[n] = ${value}`
    }),
    `kind[n] = ${kind}`,
    'mask[n] = fields',
    'pos = after',
    'break',
  ]
  return body
}

/** A comment that names a record and its leaves with their positions, by which layouts know them. */
export function leafList({ name, leaves }: LoopRecord): string {
  const list = leaves.slice(1).map(({ leaf }) => `${leaf.position} ${leaf.name}`)
  return list.length === 0 ? `// ${name}` : `// ${name}: ${list.join(', ')}`
}

/** The lengths of bytes, which say how long the record is. */
function readLengths(
  variable: readonly LeafMapping[],
  layout: string,
  { leaves }: RecordMapping,
  context: Context,
): Code {
  return variable.flatMap(({ leaf }, i) => {
    const p = lengthOf(leaf)
    // Bytes of variable length that come before the length itself.
    const before = variable.slice(0, i).filter((other) => other.leaf.position < p)
    const shift = before.map((other) => ` + length${lengthOf(other.leaf)}`).join('')
    const width = (leaves[p] as LeafMapping).leaf.width as { bytes: number }
    const general = `${layout}.readLength(${p}, view, at${p}, ${context.little})`
    return [
      `const at${p} = pos + ${context.operand(`${layout}.offset[${p}]`)}${shift}`,
      width.bytes === 3
        ? `const length${p} = ${general}`
        : `const length${p} = ${layout}.how[${p}] === ${width.bytes} ? ${get(`at${p}`, width.bytes, context)} : ${general}`,
      `after += length${p}`,
      `if (length${p} > MAX_BYTES || after > end) break reading`,
    ]
  })
}

/** Reads a value at `p`, and moves `p` behind it. */
function readLeaf(mapping: LeafMapping, { layout }: LoopRecord, context: Context): Code {
  const { leaf, field, role } = mapping
  const { number } = context
  const p = leaf.position
  if (leaf.type === 'bytes') return readBytes(mapping, layout, number)
  if (role === 'counted') return [`p += ${number(`${layout}.how[${p}]`)}`]
  // A field without a place that is silent takes no bytes.
  if (field < 0) return []
  const column = columnFor(field)
  const general = readGeneral(column, layout, p, context)
  if (mapping.silent && column.type === 'words')
    return block(`if (${layout}.how[${p}] !== 0)`, readDefault(column.local, layout, p, general, number))
  if (mapping.silent) return block(`if (${layout}.how[${p}] !== 0)`, general)
  const ways = spelledWidths(mapping, column).flatMap((width) => {
    const plain = readPlain(column, width, context)
    return plain === null ? [] : [{ width, code: [...plain, `p += ${width}`] }]
  })
  return byWidth(`${layout}.how[${p}]`, ways, general)
}

/** Reads a number whose default is 0 once metadata was about it: as often as not that gave it another default. */
function readDefault(local: string, layout: string, p: number, general: Code, number: Naming['number']): Code {
  return [
    `if (${layout}.how[${p}] === BY_DEFAULT) {`,
    [
      `${local}[row] = ${number(`${layout}.reference[${2 * p}]`)}`,
      `${local}[row + 1] = ${number(`${layout}.reference[${2 * p + 1}]`)}`,
    ],
    '} else {',
    general,
    '}',
  ]
}

/** Code for each width that is spelled out, and for all else. */
export function byWidth(how: string, ways: readonly { width: number; code: Code }[], general: Code): Code {
  if (ways.length === 0) return general
  const chain = ways.flatMap(({ width, code }, i) => [`${i > 0 ? '} else ' : ''}if (${how} === ${width}) {`, code])
  return [...chain, '} else {', general, '}']
}

/**
 * The widths that are spelled out: that of the DTD, and for 64-bit columns that which metadata gives to what does not
 * fit.
 */
export function spelledWidths(mapping: LeafMapping, { type }: Column): number[] {
  const width = plainWidth(mapping)
  if (width === null) return []
  return type === 'words' && width !== WIDEST ? [width, WIDEST] : [width]
}

/** The width of a number that the DTD has stored as it is, if it is one that is spelled out; else null. */
function plainWidth({ leaf: { width, interpretation } }: LeafMapping): number | null {
  const isPlain = interpretation.kind === 'none' || interpretation.kind === 'sectionOffset'
  return isPlain && width?.kind === 'constant' && SPELLED.includes(width.bytes) ? width.bytes : null
}

function readPlain({ local, type }: Column, width: number, context: Context): string[] | null {
  if (type === 'words') {
    if (width === WIDEST) {
      const [low, high] = context.little === 'true' ? ['p', 'p + 4'] : ['p + 4', 'p']
      return [
        `${local}[row + LO] = ${get(low as string, 4, context)}`,
        `${local}[row + HI] = ${get(high as string, 4, context)}`,
      ]
    }
    return [`${local}[row + LO] = ${get('p', width, context)}`, `${local}[row + HI] = 0`]
  }
  return width < 4 || (width === 4 && type === 'u32') ? [`${local}[n] = ${get('p', width, context)}`] : null
}

function readGeneral(
  { local, type }: Column,
  layout: string,
  p: number,
  { number, operand, little }: Context,
): string[] {
  if (type === 'words') return [`p = ${layout}.read(${p}, view, p, ${little}, ${local}, row)`]
  const [lo, hi] = [`scratch[${2 * p} + LO]`, `scratch[${2 * p} + HI]`]
  const sign = type === 'u32' ? '0' : `(${operand(lo)} >> 31) >>> 0`
  return [
    `p = ${layout}.read(${p}, view, p, ${little}, scratch, ${2 * p})`,
    // Larger numbers have no room in the column.
    `if (${hi} !== ${sign}) break reading`,
    `${local}[n] = ${number(lo)}`,
  ]
}

function readBytes(mapping: LeafMapping, layout: string, number: Naming['number']): Code {
  const { leaf, field } = mapping
  const { local } = columnFor(field)
  const length = lengthOf(leaf)
  const name = length >= 0 ? `length${length}` : `width${leaf.position}`
  const store = [
    `${local}[n] = strings.intern(bytes, p, p + ${name})`,
    // The batch has become large: this is its last record.
    'if (strings.byteLength > BATCH_STRING_BYTES) limit = n + 1',
  ]
  return [
    ...(length >= 0 ? [] : [`const ${name} = ${number(`${layout}.width[${leaf.position}]`)}`]),
    ...(isOptional(mapping) ? block(`if (${name} > 0)`, store) : store),
    `p += ${name}`,
  ]
}

/**
 * Tells the layout the values that delta and stride go on from: any number may be stored that way, if metadata says so.
 */
export function keepValues({ layout, leaves }: LoopRecord): Code {
  const numbers = leaves.slice(1).filter(({ leaf, field }) => leaf.type === 'int' && field >= 0)
  if (numbers.length === 0) return []
  return block(
    `if (${layout}.isMoving)`,
    numbers.map(({ leaf: { position: p }, field }) => {
      const { type, local } = columnFor(field)
      return `${layout}.keep(${p}, ${type === 'words' ? `${local}, row` : `scratch, ${2 * p}`})`
    }),
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

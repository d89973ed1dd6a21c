import { Has } from '../../event/fields.js'
import { isOptional } from '../binary/events.js'
import type { LeafMapping } from '../mapping.js'
import { byWidth, keepValues, leafList, spelledWidths, taken } from './binary-read.js'
import { choiceOf, contradiction } from './choose-record.js'
import { columnFor, fieldsIn, hoisted, type Column } from './columns.js'
import { lengthOf } from './loopable.js'
import type { LoopNames, LoopRecord, Naming } from './naming.js'
import { block, type Code } from './source.js'

/** The function that writes the events that are records of a section. */
export function writeFunction({ write, records, what, tagWidth, mapping }: LoopNames, naming: Naming): Code {
  const { number, typed } = naming
  const choice = choiceOf(mapping, records, naming)
  const contradictions = records.map((record) => contradiction(record, naming))
  const columns = [
    ...choice.fields,
    ...records.flatMap(({ leaves }) => leaves.flatMap(({ field }) => (field < 0 ? [] : [field]))),
  ]
  const given = records.flatMap((record) => fieldsIn(record.given & (Has.outcome | Has.api)))
  const loop = block('writing: for (;;)', [
    'const view = cursor.view()',
    ...block('while (i < end)', [
      ...(columns.some((field) => columnFor(field).type === 'words') ? ['const row = 2 * i'] : []),
      `const fields = ${number('mask[i]')}`,
      ...choice.before,
      ...block(`switch (${choice.expression})`, [
        ...records.flatMap((record, k) =>
          block(`case ${choice.label(record)}:`, writeRecord(record, contradictions[k] as string[], tagWidth, naming)),
        ),
        'default:',
        ['break writing'],
      ]),
      'i++',
    ]),
    'break',
  ])
  return naming.loop(
    write,
    'WriteCursor',
    `Writes events as ${what} until there comes one that is no such record, or does not fit its layout.`,
    [
      taken('cursor', ['sink', 'little', 'end', 'layouts', 'table'], [...loop, 'layouts']),
      ...records.map(({ layout }, i) => `const ${layout} = ${typed(`layouts[${i}]`, 'RecordLayout')}`),
      taken('batch', ['kind', 'mask', 'strings'], loop),
      ...hoisted([...columns, ...given]),
      'let { pos } = sink',
      'let i = cursor.row',
      ...loop,
      'sink.pos = pos',
      'cursor.row = i',
    ],
  )
}

function writeRecord(record: LoopRecord, contradictions: readonly string[], tagWidth: number, naming: Naming): Code {
  const { layout, leaves } = record
  const values = leaves.slice(1)
  const bytes = values.filter(({ leaf }) => leaf.type === 'bytes')
  const variable = bytes.filter(({ leaf }) => lengthOf(leaf) >= 0)
  const steps = values.flatMap((leaf) => writeLeaf(leaf, values, layout, naming))
  const need = [`${layout}.length`, ...variable.map(({ leaf: { position: p } }) => `data${p}.length`)].join(' + ')
  return [
    leafList(record),
    `if ((fields & ${layout}.decisive) !== ${layout}.present) break writing`,
    ...contradictions.map((condition) => `if (${condition}) break writing`),
    ...bytes.flatMap((leaf) => takeBytes(leaf, layout, naming)),
    `const room = ${need}`,
    ...block('if (pos + room > view.byteLength)', ['sink.pos = pos', 'sink.reserve(room)', 'continue writing']),
    tagTo('pos', tagWidth, record.record.tag as number),
    `let p = pos + ${tagWidth}`,
    ...steps,
    ...keepValues(record),
    'pos = p',
    'break',
  ]
}

function tagTo(at: string, width: number, tag: number): string {
  if (width === 1) return `view.setUint8(${at}, ${tag})`
  if (width === 2 || width === 4) return `view.setUint${8 * width}(${at}, ${tag}, little)`
  return `setTag(view, ${at}, ${width}, ${tag}, little)`
}

/** The bytes that a leaf is to be, if the layout has room for as many. */
function takeBytes(mapping: LeafMapping, layout: string, { number }: Naming): Code {
  const {
    leaf: { position: p },
    leaf,
    field,
  } = mapping
  const { bit, local } = columnFor(field)
  const view = `strings.view(${number(`${local}[i]`)})`
  const optional = isOptional(mapping)
  const limits = lengthOf(leaf) < 0 ? [`data${p}.length !== ${layout}.width[${p}]`] : [`data${p}.length > MAX_BYTES`]
  // Readers do not give empty bytes, which is a loss that someone else counts.
  if (optional) limits.unshift(`((fields & ${bit}) !== 0 && data${p}.length === 0)`)
  return [
    `const data${p} = ${optional ? `(fields & ${bit}) === 0 ? NO_BYTES : ` : ''}${view}`,
    `if (${limits.join(' || ')}) break writing`,
  ]
}

/** Writes a value at `p`, and moves `p` behind it. */
function writeLeaf(mapping: LeafMapping, values: readonly LeafMapping[], layout: string, naming: Naming): Code {
  const { leaf, field, role } = mapping
  const { position: p, width } = leaf
  if (leaf.type === 'bytes') return [`if (data${p}.length > 0) sink.bytes.set(data${p}, p)`, `p += data${p}.length`]
  if (role === 'counted') {
    const data = `data${(values.find((other) => lengthOf(other.leaf) === p) as LeafMapping).leaf.position}.length`
    const general = [`p = ${layout}.writeLength(${p}, ${data}, view, p, little)`, 'if (p < 0) break writing']
    if (width?.kind !== 'constant' || width.bytes !== 1) return general
    return [
      `if (${layout}.how[${p}] === 1) {`,
      [`if (${data} > 255) break writing`, `view.setUint8(p++, ${data})`],
      '} else {',
      general,
      '}',
    ]
  }
  if (field < 0) return []
  const column = columnFor(field)
  const general = writeGeneral(column, layout, p, naming)
  if (mapping.silent) return block(`if (${layout}.how[${p}] !== 0)`, general)
  const ways = spelledWidths(mapping, column).flatMap((spelled) => {
    const plain = writePlain(column, spelled, naming)
    return plain === null ? [] : [{ width: spelled, code: [...plain, `p += ${spelled}`] }]
  })
  return byWidth(`${layout}.how[${p}]`, ways, general)
}

function writePlain({ local, type }: Column, width: number, { number, operand }: Naming): string[] | null {
  if (type === 'u32') return width === 4 ? [`view.setUint32(p, ${number(`${local}[i]`)}, little)`] : null
  if (type !== 'words') return null
  const [lo, hi] = [`${local}[row + LO]`, `${local}[row + HI]`]
  if (width === 8)
    return [
      `view.setUint32(little ? p : p + 4, ${number(lo)}, little)`,
      `view.setUint32(little ? p + 4 : p, ${number(hi)}, little)`,
    ]
  const fits = width === 4 ? `${operand(hi)} !== 0` : `${operand(hi)} !== 0 || ${operand(lo)} > ${256 ** width - 1}`
  return [
    `if (${fits}) break writing`,
    width === 1 ? `view.setUint8(p, ${number(lo)})` : `view.setUint${8 * width}(p, ${number(lo)}, little)`,
  ]
}

function writeGeneral({ local, type }: Column, layout: string, p: number, { number, operand }: Naming): string[] {
  const value = `${local}[i]`
  const words = type === 'words' ? `${local}, row` : `scratch, ${2 * p}`
  const load = [
    `scratch[${2 * p} + LO] = ${number(value)}`,
    `scratch[${2 * p} + HI] = ${type === 'i32' ? `${operand(value)} >> 31` : '0'}`,
  ]
  return [
    ...(type === 'words' ? [] : load),
    `p = ${layout}.write(${p}, view, p, little, ${words})`,
    'if (p < 0) break writing',
  ]
}

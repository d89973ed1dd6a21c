import { FieldBit } from '../../event/fields.js'
import type { RecordMapping } from '../mapping.js'
import { block, columnLocals, declare, fieldsIn, type Code, type Target } from './code.js'
import { getUint, ReadCode, STOP } from './read.js'
import { WriteCode } from './write.js'

/**
 * The body of a function `(run)` that reads records into a batch, until there comes one that is not among these, is not
 * all there, or is wrong. All state is in local variables; `run` is a `BinaryReader` or `AsciiReader`.
 *
 * @param order of the bytes in numbers
 */
export function readLoop(records: readonly RecordMapping[], target: Target, order: 'little' | 'big'): Code {
  const bodies = records.map((record) => new ReadCode(record, target, order === 'little').lines())
  const columns = records.flatMap(({ leaves, given }) => [
    ...leaves.flatMap(({ field, type }) => (field < 0 || type === 'string' || type === 'bytes' ? [] : [field])),
    ...fieldsIn(given),
  ])
  const { binary } = target
  const switched = block('switch (position)', [
    ...records.flatMap(({ position }, i) => block(`case ${position}:`, [...bodies[i], 'break'])),
    'default:',
    'break reading',
  ])
  const loop = block('reading: for (;;)', [
    ...declare('const', columnLocals(columns), switched, target),
    ...block(`while (${binary ? `pos + ${target.tagWidth} <= end` : 'pos < end'} && n < limit)`, [
      ...declare('const', [['row', '2 * n']], switched, target),
      ...(binary ? binaryTag(target.tagWidth, order) : LINE_TAG),
      'const position = tag < 256 ? index[tag] : section.positionOf(tag)',
      ...switched,
      ...(binary ? ['pos = p'] : LINE_END),
      'n++',
    ]),
    'break',
  ])
  const variables: (readonly [string, string])[] = [
    ...(binary ? [['left', 'run.left'] as const] : [['line', 'run.line'] as const]),
    ...['pos', 'limit'].map((name) => [name, `run.${name}`] as const),
    ['n', 'batch.count'],
    ...['p', 'lo', 'hi', 'w', 'fields', 'rounds', 'values'].map((name) => [name, '0'] as const),
    ['t', "''"],
    ['L', `L${records[0].position}`],
  ]
  const constants: (readonly [string, string])[] = [
    ...['bytes', 'view', 'end', 'batch', 'value', 'section'].map((name) => [name, `run.${name}`] as const),
    ...['kind', 'mask', 'strings'].map((name) => [name, `batch.${name}`] as const),
    ...['index', 'byPosition'].map((name) => [name, `section.${name}`] as const),
    ...records.flatMap(({ position: r }) => [
      [`L${r}`, `byPosition[${r}]`] as const,
      [`H${r}`, `L${r}?.how`] as const,
      [`W${r}`, `L${r}?.width`] as const,
      [`R${r}`, `L${r}?.reference`] as const,
      // Metadata is not read here, so that a layout stays as it is.
      [`C${r}`, `L${r} === undefined ? 0 : L${r}.columns`] as const,
      [`F${r}`, `L${r} === undefined ? 0 : L${r}.fields`] as const,
      [`M${r}`, `L${r} !== undefined && L${r}.moving !== 0`] as const,
    ]),
  ]
  const body = [
    ...declare('let', variables, loop, target),
    ...loop,
    'run.pos = pos',
    `run.${binary ? 'left = left' : 'line = line'}`,
    'batch.count = n',
    ...block('if (p < 0)', ['run.stop = p', 'if (L !== undefined) run.undo(L)']),
  ]
  return [...declare('const', constants, body, target), ...body]
}

function binaryTag(width: number, order: 'little' | 'big'): Code {
  if (width !== 1 && width !== 2 && width !== 4) return [`const tag = run.tag(pos, ${width})`]
  return [`const tag = ${getUint('pos', width, order === 'little')}`]
}

/** One digit and a space, or anything else that a line can begin with. */
const LINE_TAG: Code = [
  'let tag = bytes[pos] - 48',
  'p = pos + 1',
  ...block('if (tag < 0 || tag > 9 || bytes[p] !== SPACE)', ['p = run.begin(pos)', STOP, 'tag = run.tag']),
]

const LINE_END: Code = [
  ...block('if (bytes[p] !== LINE_FEED)', ['p = run.lineEnd(p)', STOP]),
  ...block('if (p - pos >= MAX_LINE)', ['p = run.tooLongLine(pos)', 'break reading']),
  'pos = p + 1',
  'line++',
]

/**
 * The body of a function `(run)` that writes events as records, until there comes one that is written as a record of
 * another loop. `run` is a `BinaryWriter` or `AsciiWriter`. The records' positions in the mapping follow each other.
 */
export function writeLoop(records: readonly RecordMapping[], target: Target): Code {
  const { binary } = target
  const columns = records.flatMap(({ leaves }) =>
    leaves.flatMap(({ field, type }) => (field < 0 || type === 'string' || type === 'bytes' ? [] : [field])),
  )
  const [first, last] = [records[0].position, records[records.length - 1].position]
  const others = [...(first > 0 ? [`position < ${first}`] : []), `position > ${last}`].join(' || ')
  const switched = block('switch (position)', [
    ...records.flatMap((record) =>
      block(`case ${record.position}:`, [...new WriteCode(record, target).lines(), 'break']),
    ),
    'default:',
    'break writing',
  ])
  const loop = block('writing: while (i < end)', [
    ...declare('const', [['row', '2 * i']], switched, target),
    'const m = mask[i]',
    'run.row = i',
    'sink.pos = pos',
    'let position = byKind[kind[i]]',
    ...block(
      `if (position < 0 || (m & ${FieldBit.code}) !== 0 || ((m & losing[position]) | (needed[position] & ~m)) !== 0)`,
      [
        'position = run.choose(i)',
        ...block('if (position < 0)', ['i++', 'continue']),
        `if (${others}) break`,
        'run.compare(i, position)',
      ],
    ),
    `else if (${others}) break`,
    ...switched,
    'pos = p',
    'i++',
    ...(binary ? ['if (waits && run.wait(pos)) break'] : []),
  ])
  const constants = ['batch', 'sink', 'end', 'byKind', 'losing', 'needed', 'little', 'waits', 'packer'].map(
    (name) => [name, `run.${name}`] as const,
  )
  const variables = [
    ['i', 'run.row'] as const,
    ['pos', 'sink.pos'] as const,
    ...['p', 'lo', 'hi', 'known', 'rounds', 'values'].map((name) => [name, '0'] as const),
    ['v', 'undefined'] as const,
    ['bytes', 'sink.bytes'] as const,
    ...(binary ? [['view', 'run.view()'] as const] : []),
    ['byPosition', binary ? 'run.section.byPosition' : 'run.byPosition'] as const,
  ]
  const body = [
    ...declare('const', [['kind', 'batch.kind'], ['mask', 'batch.mask'], ...columnLocals(columns)], loop, target),
    ...declare('let', variables, loop, target),
    ...loop,
    'run.row = i',
    'sink.pos = pos',
  ]
  return [...declare('const', constants, body, target), ...body]
}

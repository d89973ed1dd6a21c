import { FIELDS } from '../../event/fields.js'
import { programsOf, type Program } from '../ascii/program.js'
import { unwritableFields } from '../choose.js'
import { LOOP_VERSION } from '../loop-version.js'
import type { Dtd } from '../model.js'
import { choiceOf, contradiction } from './choose-record.js'
import { bitName, columnFor, fieldsIn, hoisted } from './columns.js'
import { Naming } from './naming.js'
import { block, type Code } from './source.js'

/** The most bytes that a number takes in a line, with the blank before it. */
const WORD_BYTES = 23

/** The loops for the lines of a DTD of 1.2. @throws DtdError if it asks for what lines cannot say */
export function asciiLoops(dtd: Dtd, naming: Naming): { form: 'Ascii'; type: string; loops: Code; value: Code } {
  const { programs, mapping } = programsOf(dtd)
  const simple = programs.filter((program) => program.simple !== null)
  if (simple.length === 0) return { form: 'Ascii', type: 'LineLoops | undefined', loops: [], value: ['undefined'] }
  const unwritable = (program: Program) => unwritableFields(mapping, program.mapping)
  const choice = choiceOf(
    mapping,
    simple.map((program) => program.mapping),
    naming,
  )
  return {
    form: 'Ascii',
    type: 'LineLoops',
    loops: [
      ['/** A tag of more than one digit. */', 'const scratch = new Uint32Array(2)'],
      readFunction(simple, naming),
      writeFunction(simple, naming, choice, unwritable),
    ],
    value: [`{ version: ${LOOP_VERSION}, read: readLines, write: writeLines }`],
  }
}

function wordsOf({ simple }: Program): number[] {
  return [...(simple as Uint8Array)]
}

/** A set of fields as the constants of its bits. */
function setOf(fields: number): string {
  const bits = fieldsIn(fields).map((field) => bitName((FIELDS[field] as { name: string }).name))
  return bits.length === 0 ? '0' : bits.join(' | ')
}

function readFunction(programs: readonly Program[], naming: Naming): Code {
  const { number, operand } = naming
  const columns = programs.flatMap((program) => [...wordsOf(program), ...Naming.givenFields(program.mapping.given)])
  const hasWords = programs.some((program) => wordsOf(program).length > 0)
  return [
    ...naming.loop(
      'readLines',
      'LineReadCursor',
      'Reads lines of plain numbers until there comes another, or one that is not as it should be.',
      [
        'const { bytes, end, limit } = cursor',
        'const { kind, mask } = batch',
        'let { pos } = cursor',
        'let n = batch.count',
        ...block('reading: for (;;)', [
          ...hoisted(columns),
          ...block('while (pos < end && n < limit)', [
            ...(hasWords ? ['const row = 2 * n'] : []),
            `let tag = ${operand('bytes[pos]')} - ZERO`,
            'let p = pos + 1',
            ...block('if (tag < 0 || tag > 9 || bytes[p] !== SPACE)', [
              'p = lineDecimal(bytes, pos, scratch, 0)',
              'if (p < 0 || scratch[HI] !== 0) break reading',
              `tag = ${number('scratch[LO]')}`,
            ]),
            ...block('switch (tag)', [
              ...programs.flatMap((program) => block(`case ${program.tag}:`, readLine(program))),
              'default:',
              ['break reading'],
            ]),
            '// Other line ends, and lines that are too long, are not for this loop.',
            'if (bytes[p] !== LINE_FEED || p - pos >= MAX_LINE) break reading',
            'pos = p + 1',
            'n++',
          ]),
          'break',
        ]),
        'cursor.pos = pos',
        'batch.count = n',
      ],
    ),
  ]
}

function readLine(program: Program): Code {
  const { mapping, set, tag } = program
  const { given, kind, record, outcome, api } = mapping
  const fields = set | given
  return [
    `// ${record.name}`,
    `const fields = ${setOf(fields)}`,
    ...(fields === 0
      ? []
      : block('if ((fields & ~batch.columns) !== 0)', ['batch.addColumns(fields)', 'continue reading'])),
    ...wordsOf(program).flatMap((field) => [
      'if (bytes[p] !== SPACE) break reading',
      `p = lineNumber(bytes, p + 1, ${columnFor(field).local}, row)`,
      'if (p < 0) break reading',
    ]),
    ...Naming.givenFields(given).map((field) => {
      const { local, type } = columnFor(field)
      return `${local}[n] = ${type === 'u32' ? tag : local === 'apiCodes' ? api : outcome}`
    }),
    `kind[n] = ${kind}`,
    'mask[n] = fields',
    'break',
  ]
}

function writeFunction(
  programs: readonly Program[],
  naming: Naming,
  choice: ReturnType<typeof choiceOf>,
  unwritable: (program: Program) => number,
): Code {
  const { number } = naming
  const contradictions = programs.map(({ mapping }) => contradiction(mapping, naming))
  const compared = programs.flatMap(({ mapping }, k) =>
    (contradictions[k] as string[]).length > 0 ? Naming.givenFields(mapping.given) : [],
  )
  const columns = [
    ...choice.fields,
    ...compared.filter((field) => columnFor(field).type === 'codes'),
    ...programs.flatMap(wordsOf),
  ]
  const room = WORD_BYTES * (1 + Math.max(...programs.map((program) => wordsOf(program).length)))
  const hasWords = programs.some((program) => wordsOf(program).length > 0)
  return [
    ...naming.loop(
      'writeLines',
      'LineWriteCursor',
      'Writes events as lines of plain numbers until there comes one that is no such record.',
      [
        `const { sink, end${choice.fields.length > 0 ? ', table' : ''} } = cursor`,
        'const { kind, mask } = batch',
        ...hoisted(columns),
        'let i = cursor.row',
        ...block('writing: while (i < end)', [
          ...(hasWords ? ['const row = 2 * i'] : []),
          `const fields = ${number('mask[i]')}`,
          `sink.reserve(${room})`,
          'const { bytes } = sink',
          'let p = sink.pos',
          ...choice.before,
          ...block(`switch (${choice.expression})`, [
            ...programs.flatMap((program, k) =>
              block(
                `case ${choice.label(program.mapping)}:`,
                writeLine(program, unwritable(program), contradictions[k] as string[], number),
              ),
            ),
            'default:',
            ['break writing'],
          ]),
          'bytes[p++] = LINE_FEED',
          'sink.pos = p',
          'i++',
        ]),
        'cursor.row = i',
      ],
    ),
  ]
}

function writeLine(
  program: Program,
  unwritable: number,
  contradictions: readonly string[],
  number: Naming['number'],
): Code {
  const { mapping, hex, set, tag } = program
  return [
    `// ${mapping.record.name}: the event must have its fields, and nothing else that is to be kept.`,
    `const own = ${setOf(set)}`,
    `if ((fields & (own | ${setOf(unwritable & ~set)})) !== own) break writing`,
    ...contradictions.map((condition) => `if (${condition}) break writing`),
    ...[...String(tag)].map((digit) => `bytes[p++] = ZERO${digit === '0' ? '' : ` + ${digit}`}`),
    ...wordsOf(program).flatMap((field, k) => {
      const { local } = columnFor(field)
      const words = `${number(`${local}[row + LO]`)}, ${number(`${local}[row + HI]`)}`
      if (hex[k] !== 1) return ['bytes[p++] = SPACE', `p = writeDecimal(bytes, p, ${words})`]
      return ['bytes[p++] = SPACE', 'bytes[p++] = ZERO', 'bytes[p++] = LETTER_X', `p = writeHex(bytes, p, ${words})`]
    }),
    'break',
  ]
}

import type { Code, Language } from './source.js'

/** What modules import from where; `type` marks what is only there for types. */
const IMPORTS: readonly { from: string; names: readonly string[] }[] = [
  { from: 'node:stream', names: ['type Transform'] },
  {
    from: 'heapflow',
    names: [
      'BATCH_STRING_BYTES',
      'Has',
      'HI',
      'LO',
      'decoderStream',
      'encoderStream',
      'type Decoder',
      'type Encoder',
      'type EventBatch',
    ],
  },
  {
    from: 'heapflow/metatf',
    names: [
      'BY_DEFAULT',
      'MAX_BYTES',
      'MAX_LINE',
      'asciiDecoder',
      'asciiEncoder',
      'binaryDecoder',
      'binaryEncoder',
      'getTag',
      'lineDecimal',
      'lineNumber',
      'parseDtd',
      'recordSlot',
      'setTag',
      'writeDecimal',
      'writeHex',
      'type AsciiDecodeOptions',
      'type AsciiEncodeOptions',
      'type BinaryDecodeOptions',
      'type BinaryEncodeOptions',
      'type BinaryLoops',
      'type LineLoops',
      'type LineReadCursor',
      'type LineWriteCursor',
      'type ReadCursor',
      'type RecordLayout',
      'type WriteCursor',
    ],
  },
]

/** The names of all that modules may import. */
export const imported: readonly string[] = IMPORTS.flatMap(({ names }) =>
  names.map((name) => name.replace(/^type /, '')),
)

/** Imports of what a text uses, which has neither comments nor strings with other names. */
export function imports(text: string, language: Language): Code {
  const lines = IMPORTS.flatMap(({ from, names }) => {
    const used = names.filter((name) => {
      const isType = name.startsWith('type ')
      return (
        (language === 'ts' || !isType) && new RegExp(`(?<![\\w'.\`])${isType ? name.slice(5) : name}\\b`).test(text)
      )
    })
    if (used.length === 0) return []
    const isOnlyTypes = used.every((name) => name.startsWith('type '))
    const list = isOnlyTypes ? used.map((name) => name.slice(5)) : used
    const line = `import ${isOnlyTypes ? 'type ' : ''}{ ${list.join(', ')} } from '${from}'`
    return line.length <= 120
      ? [line]
      : [`import ${isOnlyTypes ? 'type ' : ''}{`, ...wrapNames(list), `} from '${from}'`]
  })
  return [...lines, '']
}

function wrapNames(names: readonly string[]): string[] {
  const lines = ['  ']
  for (const [i, name] of names.entries()) {
    const text = i < names.length - 1 ? `${name},` : name
    const last = lines[lines.length - 1] as string
    if (last.length + text.length + 1 > 118) lines.push(`  ${text}`)
    else lines[lines.length - 1] = last === '  ' ? `  ${text}` : `${last} ${text}`
  }
  return lines
}

import { isDeepStrictEqual } from 'node:util'
import type { EventFields, TraceEvent } from '../../../lib/event/trace-event.js'

const PLACE =
  /^(?:@ (?:(?:([^]*):)?(?:\(([^()]*?)([+-](?:0x)?[0-9a-f]{1,16})?\))?)?)?\[(0x[0-9a-fA-F]{1,16}|\(nil\))\] $/
/** The first operation is that of the line: what stands behind another one is no place. */
const BEGIN = /^((?:@ |\[)[^]*?\] |)(?=[-+<>!] (?:0x|\(nil))/
const OPERATION = /^([-+<>!]) (0x[0-9a-fA-F]+|\(nil\))(?: (0|0x[0-9a-fA-F]+))?$/

interface Line {
  operation: string
  pointer: bigint
  size?: bigint
  at: Pick<EventFields, 'callSite' | 'function' | 'fields' | 'module'>
}

/** All events of a trace, by regular expressions: a line at a time, or two for a realloc. */
export function decodeLines(text: string): TraceEvent[] {
  const lines = text.split('\n').slice(0, -1)
  if (lines[0] === '= Start') lines.shift()
  const events: TraceEvent[] = []
  for (let i = 0; i < lines.length; i++) {
    const line = read(lines[i])
    const next = line?.operation === '<' ? read(lines[i + 1] ?? '') : undefined
    if (next?.operation === '>' && line !== undefined && isDeepStrictEqual(next.at, line.at)) {
      events.push({
        kind: 'realloc',
        address: next.pointer,
        oldAddress: line.pointer,
        size: next.size as bigint,
        ...line.at,
      })
      i++
    } else {
      events.push(line === undefined ? { kind: 'comment', text: lines[i] } : eventOf(line))
    }
  }
  return events
}

function eventOf({ operation, pointer, size = 0n, at }: Line): TraceEvent {
  switch (operation) {
    case '+':
      return { kind: 'alloc', address: pointer, size, ...at }
    case '-':
      return { kind: 'free', address: pointer, ...at }
    case '<':
      return { kind: 'realloc', oldAddress: pointer, outcome: 'freed', ...at }
    case '>':
      return { kind: 'realloc', address: pointer, size, outcome: 'allocated', ...at }
    default:
      return { kind: 'realloc', address: 0n, oldAddress: pointer, size, ...at }
  }
}

function read(line: string): Line | undefined {
  const place = BEGIN.exec(line)?.[1]
  if (place === undefined) return undefined
  const [, operation = '', pointer = '', size] = OPERATION.exec(line.slice(place.length)) ?? []
  if (operation === '' || (size === undefined) !== ['-', '<'].includes(operation)) return undefined
  const [, module, name, offset, site] = place === '' ? [] : (PLACE.exec(place) ?? [])
  if (place !== '' && site === undefined) return undefined
  const values = [pointer, size ?? '0', site ?? '0'].map((value) => (value === '(nil)' ? 0n : BigInt(value)))
  const [address = 0n, bytes = 0n, callSite = 0n] = values
  if (values.some((value) => value >= 1n << 64n)) return undefined
  const named = module !== undefined || name !== undefined
  return {
    operation,
    pointer: address,
    ...(size !== undefined && { size: bytes }),
    at: {
      ...(site !== undefined && (callSite !== 0n || !named) && { callSite }),
      ...(name !== undefined && { function: name }),
      ...(offset !== undefined && { fields: { offset } }),
      ...(module !== undefined && { module }),
    },
  }
}

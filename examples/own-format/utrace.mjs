import { defineFormat, fieldSet } from 'heapflow/format'

/** ` 85447 a.out    USER  0x28405040 = malloc(40)`: process, command, and a call. */
const LINE = /^ *(\d{1,20}) (\S{1,19}) *USER +(.*)$/
const CALL = /^(?:(0x[0-9a-f]+) = (?:malloc\(|realloc\((0x[0-9a-f]+), )(\d+)\)|free\((0x[0-9a-f]+)\))$/

/** What FreeBSD's kdump prints of the calls that malloc records with the option utrace. */
export const utrace = defineFormat({
  name: 'utrace',
  title: 'FreeBSD utrace',
  extensions: ['.utrace'],
  carried: {
    alloc: fieldSet('process', 'address', 'size'),
    realloc: fieldSet('process', 'address', 'oldAddress', 'size'),
    free: fieldSet('process', 'address'),
  },
  filled: [{ field: 'process', kinds: ['alloc', 'realloc', 'free'], as: '0' }],

  sniff: (head) => /^ *\d+ \S+ *USER +(malloc_init\(\)|0x[0-9a-f]+ = |free\(0x)/m.test(new TextDecoder().decode(head)),

  *read(cursor) {
    let hasBegun = false
    let skipped = 0
    for (let line; (line = yield* cursor.line()) !== undefined; ) {
      const [, process, command, call] = LINE.exec(line) ?? []
      const event = call === undefined ? undefined : eventOf(call)
      if (event === undefined) {
        if (call !== 'malloc_init()') skipped++
        continue
      }
      if (!hasBegun) yield* cursor.begin({ format: 'utrace', layout: { command } })
      hasBegun = true
      cursor.emit({ ...event, process: BigInt(process) })
    }
    if (!hasBegun) yield* cursor.begin({ format: 'utrace' })
    if (skipped > 0) cursor.warn(`skipped lines that are no calls of malloc: ${skipped}`)
  },

  writer() {
    let command = 'app'
    return {
      begin({ format, layout }, trace, lose) {
        if (trace > 1) lose('beginning of another trace')
        const known = format === 'utrace' ? layout?.command : undefined
        if (/^\S{1,19}$/.test(known ?? '')) command = known
        return ''
      },
      event(event, lose) {
        const call = callOf(event, lose)
        const process = String(event.process ?? 0n).padStart(6)
        return call && `${process} ${command.padEnd(8)} USER  ${call}\n`
      },
    }
  },
})

/** The event of a call, without the process; undefined if it is none. */
function eventOf(call) {
  const [, result, old, size, freed] = CALL.exec(call) ?? []
  if (freed !== undefined) return { kind: 'free', address: BigInt(freed) }
  if (size === undefined) return undefined
  return {
    kind: old === undefined ? 'alloc' : 'realloc',
    size: BigInt(size),
    ...(old !== undefined && { oldAddress: BigInt(old) }),
    // A call that failed has no address.
    ...(BigInt(result) !== 0n && { address: BigInt(result) }),
  }
}

/** The call of an event; undefined if there is none. */
function callOf({ kind, address, oldAddress, size }, lose) {
  if (kind === 'free') return address === undefined ? undefined : `free(${hex(address)})`
  if (size === undefined) return undefined
  if (address === 0n) lose('address 0, which is that of a call that failed')
  if (kind === 'alloc') return `${hex(address ?? 0n)} = malloc(${size})`
  return oldAddress === undefined ? undefined : `${hex(address ?? 0n)} = realloc(${hex(oldAddress)}, ${size})`
}

const hex = (address) => `0x${address.toString(16)}`

/** Sections of a WebAssembly module, by their numbers. */
const [GLOBALS, EXPORTS] = [6, 7]
const HEADER = 8
/** What begins an initial value: a constant of 32 or 64 bits. */
const [I32_CONST, I64_CONST] = [0x41, 0x42]
/** The kind of an export that is a global. */
const IS_GLOBAL = 3

/** The name under which variable `i` of a module is exported. */
export function globalName(i: number): string {
  return `variable${i}`
}

/**
 * A WebAssembly module that also exports all of its variables, so that they can be set.
 * @returns its bytes, and how many variables there are
 * @throws Error for a module with imported globals, or initial values that are no integers
 */
export function exportGlobals(module: Uint8Array): { bytes: Uint8Array; count: number } {
  const parts: Uint8Array[] = [module.subarray(0, HEADER)]
  let variables: number[] = []
  for (let at = HEADER; at < module.length;) {
    const [size, start] = leb(module, at + 1)
    const end = start + size
    const content = module.subarray(start, end)
    if (module[at] === GLOBALS) variables = variablesIn(content)
    if (module[at] === EXPORTS) parts.push(section(EXPORTS, withExports(content, variables)))
    else parts.push(module.subarray(at, end))
    at = end
  }
  return { bytes: new Uint8Array(Buffer.concat(parts)), count: variables.length }
}

/** The numbers of the globals that can be set. */
function variablesIn(content: Uint8Array): number[] {
  const variables: number[] = []
  const [count, first] = leb(content, 0)
  let at = first
  for (let i = 0; i < count; i++) {
    if (content[at + 1] === 1) variables.push(i)
    const opcode = content[at + 2]
    if (opcode !== I32_CONST && opcode !== I64_CONST) throw new Error('an initial value is no integer')
    at += 3
    while ((content[at] as number) >= 0x80) at++
    at += 2
  }
  return variables
}

function withExports(content: Uint8Array, variables: readonly number[]): Uint8Array {
  const [count, first] = leb(content, 0)
  const added = variables.flatMap((index, i) => {
    const name = Buffer.from(globalName(i))
    return [...unsigned(name.length), ...name, IS_GLOBAL, ...unsigned(index)]
  })
  return Buffer.concat([Buffer.from(unsigned(count + variables.length)), content.subarray(first), Buffer.from(added)])
}

function section(id: number, content: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from([id, ...unsigned(content.length)]), content])
}

/** A number as unsigned LEB128, and the position after it. */
function leb(bytes: Uint8Array, at: number): [number, number] {
  let value = 0
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++] as number
    value += (byte & 0x7f) * 2 ** shift
    if (byte < 0x80) return [value, at]
  }
}

function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(Math.floor(value / 0x80))]
}

import { spawn, spawnSync } from 'node:child_process'
import { decodeText, encodeText } from '../../event/strings.js'
import type { Names } from './namer.js'
import { isInstalled } from './installed.js'

const DEMANGLER = 'c++filt'
/** The suffixes that compilers append to the symbol of a part, a copy or a variant of a function. */
const COPY = /(?:\.(?:isra|part|constprop|cold|lto_priv|llvm)(?:\.[0-9]+)*)+$/

/** The maximum number of bytes of an answer that is waited for. */
const MAX_ANSWER = 256 << 20

/** Whether names can be demangled on this machine. */
export function canDemangle(): boolean {
  return isInstalled(DEMANGLER)
}

/**
 * Names without their mangling, as addr2line writes them, and without what compilers append to the names of copies.
 * Where there is no `c++filt`, they stay mangled.
 */
export async function demangled(names: readonly string[], signal: AbortSignal): Promise<string[]> {
  const plain = names.map((name) => name.replace(COPY, ''))
  const others = plain.some(isMangled) ? await filtered(plain, [], signal) : plain
  const ofD = plain.filter(isMangledD)
  if (ofD.length === 0) return others
  // c++filt does not recognize them by itself.
  const found = await filtered(ofD, ['--format=dlang'], signal)
  const byName = new Map(ofD.map((name, i) => [name, found[i]]))
  return others.map((name) => byName.get(name) ?? name)
}

async function filtered(plain: string[], options: readonly string[], signal: AbortSignal): Promise<string[]> {
  return new Promise((resolve) => {
    const child = spawn(DEMANGLER, ['--no-verbose', ...options], {
      stdio: ['pipe', 'pipe', 'ignore'],
      signal,
      killSignal: 'SIGKILL',
    })
    const parts: Buffer[] = []
    child.on('error', () => resolve(plain))
    child.stdin.on('error', () => {})
    child.stdout.on('data', (part: Buffer) => parts.push(part))
    child.on('close', () => resolve(answersOf(Buffer.concat(parts), plain)))
    child.stdin.end(questions(plain))
  })
}

/** The same, synchronously, for a few names, such as those in a file of rules. */
export function demangledNow(names: readonly string[]): string[] {
  const plain = names.map((name) => name.replace(COPY, ''))
  if (!plain.some(isMangled)) return plain
  const { stdout, error } = spawnSync(DEMANGLER, ['--no-verbose'], {
    input: questions(plain),
    stdio: ['pipe', 'pipe', 'ignore'],
    maxBuffer: MAX_ANSWER,
  })
  return error === undefined ? answersOf(stdout, plain) : plain
}

/** Whether a name is a symbol of C++ or Rust. */
export function isMangled(name: string): boolean {
  return /^_(?:Z|R[BCIMNXY])/.test(name)
}

/** Whether a name is a symbol of D, which addr2line leaves mangled. */
export function isMangledD(name: string): boolean {
  return /^_D[1-9]/.test(name)
}

function questions(names: readonly string[]): Uint8Array {
  return encodeText(names.map((name) => `${name.replaceAll('\n', ' ')}\n`).join(''))
}

function answersOf(output: Uint8Array, names: string[]): string[] {
  const lines = decodeText(output).split('\n')
  return lines.length === names.length + 1 ? lines.slice(0, -1) : names
}

/** The names at addresses with their functions demangled. */
export async function demangledNames(answers: readonly Names[], signal: AbortSignal): Promise<Names[]> {
  const mangled = [...new Set(answers.flatMap((names) => names.flatMap((name) => name.function ?? [])))]
  const plain = await demangled(mangled, signal)
  const byName = new Map(mangled.map((name, i) => [name, plain[i]]))
  return answers.map((names) =>
    names.map((name) =>
      name.function === undefined ? name : { ...name, function: byName.get(name.function) as string },
    ),
  )
}

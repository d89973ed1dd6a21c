import { spawn } from 'node:child_process'
import { decodeText, encodeText } from '../../event/strings.js'
import type { Names } from './namer.js'
import { isInstalled } from './installed.js'

const DEMANGLER = 'c++filt'
/** What compilers append to the symbol of a part, a copy or a variant of a function. */
const COPY = /(?:\.(?:isra|part|constprop|cold|lto_priv|llvm)(?:\.[0-9]+)*)+$/

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
  if (!plain.some((name) => /^_[ZR]/.test(name))) return plain
  return new Promise((resolve) => {
    const child = spawn(DEMANGLER, ['--no-verbose'], {
      stdio: ['pipe', 'pipe', 'ignore'],
      signal,
      killSignal: 'SIGKILL',
    })
    const parts: Buffer[] = []
    child.on('error', () => resolve(plain))
    child.stdin.on('error', () => {})
    child.stdout.on('data', (part: Buffer) => parts.push(part))
    child.on('close', () => {
      const lines = decodeText(Buffer.concat(parts)).split('\n')
      resolve(lines.length === plain.length + 1 ? lines.slice(0, -1) : plain)
    })
    child.stdin.end(encodeText(plain.map((name) => `${name.replaceAll('\n', ' ')}\n`).join('')))
  })
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

import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { pipeline, type Duplex, type Readable, type Writable } from 'node:stream'
import split2 from 'split2'
import { canDemangle, demangledNames, isMangledD } from './demangle.js'
import type { AddressNamer, Names } from './namer.js'

/** The tools that name addresses, the best first. Both understand the same options and write the same text. */
export const ADDRESS_TOOLS = ['llvm-symbolizer', 'addr2line'] as const
export type AddressTool = (typeof ADDRESS_TOOLS)[number]

/** An address that no module has: the answer to it ends the answers to those before it. */
const END = 'ffffffffffffffff'
/** Further functions that were inlined at an address are left out. */
const MAX_INLINED = 256
/** The maximum length of a name in characters; longer ones are truncated. */
const MAX_NAME = 65_536
/** The maximum length of a line in characters; with a longer one, the tool has failed. */
const MAX_LINE = 2 ** 24

/** A process that names the addresses of one file. */
export class AddressProcess implements AddressNamer {
  private readonly child: ChildProcessByStdio<Writable, Readable, null>
  private readonly answers: Duplex
  private readonly lines: AsyncIterator<string>
  private failure: Error | undefined

  /** Its names are mangled, and the demangler for all tools is available. */
  private readonly isMangled: boolean

  /**
   * @param file the path of an ELF file
   * @param signal ends the process that demangles the names
   */
  constructor(
    tool: AddressTool,
    file: string,
    private readonly signal: AbortSignal,
  ) {
    this.isMangled = tool === 'llvm-symbolizer' && canDemangle()
    const style = tool === 'addr2line' ? [] : ['--output-style=GNU']
    const names = this.isMangled ? '--no-demangle' : '-C'
    this.child = spawn(tool, [...style, '-a', '-i', names, '-f', '-e', file], { stdio: ['pipe', 'pipe', 'ignore'] })
    this.answers = pipeline(this.child.stdout, split2({ maxLength: MAX_LINE }), () => {})
    this.lines = this.answers[Symbol.asyncIterator]()
    this.child.stdin.on('error', (error) => (this.failure ??= error))
    this.child.on('error', (error) => {
      this.failure = error
      this.answers.destroy()
    })
  }

  /** The names at addresses. @throws Error when the process ends before it has answered */
  async ask(addresses: readonly bigint[]): Promise<Names[]> {
    // The answers are read while the questions are written.
    this.child.stdin.write(`${addresses.map((address) => `0x${address.toString(16)}\n`).join('')}0x${END}\n`)
    const answers: Names[] = []
    let names: { function?: string; file?: string; line?: number }[] = []
    let name: string | undefined
    for (let isLast = false; ;) {
      const line = await this.line()
      // A name with a line feed must not take the place of an answer, which would be waited for.
      if (/^0x[0-9a-f]+$/.test(line)) {
        names = []
        name = undefined
        isLast = line === `0x${END}`
        if (!isLast) answers.push(names)
      } else if (name === undefined) {
        name = line
      } else {
        if (isLast) break
        if (names.length < MAX_INLINED) names.push(named(name, line))
        name = undefined
      }
    }
    if (answers.length !== addresses.length) throw new Error(`${this.child.spawnfile} gave a wrong number of answers`)
    const known = answers.map((names) => (names.some((name) => name.function !== undefined) ? names : []))
    const isOfD = ({ function: name = '' }: Names[number]) => isMangledD(name)
    const isMangled = this.isMangled || known.some((names) => names.some(isOfD))
    return isMangled && canDemangle() ? demangledNames(known, this.signal) : known
  }

  /** Ends the process. */
  close(): void {
    this.child.kill('SIGKILL')
    this.answers.destroy()
    this.child.stdin.destroy()
    this.child.stdout.destroy()
  }

  private async line(): Promise<string> {
    const next = await this.lines.next().catch((error: unknown) => {
      throw this.failure ?? error
    })
    if (next.done === true) throw this.failure ?? new Error(`${this.child.spawnfile} ended before it had answered`)
    return next.value.length > MAX_NAME ? next.value.slice(0, MAX_NAME) : next.value
  }
}

/** The two lines of an answer: `name` and `file:line`, with question marks for unknown parts. */
function named(name: string, place: string): { function?: string; file?: string; line?: number } {
  const [, file, line] = /^(.*):(\d+|\?)(?: \(discriminator \d+\))?$/s.exec(place) ?? []
  const number = Number(line)
  const isKnown = (text = '') => text !== '' && text !== '??'
  return {
    ...(isKnown(name) && { function: name }),
    ...(isKnown(file) && { file }),
    ...(isKnown(file) && number > 0 && number <= 0xffff_ffff && { line: number }),
  }
}

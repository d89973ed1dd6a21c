import { readFileSync, writeSync } from 'node:fs'
import { parseArgs, type ParseArgsConfig } from 'node:util'
import { isBrokenPipe } from '../streams/failure.js'
import { UsageError, type Arguments, type Command, type Flag } from './command.js'
import { helpText } from './help.js'

/** Flags that every command has. */
export const COMMON_FLAGS: readonly Flag[] = [
  { name: 'help', short: 'h', help: 'Show this help' },
  { name: 'version', help: "Show heapflow's version" },
]

const [DATA_ERROR, USAGE_ERROR, INTERRUPTED] = [1, 2, 130]

/** How long what is being written may take once the command was interrupted. */
const GRACE_MS = 1000

/**
 * Runs a command on the process's arguments. Sets `process.exitCode`: 0 done, also when the reader of the output went
 * away; 1 bad data or a failed read or write; 2 a command line that makes no sense; 130 interrupted.
 * It never calls `process.exit`, which would cut what is still queued for a pipe.
 */
export async function main(command: Command, argv: readonly string[] = process.argv.slice(2)): Promise<void> {
  const say = (message: string) => process.stderr.write(`${command.name}: ${message}\n`)
  try {
    const args = parseFlags(command, argv)
    if (args.has('help')) print(helpText(command))
    else if (args.has('version')) print(`${command.name} ${version()}\n`)
    else await command.run(args)
  } catch (error) {
    if (isBrokenPipe(error)) return
    if (error instanceof UsageError) {
      say(`${error.message} (see ${command.name} --help)`)
      process.exitCode = USAGE_ERROR
    } else if (error instanceof Error && error.name === 'AbortError') {
      process.exitCode = INTERRUPTED
      // A write that waits for a reader cannot be given up, and `process.exit` would wait for it: by now nobody handles
      // the signal any more.
      setTimeout(() => process.kill(process.pid, 'SIGINT'), GRACE_MS).unref()
    } else {
      say(describe(error))
      process.exitCode = DATA_ERROR
    }
  }
}

/** Writes to standard output at once, so that a reader that has gone away is an error like any other. */
function print(text: string): void {
  writeSync(1, text)
}

/** @throws UsageError */
export function parseFlags(command: Command, argv: readonly string[]): Arguments {
  const flags = [...command.flags, ...COMMON_FLAGS]
  const options: NonNullable<ParseArgsConfig['options']> = {}
  for (const flag of flags) {
    options[flag.name] = {
      type: flag.value === undefined ? 'boolean' : 'string',
      multiple: true,
      ...(flag.short !== undefined && { short: flag.short }),
    }
  }
  let parsed
  try {
    parsed = parseArgs({ args: [...argv], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError((error as Error).message.replace(/\. To specify a positional.*/s, ''))
  }
  const given = parsed.values as Record<string, (string | boolean)[] | undefined>
  for (const flag of flags) {
    const values = given[flag.name] ?? []
    if (values.length > 1 && flag.value !== undefined && flag.repeat !== true)
      throw new UsageError(`--${flag.name} was given more than once`)
    for (const value of values) {
      if (flag.values !== undefined && !flag.values.includes(value as string)) {
        throw new UsageError(`--${flag.name} must be one of ${flag.values.join(', ')}, not ${JSON.stringify(value)}`)
      }
    }
  }
  const all = (name: string) => (given[name] ?? []).filter((value) => typeof value === 'string')
  return {
    all,
    value: (name) => all(name).at(-1),
    has: (name) => given[name] !== undefined,
    operands: parsed.positionals,
  }
}

function version(): string {
  // dist/lib/cli/main.js and lib/cli/main.ts are at different depths below package.json.
  for (const up of ['../../../package.json', '../../package.json']) {
    try {
      return (JSON.parse(readFileSync(new URL(up, import.meta.url), 'utf8')) as { version: string }).version
    } catch {
      continue
    }
  }
  return 'unknown'
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EISDIR: 'is a directory',
  ENOSPC: 'no space left on device',
  EFBIG: 'the file would be too large',
}

/** A failed system call in words, any other error by its message. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, path, syscall } = error as NodeJS.ErrnoException
  const reason = code === undefined ? undefined : REASONS[code]
  if (reason === undefined) return error.message
  return syscall === 'write' ? `cannot write: ${reason}` : `${path ?? 'the input'}: ${reason}`
}

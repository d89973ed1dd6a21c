import { readFileSync, writeSync } from 'node:fs'
import { constants } from 'node:os'
import { isBrokenPipe } from '../streams/broken-pipe.js'
import { TemporaryFileError } from '../streams/io/temporary-error.js'
import { Incomplete, Interrupted, UsageError, type Command } from './command.js'
import { expectLittle } from './expect-little.js'
import { helpText } from './help/text.js'
import { nameIncomplete, noteIncomplete } from './incomplete.js'
import { limitReached } from './limits.js'
import { formatModules, parseFlags } from './parse.js'
import { say } from './say.js'

const [DATA_ERROR, USAGE_ERROR, SIGNALLED] = [1, 2, 128]

/**
 * Runs a command on the process's arguments. Sets `process.exitCode`: 0 success, also if the reader of the output
 * closed the pipe; 1 bad input or I/O error; 2 usage error; 128 and the signal's number (130 for SIGINT) after a
 * signal. It never calls `process.exit`, which would discard what is still queued for a pipe.
 */
export async function main(command: Command, argv: readonly string[] = process.argv.slice(2)): Promise<void> {
  let { name } = command
  const onExit = () => {
    // heapflow itself never ends the process before the command is done.
    say(name, 'the process was ended before the command was done; its output is incomplete')
    process.exitCode = DATA_ERROR
  }
  process.once('exit', onExit)
  try {
    const [chosen, rest] = command.choose?.(argv) ?? [command, argv]
    ;({ name } = chosen)
    const modules = formatModules(chosen, rest)
    // Before the flags are parsed, because they name formats.
    if (modules.length > 0) await (await import('./format-module.js')).loadFormatModules(modules)
    const args = parseFlags(chosen, rest)
    if (args.has('help')) print(helpText(chosen))
    else if (args.has('version')) print(`${name} ${version()}\n`)
    else {
      expectLittle(chosen, args)
      await chosen.run(args)
    }
  } catch (thrown) {
    const error = thrown instanceof Incomplete ? thrown.cause : thrown
    if (error instanceof UsageError) {
      say(name, `${error.message}; see ${name} --help`)
      process.exitCode = USAGE_ERROR
    } else if (error instanceof Interrupted) {
      process.exitCode = SIGNALLED + constants.signals[error.signal]
    } else if (!isBrokenPipe(error)) {
      say(name, describe(error))
      // A command may have set the status that the program had which it ran.
      process.exitCode ||= DATA_ERROR
    }
    if (thrown instanceof Incomplete) {
      noteIncomplete(thrown.files)
      nameIncomplete(name, error)
    }
  } finally {
    process.removeListener('exit', onExit)
  }
}

/** Writes to standard output synchronously, so that a closed pipe is an ordinary error. */
function print(text: string): void {
  writeSync(1, text)
}

export function version(): string {
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
  ENOTDIR: 'a part of the path is not a directory',
  EACCES: 'permission denied',
  EISDIR: 'is a directory',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space left on device',
  EFBIG: 'the file would be too large',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'too many symbolic links',
  EINVAL: 'cannot be read',
}

/** A failed system call in words, any other error by its message. */
export function describe(error: unknown, file = 'the input'): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof TemporaryFileError) {
    const reason = REASONS[error.code ?? ''] ?? error.cause.message
    return `cannot write a temporary file in ${error.folder}: ${reason}`
  }
  const limit = limitReached(error)
  if (limit !== undefined) return limit
  const { code, path, syscall } = error as NodeJS.ErrnoException
  const reason = code === undefined ? undefined : REASONS[code]
  if (reason === undefined) return error.message
  return syscall === 'write' ? `cannot write: ${reason}` : `${path ?? file}: ${reason}`
}

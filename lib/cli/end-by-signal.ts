import { setImmediate } from 'node:timers/promises'
import { isPipe, statOf } from '../streams/io/file-status.js'
import { abandonOutputs } from '../streams/io/output-file.js'
import { Interrupted } from './command.js'
import { nameIncomplete, noteIncomplete } from './incomplete.js'

/** The signals that end a command after it has put its files in order. */
export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Ends the process by a signal that it no longer handles, when the files that are not complete are named. */
export function endBySignal(command: string, signal: NodeJS.Signals): void {
  noteIncomplete(abandonOutputs())
  nameIncomplete(command, new Interrupted(signal))
  process.kill(process.pid, signal)
}

/**
 * Whether a command reads a pipe. Ctrl-C ends the programs that write into it, and then the input: the data in the pipe
 * is not lost. The second one ends the command.
 * @param paths the files that are read, or `-`
 */
export function readsPipe(paths: readonly string[]): boolean {
  return paths.includes('-') && isPipe(statOf('-', 0))
}

/**
 * Does something that cannot be relied on to end, so that a signal ends the process at once.
 * @param clear puts things in order before
 * @param paths the files that are read, or `-`: with a pipe, the first SIGINT ends its writers only
 */
export async function endedBySignals<Result>(
  command: string,
  clear: () => void,
  run: () => Result | Promise<Result>,
  paths: readonly string[] = [],
): Promise<Result> {
  let isLeft = readsPipe(paths)
  const end = (signal: NodeJS.Signals) => {
    if (signal === 'SIGINT' && isLeft) {
      isLeft = false
      return
    }
    clear()
    for (const one of SIGNALS) process.removeListener(one, end)
    endBySignal(command, signal)
  }
  for (const signal of SIGNALS) process.on(signal, end)
  try {
    return await run()
  } finally {
    // A signal that came while nothing else could run, and may have ended what ran.
    await setImmediate()
    for (const signal of SIGNALS) process.removeListener(signal, end)
  }
}

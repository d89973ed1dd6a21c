import type { EventEmitter } from 'node:events'
import { inputName, nameInput, TraceError } from '../event/error.js'
import { withFlag } from '../text/last-line.js'
import { inputSize } from '../streams/io/file-status.js'
import { abandonOutputs } from '../streams/io/output-file.js'
import { Incomplete, Interrupted } from './command.js'
import { endBySignal, readsPipe, SIGNALS } from './end-by-signal.js'
import { noteIncomplete } from './incomplete.js'
import { showProgress, type Work } from './progress.js'
import { say } from './say.js'

/** The time limit of pending writes after the command was interrupted. */
const GRACE_MS = 1000

/** The parts of it that a command has. Both are on by default. */
export interface Supervision {
  /** Shows progress. */
  readonly progress?: boolean
  /** Signals end the command when what it holds is written; otherwise they end the process at once. */
  readonly signals?: boolean
}

/** Work that reads files and writes. */
interface Supervised extends Supervision {
  readonly command: string
  /** The files that are read, or `-`. */
  readonly paths: readonly string[]
  /** They emit `warning` with a text, and `events` with a number of events. */
  readonly emitters: readonly EventEmitter[]
  /** The number of bytes that were read so far. */
  bytesRead(): number
  /** @param interrupted fails when a signal comes */
  run(interrupted: Promise<never>): Promise<void>
  /**
   * Closes the output after a failure.
   * @returns the names of the files that are not complete
   */
  abandon(): Promise<readonly string[]>
}

/**
 * Does the work with warnings and progress on standard error, until it is done or a signal ends it.
 * @throws Incomplete when files were left incomplete, with the reason; otherwise the reason itself
 */
export async function supervise(work: Supervised): Promise<void> {
  const { command, paths, progress = true, signals = true } = work
  // With several inputs, and those of hf-merge, warnings name the input that they concern.
  const named = paths.length === 1 ? `${inputName(paths[0])}: ` : ''
  let events = 0
  for (const emitter of work.emitters) {
    emitter.on('warning', (text: string) => say(command, `warning: ${text.startsWith(named) ? '' : named}${text}`))
    emitter.on('events', (n: number) => {
      events += n
    })
  }
  let interruption: Interrupted | undefined
  let interrupt: (reason: Interrupted) => void = () => {}
  const interrupted = new Promise<never>((_, reject) => {
    interrupt = reject
  })
  interrupted.catch(() => {})
  const onSignal = (signal: NodeJS.Signals) => {
    interruption ??= new Interrupted(signal)
    interrupt(interruption)
    // A write that waits for a reader cannot be cancelled. By then no one handles the signal.
    setTimeout(() => endBySignal(command, signal), GRACE_MS).unref()
  }
  const isReader = readsPipe(paths)
  const onFirst = () => {
    if (signals) process.once('SIGINT', onSignal)
  }
  if (isReader) process.once('SIGINT', onFirst)
  if (signals) for (const signal of SIGNALS) if (signal !== 'SIGINT' || !isReader) process.once(signal, onSignal)
  const endProgress = progress ? showProgress(progressOf(work, () => events)) : () => {}
  try {
    await work.run(interrupted)
  } catch (error) {
    const partial = await abandoned(work, interrupted)
    const reason = interruption ?? error
    const [path, ...more] = paths
    if (path !== undefined && more.length === 0) nameInput(reason, path)
    await nameCommand(reason, command)
    throw partial.length > 0 ? new Incomplete(reason, partial) : reason
  } finally {
    for (const signal of SIGNALS) process.removeListener(signal, onSignal)
    process.removeListener('SIGINT', onFirst)
    endProgress()
  }
}

function progressOf({ paths, bytesRead }: Supervised, events: () => number): Work {
  const sizes = paths.map(inputSize)
  const total = sizes.reduce(
    (sum: number | undefined, size) => (sum === undefined || size === undefined ? undefined : sum + size),
    0,
  )
  return { bytes: bytesRead, events, total }
}

/** Names the command that reads what another format's decoder was given, or the flag for an incomplete last line. */
async function nameCommand(error: unknown, command: string): Promise<void> {
  if (!(error instanceof TraceError)) return
  const isDecoder = command.endsWith('-decode')
  const flag = isDecoder || command === 'hf-convert' ? '--last-line' : 'hf-convert --last-line'
  error.message = withFlag(error.message, flag)
  if (error.looksLike === undefined || !isDecoder) return
  const { COMMANDS } = await import('./command-list.js')
  const decoder = COMMANDS.find(({ name }) => name === `${error.looksLike}-decode`)?.name ?? 'hf-convert'
  error.message += `; use ${decoder}`
}

/**
 * Abandons the output. One whose write waits for a reader may never close: some time after a signal, the files are
 * abandoned as they are.
 * @returns the names of the files that are not complete
 */
async function abandoned(work: Supervised, interrupted: Promise<never>): Promise<readonly string[]> {
  let isDone = false
  const late = new Promise<readonly string[]>((resolve) => {
    const giveUp = () => {
      if (!isDone) resolve(abandonOutputs())
    }
    interrupted.catch(() => setTimeout(giveUp, GRACE_MS / 2))
  })
  const partial = await Promise.race([work.abandon(), late])
  isDone = true
  noteIncomplete(partial)
  return partial
}

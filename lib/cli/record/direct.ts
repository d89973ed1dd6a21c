import { closeSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { OutputFile } from '../../streams/io/output-file.js'
import type { Attachment } from '../../streams/record/attachment.js'
import { Program } from '../../streams/record/program.js'
import type { Recorder, Settings } from '../../streams/record/recorders.js'
import { notStarted } from '../../streams/record/recording.js'
import type { Readable } from 'node:stream'
import { Incomplete } from '../command.js'
import { SignalRelay } from './signals.js'

/** The recorder's report if the reader of its output has gone. */
const UNREAD = 'unread'
/** The recorder's report if it could not write all output, or not start the program: a word, and the reason. */
const FAULT = /^(failed|unstarted) (.+)$/s

/** The result of a recorder that writes its own file. */
export interface Recorded {
  /** The exit status of the program, or 128 and the number of the signal that ended it. */
  readonly status: number
  /** The signal that ended it. */
  readonly signal?: string
  readonly events: number
}

/**
 * Runs a program whose recorder writes the output itself, so that nothing else runs beside the program.
 * @param path a file, or `-` for standard output
 * @param folder for temporary files; it is removed
 * @param attachment the program runs already
 * @throws Error when the file cannot be written or the program cannot be started; Incomplete when the file is not
 *   whole. The exit code is set then
 */
export async function recordToFile(
  recorder: Recorder,
  words: readonly string[],
  path: string,
  folder: string,
  settings: Settings,
  attachment?: Attachment,
): Promise<Recorded> {
  const file = path === '-' ? undefined : new OutputFile(path)
  const { words: launched, env } = recorder.launch(words, '-', folder, settings, process.env)
  const report = join(folder, 'events')
  const fd = file?.open() ?? 1
  const reportFd = openSync(report, 'w')
  const isTracer = attachment === undefined
  const relay = new SignalRelay((signal) => {
    relay.close()
    process.kill(process.pid, signal)
  })
  // The program's output must not be in the trace.
  const stdio = [0, file === undefined ? 2 : 1, isTracer ? 2 : 'pipe', fd, reportFd] as const
  const program = new Program({ words: launched, env, stdio, isTracer })
  relay.relayTo(program, isTracer)
  attachment?.listen(program.stream(2) as Readable)
  const ending = await program.ended
  relay.close()
  if (file !== undefined) closeSync(fd)
  closeSync(reportFd)
  // Both are missing if not everything was written. The reader of a pipe may have gone away, which is no fault.
  const text = readFileSync(report, 'utf8')
  const isUnread = text === UNREAD
  const [, fault, reason = ending.signal && `${ending.signal} ended the recorder`] = FAULT.exec(text) ?? []
  const [events = 0, bytes] = isUnread ? [Infinity] : fault !== undefined ? [] : text.split(' ', 2).map(Number)
  rmSync(folder, { recursive: true, force: true })
  if (ending.status !== 0) process.exitCode = isTracer ? ending.status : 1
  const error =
    ending.error ??
    (fault === 'unstarted' ? new Error(`the program was not started: ${reason}`) : undefined) ??
    attachment?.failure(ending) ??
    notStarted(words[0], ending, bytes ?? 0)
  if (error !== undefined) {
    file?.discard()
    throw error
  }
  if (bytes === undefined && !isUnread) {
    const partial = file?.abandon()
    const name = file === undefined ? 'standard output' : path
    const why = new Error(`${name}: the recording could not be written${reason === undefined ? '' : `: ${reason}`}`)
    throw partial === undefined ? why : new Incomplete(why, [partial])
  }
  file?.commit()
  return { ...ending, events }
}

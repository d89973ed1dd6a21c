import { monotonicMs } from '../streams/io/clock.js'
import { isTerminal } from './is-terminal.js'
import { progressShown, wipeProgress } from './say.js'

/** No progress is shown before this time. */
const PATIENCE_MS = 1500
const INTERVAL_MS = 500

/** The figures of a progress line. */
export interface Work {
  /** Bytes read so far. */
  bytes(): number
  /** Events so far. */
  events(): number
  /** The size of the input, if known. */
  total: number | undefined
}

/**
 * Keeps a progress line on standard error during long work; does nothing if standard error is not a terminal. Whether
 * it is one is looked up when the line is due, because that takes some time.
 * @param find gives the terminal, if there is one
 * @returns ends it and wipes the line
 */
export function showProgress(work: Work, find = terminalOfErrors): () => void {
  const start = monotonicMs()
  let out: NodeJS.WriteStream | undefined
  const timer = setInterval(() => {
    const elapsed = monotonicMs() - start
    if (elapsed < PATIENCE_MS) return
    out ??= find()
    if (out === undefined) clearInterval(timer)
    else {
      out.write(`\r\u001b[K${progressLine(work, elapsed / 1000)}`)
      progressShown(() => out?.write('\r\u001b[K'))
    }
  }, INTERVAL_MS)
  timer.unref()
  return () => {
    clearInterval(timer)
    wipeProgress()
  }
}

function terminalOfErrors(): NodeJS.WriteStream | undefined {
  return isTerminal(2) && process.stderr.isTTY ? process.stderr : undefined
}

/** `120 MB of 480 MB (25 %), 2.1 M events, 1.4 M/s, 0:42 left` */
export function progressLine(work: Work, seconds: number): string {
  const bytes = work.bytes()
  const events = work.events()
  const parts = [
    work.total === undefined
      ? megabytes(bytes)
      : `${megabytes(bytes)} of ${megabytes(work.total)} (${Math.floor((100 * bytes) / Math.max(1, work.total))} %)`,
  ]
  parts.push(`${millions(events)} events`, `${millions(events / seconds)}/s`)
  if (work.total !== undefined && bytes > 0) {
    const left = Math.max(0, Math.round(((work.total - bytes) * seconds) / bytes))
    parts.push(`${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')} left`)
  }
  return parts.join(', ')
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`
}

function millions(n: number): string {
  return n < 999_500 ? `${(n / 1e3).toFixed(0)} k` : `${(n / 1e6).toFixed(1)} M`
}

import { isEventBatch, type EventBatch } from '../../lib/event/batch.js'
import { usualTime } from '../support/stopwatch.js'
import { Failure } from './failure.js'

/** A stage may take this long for any input, in milliseconds, and so long for each byte of its input and output. */
const LEAST_TIME = 1000
const BYTE_TIME = 0.002
/** An event as a line has about this number of bytes besides its names, and a name of a stack those of its own. */
const EVENT_BYTES = 64

/** The processor's time is asked for this often, in milliseconds: the question costs as much as a small input. */
const SAMPLE = 100
let sample = { at: -Infinity, cpu: process.cpuUsage() }

/** What the process had used at most `SAMPLE` milliseconds ago. */
function recentUsage(now: number): NodeJS.CpuUsage {
  if (now - sample.at > SAMPLE) sample = { at: now, cpu: process.cpuUsage() }
  return sample.cpu
}

/** The time that a stage takes for its input and output. */
export class Budget {
  private readonly start = performance.now()
  private readonly cpu = recentUsage(this.start)
  private bytes = 0

  /** Counts an input or an output. */
  add(part: Uint8Array | EventBatch): void {
    this.bytes += isEventBatch(part) ? EVENT_BYTES * part.count + part.strings.memory : part.length
  }

  /** @throws Failure when it took longer than it may */
  check(): void {
    const allowed = LEAST_TIME + BYTE_TIME * this.bytes
    if (performance.now() - this.start <= allowed) return
    // The clock runs on while others use the processor.
    const { user, system } = process.cpuUsage(this.cpu)
    const taken = (user + system) / 1000 - SAMPLE
    if (taken > allowed && usualTime(taken) > allowed)
      throw new Failure(`takes ${Math.round(taken)} ms for ${this.bytes} bytes`)
  }
}

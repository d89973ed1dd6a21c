import { killed, type Ending } from './program.js'

/** The end of a process in a log of ltrace: its number, and its status or signal. */
const END = /(?<=^|\n)(\d+) [^\n]*\+\+\+ (?:exited \(status (\d+)\)|killed by (SIG\w+)) \+\+\+(?=\n)/g
/** Lines about ends are shorter. */
const MAX_LINE = 256
/** Stands for the beginning of a line that was too long to be kept. */
const LONG = '~'

/** Reads in a log of ltrace how the program ended: ltrace's own exit status is 0 whatever the program's is. */
export class TracerEnding {
  /** The end of the program, once it has been read. */
  ending: Ending | undefined
  private pid: number | undefined
  private rest = ''

  /**
   * @param chunk the next bytes of the log
   * @param pid the number of the program's process, if it is known
   */
  read(chunk: Buffer, pid: number | undefined): void {
    const text = this.rest + chunk.toString('latin1')
    // The first line is the program's, because it has not started another program before.
    this.pid ??= pid ?? (/^(\d+) /.test(text) ? parseInt(text, 10) : undefined)
    if (text.includes('+++')) {
      for (const [, process, status, signal] of text.matchAll(END)) {
        if (Number(process) === this.pid)
          this.ending = signal === undefined ? { status: Number(status) } : killed(signal)
      }
    }
    const line = text.slice(text.lastIndexOf('\n') + 1)
    this.rest = line.length > MAX_LINE ? LONG : line
  }
}

import { isatty } from 'node:tty'
import { statFields } from '../../streams/record/process-tree.js'

/** The positions of the fields of /proc/self/stat, counted after the program's name. */
const [GROUP, SESSION, TERMINAL, FOREGROUND] = [2, 3, 4, 5]

/**
 * The signals of a terminal: the signals of its keys and of its end go to all processes of the group in the foreground,
 * including the program that this process runs.
 */
export class Terminal {
  private readonly before = numbers()

  /** Whether the signals of the terminal's keys come to this process. */
  get hasForeground(): boolean {
    const now = numbers()
    // Without /proc, a standard stream that is a terminal has to do.
    if (now === undefined) return [0, 1, 2].some((fd) => isatty(fd))
    return now[TERMINAL] !== 0 && now[GROUP] === now[FOREGROUND]
  }

  /** Whether the terminal has been closed, and the whole group got the signal. */
  get isGone(): boolean {
    const now = numbers()
    if (now === undefined || this.before === undefined) return false
    // The leader of the session gets it alone.
    return this.before[TERMINAL] !== 0 && now[TERMINAL] === 0 && now[SESSION] !== process.pid
  }
}

function numbers(): number[] | undefined {
  return statFields(process.pid)?.map(Number)
}

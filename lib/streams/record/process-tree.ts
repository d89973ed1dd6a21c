import { readdirSync, readFileSync } from 'node:fs'

/** The position of the start time in a process's `stat`, counted after its name. */
const STARTED = 19

/** The descendants of a process, if the system has /proc. */
export class ProcessTree {
  /** The start time of each process, by its number: a number may be reused when its process has ended. */
  private readonly members = new Map<number, string>()

  /** @param root the number of the process, which is not a member itself */
  constructor(private readonly root: number) {
    this.look()
  }

  /** Whether it has any members. */
  get isKnown(): boolean {
    return this.members.size > 0
  }

  /** Sends a signal to all members that were ever seen and still exist. */
  send(signal: NodeJS.Signals): void {
    this.look()
    for (const [pid, started] of this.members) {
      if (startOf(pid) !== started) {
        this.members.delete(pid)
        continue
      }
      try {
        process.kill(pid, signal)
      } catch {
        // It has ended, or belongs to another user.
      }
    }
  }

  private look(): void {
    // The children of a process that has ended are no longer found from here, so known ones are kept.
    const parents = [this.root, ...this.members.keys()]
    for (let parent = parents.pop(); parent !== undefined; parent = parents.pop()) {
      for (const pid of childrenOf(parent)) {
        if (this.members.has(pid)) continue
        const started = startOf(pid)
        if (started === undefined) continue
        this.members.set(pid, started)
        parents.push(pid)
      }
    }
  }
}

/** The children of a process, beginning with those of its first thread, if the system has /proc. */
export function childrenOf(pid: number): number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`).map(Number)
    return threads.toSorted((a, b) => a - b).flatMap((thread) => childrenOfThread(pid, thread))
  } catch {
    return []
  }
}

function childrenOfThread(pid: number, thread: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    // The thread has ended.
    return []
  }
}

/** When a process was started, in ticks; undefined if there is none. */
function startOf(pid: number): string | undefined {
  const fields = statFields(pid)
  return fields?.[0] === 'Z' ? undefined : fields?.[STARTED]
}

/** The fields of a process's `stat`, from that after its name on; undefined if there is none. */
export function statFields(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name may have any characters.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

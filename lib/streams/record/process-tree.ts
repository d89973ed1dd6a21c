import { readdirSync, readFileSync } from 'node:fs'

/** Where the time of its start is in a process's `stat`, counted after its name. */
const STARTED = 19

/** The processes that one process has started, and those have, where the system has /proc. */
export class ProcessTree {
  /** By number, when each of them was started: a number is given again when its process has ended. */
  private readonly members = new Map<number, string>()

  /** @param root the number of the process, which is not a member itself */
  constructor(private readonly root: number) {
    this.look()
  }

  /** Whether it has any members. */
  get isKnown(): boolean {
    return this.members.size > 0
  }

  /** Sends a signal to all members that were seen at any time and are still there. */
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
    // The children of a process that has ended are no longer found from here, so those that were seen are kept.
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

/** The children of a process, those of its first thread first, where the system has /proc. */
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
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name may have any characters.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? undefined : fields[STARTED]
  } catch {
    return undefined
  }
}

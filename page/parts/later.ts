/** Work in pieces that is done when the browser has time for it. */
export interface Later {
  /** Has the next piece done. */
  ask(): void
  /** Has it not done. */
  cancel(): void
}

/** Work that was requested and not done. */
const pending = new Map<Later, () => void>()

/** @param work does a piece, and asks for the next one; or does everything that is left */
export function later(work: (isAll?: boolean) => void): Later {
  let isPlanned = false
  const run = () => {
    isPlanned = false
    if (pending.delete(self)) work()
  }
  const self: Later = {
    ask() {
      pending.set(self, () => work(true))
      if (isPlanned) return
      isPlanned = true
      // Not every browser has the former.
      if ('requestIdleCallback' in globalThis) requestIdleCallback(run, { timeout: 1000 })
      else setTimeout(run, 50)
    },
    cancel() {
      pending.delete(self)
    },
  }
  return self
}

/** Does everything that was asked for, at once, and what that asks for: for paper. */
export function finishAll(): void {
  for (const [one, finish] of pending) {
    pending.delete(one)
    finish()
  }
}

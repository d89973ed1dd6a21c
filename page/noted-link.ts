import { writeAddress } from './written-address.js'

/** The position in the page's address that views note. */
export interface NotedLink {
  /** Writes a position into the address soon. */
  note(address: string): void
  /** Writes what was noted at once. */
  write(): void
  /** Forgets it. */
  forget(): void
}

/** How long the reader rests, in milliseconds, before the address says where. */
const REST = 150

/**
 * The address follows the reader with a delay: browsers take milliseconds to change it, and refuse it if it happens too
 * often. Whatever leaves the position, or reads the address, finds it written.
 * @param signal ends it
 */
export function notedLink(signal: AbortSignal): NotedLink {
  let noted: string | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const self: NotedLink = {
    note(address) {
      noted = address
      clearTimeout(timer)
      timer = setTimeout(self.write, REST)
    },
    write() {
      const address = noted
      self.forget()
      if (address !== undefined) writeAddress(address)
    },
    forget() {
      clearTimeout(timer)
      noted = undefined
    },
  }
  const followed = ({ target }: MouseEvent) => {
    if (target instanceof Element && target.closest('a') !== null) self.write()
  }
  addEventListener('click', followed, { signal, capture: true })
  addEventListener('pagehide', self.write, { signal })
  addEventListener('blur', self.write, { signal })
  signal.addEventListener('abort', self.forget)
  return self
}

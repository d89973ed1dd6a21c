import { fstatSync } from 'node:fs'

/** Whether a file descriptor is of a terminal. Loads `node:tty`, which takes some time, only if it is of a device. */
export function isTerminal(fd: number): boolean {
  try {
    return fstatSync(fd).isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(fd)
  } catch {
    // It is closed.
    return false
  }
}

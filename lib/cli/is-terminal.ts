import { fstatSync, statSync, type Stats } from 'node:fs'
import { devNull } from 'node:os'

/**
 * Whether a file descriptor refers to a terminal. Loads `node:tty`, which takes some time, only for devices other than
 * the null device.
 */
export function isTerminal(fd: number): boolean {
  try {
    const stats = fstatSync(fd)
    if (!stats.isCharacterDevice() || isNullDevice(stats)) return false
    return process.getBuiltinModule('node:tty').isatty(fd)
  } catch {
    // It is closed.
    return false
  }
}

/** Windows has no numbers of devices. */
function isNullDevice({ rdev }: Stats): boolean {
  return rdev !== 0 && rdev === statSync(devNull).rdev
}

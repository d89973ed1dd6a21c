import { readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { statOf } from './file-status.js'

/** Names of open descriptors. Their files are written in place. */
export const DESCRIPTOR = /^\/dev\/(fd\/|std(in|out|err)$)|^\/proc\//

/** The number of symbolic links that Linux follows. */
const MAX_LINKS = 40

/** The path to which a name resolves, whether or not the file exists. */
export function followLinks(path: string): string {
  let target = resolve(path)
  for (let links = 0; links < MAX_LINKS && !DESCRIPTOR.test(target); links++) {
    let link
    try {
      link = readlinkSync(target)
    } catch {
      return target
    }
    // `..` in a link is relative to the actual folder of the link.
    target = resolve(realpathSync(dirname(target)), link)
  }
  return target
}

/**
 * Whether two outputs, of which `-` is standard output, are written to the same file, pipe or device, whatever their
 * names, and whether or not it already exists.
 */
export function isSameOutput(a: string, b: string): boolean {
  return a === b || placeOf(a) === placeOf(b)
}

/** The identity of the place to which an output is written. */
function placeOf(path: string): string {
  const stats = statOf(path, 1)
  // Each name of a device, such as /dev/null, counts as a separate output.
  if (stats !== undefined && !stats.isCharacterDevice()) return `${stats.dev}:${stats.ino}`
  if (path === '-') return path
  const target = followLinks(path)
  try {
    return join(realpathSync(dirname(target)), basename(target))
  } catch {
    // Without its folder nothing is written.
    return target
  }
}

import { readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { statOf } from './file-status.js'

/** Names of open descriptors. Their files are written in place. */
export const DESCRIPTOR = /^\/dev\/(fd\/|std(in|out|err)$)|^\/proc\//

/** As many symbolic links as Linux follows. */
const MAX_LINKS = 40

/** The path that a name stands for, whether a file is there or not. */
export function followLinks(path: string): string {
  let target = resolve(path)
  for (let links = 0; links < MAX_LINKS && !DESCRIPTOR.test(target); links++) {
    let link
    try {
      link = readlinkSync(target)
    } catch {
      return target
    }
    // A link with `..` in it counts from the folder that it is really in.
    target = resolve(realpathSync(dirname(target)), link)
  }
  return target
}

/**
 * Whether two outputs, of which `-` is standard output, are written to the same file, pipe or device, however they are
 * named, and whether it is there yet or not.
 */
export function isSameOutput(a: string, b: string): boolean {
  return a === b || placeOf(a) === placeOf(b)
}

/** What identifies the place that an output is written to. */
function placeOf(path: string): string {
  const stats = statOf(path, 1)
  // Of a device, such as the one that discards everything, each name counts as an output of its own.
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

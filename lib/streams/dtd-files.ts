import { closeSync, lstatSync, openSync, readSync, readdirSync, statSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { showText } from '../event/message-text.js'
import { HATF_12 } from '../metatf/hatf-ascii/layout.js'
import { dtdFile, isNameOf } from '../metatf/dtd-name.js'
import { parseDtd } from '../metatf/index.js'
import { MAX_TEXT } from '../metatf/errors.js'
import type { Dtd } from '../metatf/model.js'
import { ownFile } from './own-files.js'

/** The environment variable with the folders to search for DTDs. */
export const DTD_PATH = 'HEAPFLOW_DTD_PATH'

/** The places to search for DTDs, in addition to heapflow's own. */
interface DtdFolders {
  /** The trace, whose folder is searched first; for `-` (standard input), the current folder. */
  readonly trace?: string
  /** The folders to search next, before the folders of the environment variable. */
  readonly folders?: readonly string[]
}

/** The error for a DTD that was not found. The message lists the places, in the form `there is no x.dtd in ...`. */
export class NoDtdError extends Error {}

/**
 * Finds the DTD that a trace names: beside the trace, then in the folders, then among heapflow's own. It searches files
 * only, directly in these folders, and never on the network, whatever the name looks like. Beside the trace it follows
 * no symbolic link, which may have come with the trace.
 * @throws NoDtdError, or a DtdError for an invalid one
 */
export function findDtd(name: string, { trace, folders = [] }: DtdFolders): Dtd {
  const base = dtdFile(name)
  const beside = trace === undefined ? [] : [trace === '-' ? '.' : dirname(trace)]
  const named = (process.env[DTD_PATH] ?? '').split(delimiter).filter((folder) => folder !== '')
  const places = [...beside, ...folders, ...named]
  let link = ''
  if (base !== undefined) {
    for (const [i, folder] of places.entries()) {
      const file = join(folder, base)
      if (!isFile(file)) continue
      if (i >= beside.length || !isLink(file)) return readDtd(file)
      link = `; ${showText(file)} is a symbolic link, which is not followed`
    }
    const own = ownDtd(base)
    if (own !== undefined) return own
  }
  const where = places.length === 0 ? '' : `in ${[...new Set(places)].join(', ')} or `
  throw new NoDtdError(
    `there is no ${showText(base ?? name)} ${where}among the DTDs that come with heapflow ` +
      `(${ownNames().join(', ')})${link}`,
  )
}

/**
 * The DTD that a user names: a file or, for a name without a folder, the result of `findDtd`.
 * @throws NoDtdError, DtdError, or the error of reading the file
 */
export function openDtd(path: string, folders: readonly string[] = []): Dtd {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) throw new NoDtdError(`${path} is a folder`)
  return basename(path) === path && !isFile(path) ? findDtd(path, { trace: '-', folders }) : readDtd(path)
}

/**
 * Reads a DTD. Of a file that is too large, it reads only enough to detect that.
 * @param name its name in messages
 */
function readDtd(path: string, name = path): Dtd {
  const fd = openSync(path, 'r')
  try {
    const text = new Uint8Array(MAX_TEXT + 1)
    let length = 0
    for (let n = -1; n !== 0 && length < text.length; length += n)
      n = readSync(fd, text, length, text.length - length, null)
    return parseDtd(text.subarray(0, length), name)
  } finally {
    closeSync(fd)
  }
}

/** Whether it is a file, because a trace must not make the program wait for a pipe. */
function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true
  } catch {
    return false
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
}

/** The folder of the DTDs that come with heapflow. */
function ownFolder(): string | undefined {
  const file = ownFile('examples/hatf10.dtd')
  return file && dirname(file)
}

/** The names of the DTDs that come with heapflow. */
function ownNames(): string[] {
  const folder = ownFolder()
  const files = folder === undefined ? [] : readdirSync(folder).filter((name) => name.endsWith('.dtd'))
  return [...new Set([...files, HATF_12.file])].toSorted()
}

/** One of them, ignoring case: the paper calls its own HATF10.dtd. */
function ownDtd(name: string): Dtd | undefined {
  const found = ownNames().find((own) => isNameOf(name, own))
  const folder = ownFolder()
  if (found === undefined) return undefined
  if (folder === undefined || !isFile(join(folder, found))) return HATF_12
  return readDtd(join(folder, found), found)
}

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ownFile } from '../own-files.js'
import { cacheFolder, isTrusted, keepFile } from '../io/kept-file.js'
import type { ElfFile } from './elf-file.js'
import type { Names } from './namer.js'

/** The beginning of the names of files, with the version of their format. */
const PREFIX = 'names-1-'
/** The maximum number of files, and of characters in one. */
const MOST_FILES = 50
const MOST_TEXT = 2 ** 23

/** A name as a file has it: function, file, line; null if unknown. */
type KeptName = readonly [string | null, string | null, number | null]

/** The version of this package, which may find other names than an earlier one. */
let version: string | undefined

/** The file for the names of a module with a build id, as this version and this tool find them in this file. */
export function namesPath({ path, buildId, modified }: ElfFile, tool: string): string | undefined {
  if (buildId === undefined) return undefined
  version ??= readFileSync(ownFile('package.json') ?? '/dev/null', 'utf8').match(/"version": *"([^"]*)"/)?.[1] ?? ''
  const source = createHash('sha256').update(`${version}\n${tool}\n${modified}\n${path}`).digest('hex').slice(0, 16)
  return join(cacheFolder(), `${PREFIX}${buildId.slice(0, 40)}-${source}.json`)
}

/** The names by offset that an earlier program kept; none if there are none, or others can have written them. */
export function keptNames(path: string): Map<bigint, Names> {
  const names = new Map<bigint, Names>()
  if (!isTrusted(path)) return names
  try {
    const kept = JSON.parse(readFileSync(path, 'utf8')) as Readonly<Record<string, readonly KeptName[]>>
    for (const [offset, list] of Object.entries(kept))
      names.set(
        BigInt(offset),
        list.map(checkName).map(([name, file, line]) => ({
          ...(name !== null && { function: name }),
          ...(file !== null && { file }),
          ...(line !== null && { line }),
        })),
      )
  } catch {
    // They are found again.
    names.clear()
  }
  return names
}

/** @throws TypeError for what no name is */
function checkName(kept: KeptName): KeptName {
  const [name, file, line] = kept
  const isText = (value: unknown) => value === null || typeof value === 'string'
  if (isText(name) && isText(file) && (line === null || Number.isInteger(line))) return kept
  throw new TypeError('not a name')
}

/** Keeps names for later programs, and removes the oldest files if there are too many. */
export function keepNames(path: string, names: ReadonlyMap<bigint, Names>): void {
  const kept: Record<string, KeptName[]> = {}
  for (const [offset, list] of names)
    kept[`0x${offset.toString(16)}`] = list.map(({ function: name = null, file = null, line = null }) => [
      name,
      file,
      line,
    ])
  const text = JSON.stringify(kept)
  if (text.length > MOST_TEXT) return
  keepFile(path, (part) => {
    writeFileSync(part, text, { mode: 0o600 })
    removeOldest(dirname(path))
  })
}

function removeOldest(folder: string): void {
  const paths = readdirSync(folder)
    .filter((name) => name.startsWith(PREFIX) && name.endsWith('.json'))
    .map((name) => join(folder, name))
  if (paths.length < MOST_FILES) return
  const timeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const byAge = paths.map((path) => ({ path, time: timeOf(path) })).toSorted((a, b) => a.time - b.time)
  for (const { path } of byAge.slice(0, paths.length - MOST_FILES + 1)) rmSync(path, { force: true })
}

import { execFile } from 'node:child_process'
import { basename, dirname, join } from 'node:path'
import type { LoadedPart } from '../../symbols/elf.js'
import { crcOf, elfFile, type ElfFile } from './elf-file.js'

/** The folder of the system's separate debug files. */
const SYSTEM_DEBUG = '/usr/lib/debug'
/** The time limit of debuginfod for a file, in milliseconds. */
const DEBUGINFOD_MS = 60_000

/**
 * The file with the names of a module, or the reason why there is none: it does not exist, it was changed after the
 * trace was written, or it is another file.
 */
export type FoundModule =
  { readonly file: ElfFile } | { readonly refused: string; readonly because: 'absent' | 'newer' | 'other' }

/** The known data of a module. */
interface WantedModule {
  /** Its path in the trace. */
  readonly path: string
  /** Its build id, in hexadecimal; files with another one are refused. */
  readonly buildId?: string | undefined
  /** Its parts in memory. If its build id is unknown, files with other parts are refused. */
  readonly loaded?: readonly LoadedPart[] | undefined
}

/** The places in which files are searched. */
interface ModulePlaces {
  /** Folders with debug files, and with modules by path or name. */
  readonly folders: readonly string[]
  /** A time, in milliseconds since 1970. Modules that were changed later are refused. */
  readonly before: number
  /** Whether debuginfod may be queried. */
  readonly remote: boolean
}

/**
 * Finds the file that names the functions of a module: one with line tables if there is any, otherwise the module.
 */
export async function findModule(
  { path: module, buildId, loaded }: WantedModule,
  { folders, before, remote }: ModulePlaces,
  signal: AbortSignal,
): Promise<FoundModule> {
  let refused: string | undefined
  let because: 'absent' | 'newer' | 'other' = 'absent'
  let best: ElfFile | undefined
  const consider = (path: string, id: string | undefined, isModule: boolean): boolean => {
    const file = elfFile(path)
    if (file === undefined) return false
    if (id !== undefined && file.buildId !== id) {
      refused ??= `${path} has the build id ${file.buildId ?? '(none)'}, and not ${id}`
      because = 'other'
      return false
    }
    if (isModule && id === undefined && loaded !== undefined && !isSame(file.loaded, loaded)) {
      refused ??= `${path} is not the file that the program ran with: it has parts at other addresses`
      return false
    }
    if (isModule && id === undefined && file.modified > before) {
      refused ??= `${path} was changed after the trace was written`
      because = 'newer'
      return false
    }
    if (best === undefined || (file.hasLines && !best.hasLines)) best = file
    return file.hasLines
  }
  const paths = folders.flatMap((folder) => [join(folder, module), join(folder, basename(module))])
  if ([module, ...paths].some((path) => consider(path, buildId, true)) && best !== undefined) return { file: best }
  const id = buildId ?? best?.buildId
  const separate = [
    ...(id === undefined ? [] : [...folders, SYSTEM_DEBUG].map((folder) => join(folder, debugPath(id)))),
    ...(best === undefined ? [] : linkedFiles(best, folders)),
  ]
  const found = separate.some((path) => consider(path, id, false))
  const fetched = found || !remote || id === undefined ? undefined : await debugFile(id, signal)
  if (fetched !== undefined) consider(fetched, id, false)
  if (best !== undefined) return { file: best }
  return { refused: refused ?? `there is no ELF file ${module}`, because }
}

/** The path of a debug file below a folder of such files. */
function debugPath(buildId: string): string {
  return join('.build-id', buildId.slice(0, 2), `${buildId.slice(2)}.debug`)
}

/** The debug files that a module may name: in GDB's places, and in folders. Without a build id the CRC must fit. */
function linkedFiles({ path, buildId, debugLink }: ElfFile, folders: readonly string[]): string[] {
  if (debugLink === undefined) return []
  const beside = dirname(path)
  const below = [...folders, SYSTEM_DEBUG].map((folder) => join(folder, beside))
  return [beside, join(beside, '.debug'), ...below, ...folders]
    .map((folder) => join(folder, debugLink.name))
    .filter((file) => buildId !== undefined || crcOf(file) === debugLink.crc)
}

function isSame(a: readonly LoadedPart[], b: readonly LoadedPart[]): boolean {
  return a.length === b.length && a.every(({ address, size }, i) => address === b[i]?.address && size === b[i]?.size)
}

/** The path of the debug file that debuginfod has, asked only where `DEBUGINFOD_URLS` is set. */
async function debugFile(buildId: string, signal: AbortSignal): Promise<string | undefined> {
  if (!process.env['DEBUGINFOD_URLS']) return undefined
  return new Promise((resolve) => {
    const options = { signal, timeout: DEBUGINFOD_MS, killSignal: 'SIGKILL' } as const
    execFile('debuginfod-find', ['debuginfo', buildId], options, (error, stdout) =>
      resolve(error === null ? stdout.trim() : undefined),
    )
  })
}

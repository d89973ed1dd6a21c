import { execFile } from 'node:child_process'
import { basename, join } from 'node:path'
import { elfFile, type ElfFile } from './elf-file.js'

/** The folder of the system's separate debug files. */
const SYSTEM_DEBUG = '/usr/lib/debug'
/** How long debuginfod may take for a file, in milliseconds. */
const DEBUGINFOD_MS = 60_000

/** Where the names of a module are: a file, or why there is none. */
export type FoundModule = { readonly file: ElfFile } | { readonly refused: string }

/**
 * Finds the file that names the functions of a module: one with line tables if there is any, otherwise the module.
 * @param module its path in the trace
 * @param folders folders with debug files, and with modules by path or name
 * @param buildId its build id in the trace, in hexadecimal; files with another one are refused
 */
export async function findModule(
  module: string,
  folders: readonly string[],
  buildId: string | undefined,
  signal: AbortSignal,
): Promise<FoundModule> {
  let refused: string | undefined
  let best: ElfFile | undefined
  const consider = (path: string, id: string | undefined): boolean => {
    const file = elfFile(path)
    if (file === undefined) return false
    if (id !== undefined && file.buildId !== id) {
      refused ??= `${path} has the build id ${file.buildId ?? '(none)'}, and not ${id}`
      return false
    }
    if (best === undefined || (file.hasLines && !best.hasLines)) best = file
    return file.hasLines
  }
  const paths = folders.flatMap((folder) => [join(folder, module), join(folder, basename(module))])
  if ([module, ...paths].some((path) => consider(path, buildId)) && best !== undefined) return { file: best }
  const id = buildId ?? best?.buildId
  if (id !== undefined) {
    const within = join('.build-id', id.slice(0, 2), `${id.slice(2)}.debug`)
    const found = [...folders, SYSTEM_DEBUG].some((folder) => consider(join(folder, within), id))
    const fetched = found ? undefined : await debugFile(id, signal)
    if (fetched !== undefined) consider(fetched, id)
  }
  if (best !== undefined) return { file: best }
  return { refused: refused ?? `there is no ELF file ${module}` }
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

import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { malformed } from '../event/error.js'
import { checkOptions } from '../event/options.js'
import { kmemtrace, type KmemtraceDecodeOptions } from '../formats/kmemtrace/index.js'
import { FORMAT, LAYOUT_OPTIONS } from '../formats/kmemtrace/layout.js'
import { cpuOfPath } from '../formats/kmemtrace/per-cpu.js'
import type { MergeInput } from './merge.js'

/** The only ABI of the kernel's per-CPU files. */
export const ABI_VERSION = 1

/** The files beside the per-CPU files in the kernel's folder. */
export const ABI_FILE = 'abi_version'
export const OVERRUNS_FILE = 'total_overruns'

/** The names of the per-CPU files there. */
export const PER_CPU_FILE = /^cpu\d+(\.gz|\.zst)?$/

/** The contents of a kmemtrace folder, or of a list of files. */
export interface PerCpuFiles {
  readonly inputs: readonly MergeInput[]
  /** The bytes that the kernel dropped because a buffer was full, if the folder states them. */
  readonly overruns?: bigint
}

/**
 * Finds the per-CPU files that names refer to: files themselves, or a folder with the kernel's layout (`cpu0`, `cpu1`
 * ..., `abi_version`, `total_overruns`; the latter two may be missing, and the files may be compressed).
 * @param options for the decoder of each; a file's name states its CPU
 * @throws TraceError when a folder has no such files, or is of an unknown ABI version
 */
export async function perCpuFiles(
  paths: readonly string[],
  options: KmemtraceDecodeOptions = {},
): Promise<PerCpuFiles> {
  checkOptions(options, LAYOUT_OPTIONS, 'perCpuFiles')
  const files: string[] = []
  let overruns: bigint | undefined
  for (const path of paths) {
    if (path === '-' || !(await stat(path)).isDirectory()) {
      files.push(path)
      continue
    }
    await checkVersion(path)
    const found = (await readdir(path)).filter((name) => PER_CPU_FILE.test(name))
    if (found.length === 0) throw malformed(`the folder ${path} has no files cpu0, cpu1 ...`, { format: FORMAT })
    found.sort((a, b) => (cpuOfPath(a) as number) - (cpuOfPath(b) as number))
    files.push(...found.map((name) => join(path, name)))
    const dropped = await readNumber(join(path, OVERRUNS_FILE))
    if (dropped !== undefined && dropped > 0n) overruns = (overruns ?? 0n) + dropped
  }
  const inputs = files.map((path): MergeInput => {
    const cpu = cpuOfPath(path)
    return { path, format: kmemtrace, decode: { ...options, ...(cpu !== undefined && { cpu }) } }
  })
  return { inputs, ...(overruns !== undefined && { overruns }) }
}

async function checkVersion(folder: string): Promise<void> {
  const version = await readNumber(join(folder, ABI_FILE))
  if (version !== undefined && version !== BigInt(ABI_VERSION)) {
    throw malformed(`${join(folder, ABI_FILE)}: ABI version ${version} is not known, only ${ABI_VERSION} is`, {
      format: FORMAT,
    })
  }
}

/** The decimal number in a file; undefined if there is no such file. */
async function readNumber(path: string): Promise<bigint | undefined> {
  let text: string
  try {
    text = (await readFile(path, 'latin1')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  if (!/^\d{1,20}$/.test(text))
    throw malformed(`${path}: not a number: ${JSON.stringify(text.slice(0, 40))}`, { format: FORMAT })
  return BigInt(text)
}

import { spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { headOf } from '../../streams/io/file-status.js'
import { LIBRARY_FOLDERS } from '../../streams/record/libraries.js'

/** The allocator of the C library, which needs no preloading. */
export const SYSTEM = 'glibc'

export interface Allocator {
  /** Its name in tables. */
  readonly name: string
  /** The library that is preloaded; null for the C library's allocator. */
  readonly library: string | null
}

/** The names of libraries by allocator: of each list, the first one that is found. */
const LIBRARIES: Readonly<Record<string, readonly RegExp[]>> = {
  jemalloc: [/^libjemalloc\.so(\.\d+)*$/],
  mimalloc: [/^libmimalloc\.so(\.\d+)*$/],
  tcmalloc: [/^libtcmalloc_minimal\.so(\.\d+)*$/, /^libtcmalloc\.so(\.\d+)*$/],
  rpmalloc: [/^librpmalloc(wrap)?\.so(\.\d+)*$/],
  snmalloc: [/^libsnmallocshim\.so(\.\d+)*$/],
  hoard: [/^libhoard\.so(\.\d+)*$/],
}

/** The names by which installed allocators are known. */
const ALLOCATOR_NAMES = [SYSTEM, ...Object.keys(LIBRARIES)]

/**
 * The installed allocators in the order of their names, the C library's first. @param names the allocators to search
 */
export function installedAllocators(names: readonly string[] = ALLOCATOR_NAMES): Allocator[] {
  let files: string[] | undefined
  return names.flatMap((name): Allocator[] => {
    if (name === SYSTEM) return [{ name, library: null }]
    files ??= libraryFiles()
    for (const pattern of LIBRARIES[name] ?? []) {
      const library = files.find((file) => pattern.test(basename(file)) && isOurs(file))
      if (library !== undefined) return [{ name, library }]
    }
    return []
  })
}

/**
 * An allocator by its name, or by the path of its library.
 * @throws Error when it is not there
 */
export function allocatorOf(word: string): Allocator {
  if (word.includes('/')) {
    const library = resolve(word)
    if (!statSync(library, { throwIfNoEntry: false })?.isFile()) throw new Error(`${word} is no library`)
    if (!isOurs(library)) throw new Error(`${word} is no library for this machine`)
    return { name: basename(word).replace(/^lib|\.so.*$/g, ''), library }
  }
  if (!ALLOCATOR_NAMES.includes(word))
    throw new Error(
      `unknown allocator ${JSON.stringify(word)}: name one of ${ALLOCATOR_NAMES.join(', ')}, or a path with a /`,
    )
  const [found] = installedAllocators([word])
  if (found === undefined)
    throw new Error(`${word} is not installed: name its library by a path, such as ./lib${word}.so`)
  return found
}

/** The paths of libraries: those that the dynamic linker knows, and all in the usual folders. */
function libraryFiles(): string[] {
  const known = ['ldconfig', '/sbin/ldconfig'].map((program) => spawnSync(program, ['-p'], { encoding: 'utf8' }).stdout)
  const listed = (known.find(Boolean) ?? '').split('\n').flatMap((line) => / => (\/.*)$/.exec(line)?.[1] ?? [])
  const present = LIBRARY_FOLDERS.flatMap((folder) => {
    try {
      return readdirSync(folder).map((name) => `${folder}/${name}`)
    } catch {
      return []
    }
  })
  return [...listed, ...present]
}

/** Whether a file is for the same machine as this process: the beginnings of both ELF headers say so. */
function isOurs(file: string): boolean {
  const [own, other] = [process.execPath, file].map(machineOf)
  return own !== undefined && own === other
}

/** The class, the byte order and the machine of an ELF file. */
function machineOf(file: string): string | undefined {
  const head = headOf(file, 20)
  if (head.length < 20 || head.readUInt32BE(0) !== 0x7f45_4c46) return undefined
  return head.toString('hex', 4, 6) + head.toString('hex', 18, 20)
}

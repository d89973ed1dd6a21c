import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { decodeText } from '../../event/strings.js'
import { readElf, sectionBytes } from '../../symbols/elf.js'
import { glibcNeeded } from './compiled.js'
import type { Recorder } from './recorders.js'

/** The number of interpreters of interpreters that are followed, as Linux does. */
const MAX_SCRIPTS = 4
/** The maximum length of names of interpreters that are examined. */
const MAX_NAME = 4096
/** The maximum size of the names that the dynamic linker needs. */
const MAX_NAMES = 1 << 26
/** What programs are compiled with for libraries with an allocator of their own that allow none before them. */
const SANITIZERS: Readonly<Record<string, string>> = { asan: 'address', hwasan: 'hwaddress', tsan: 'thread' }
/** The number of the program header that names the dynamic linker. */
const PT_INTERP = 3
const ELF = 0x464c457f
const [SET_USER, SET_GROUP] = [0o4000, 0o2000]

/** The numbers of architectures in ELF files, by Node's names for them. */
const MACHINES: Readonly<Record<string, number>> = {
  ia32: 3,
  ppc64: 21,
  s390x: 22,
  arm: 40,
  x64: 62,
  arm64: 183,
  riscv64: 243,
  loong64: 258,
}
/** The dynamic linkers of systems, whose C library the recorder is compiled for. */
const USUAL_LINKERS = ['/lib64/ld-linux-x86-64.so.2', '/lib/ld-linux-aarch64.so.1']
/** The maximum size of a C library. */
const MAX_LIBRARY_BYTES = 1 << 25

/** The properties of a program that are known before it runs. */
interface Executable {
  readonly path: string
  /** The bits of its addresses: 64, or 32. */
  readonly bits: number
  /** The number of its architecture. */
  readonly machine: number
  /** Whether it runs with the rights of another user or group, so that the system loads nothing into it. */
  readonly isPrivileged: boolean
  /** The dynamic linker that it names; undefined if it is linked statically. */
  readonly linker: string | undefined
  /** What it is compiled to check (`-fsanitize`) by a library that must be loaded before all others. */
  readonly sanitizer: string | undefined
}

/**
 * Examines the program that a command runs; for a script, its interpreter.
 * @returns undefined if it is not found, cannot be read, or is not an ELF file
 */
function executableOf(command: string, place: Place): Executable | undefined {
  try {
    let path = pathOf(command, place)
    for (let i = 0; path !== undefined && i < MAX_SCRIPTS; i++) {
      const fd = openSync(path, 'r')
      try {
        const line = bytesAt(fd, 0, MAX_NAME).toString('utf8').split('\n')[0] ?? ''
        if (!line.startsWith('#!')) return elf(path, fd)
        const [interpreter = '', argument = '-'] = line.slice(2).trim().split(/\s+/)
        path = /(^|\/)env$/.test(interpreter) && !argument.startsWith('-') ? pathOf(argument, place) : interpreter
      } finally {
        closeSync(fd)
      }
    }
  } catch {
    // The system reports the fault when it starts the program.
  }
  return undefined
}

function elf(path: string, fd: number): Executable | undefined {
  const head = bytesAt(fd, 0, 64)
  if (head.length < 64 || head.readUInt32LE(0) !== ELF) return undefined
  const is64 = head[4] === 2
  const isBig = head[5] === 2
  const u16 = (at: number) => (isBig ? head.readUInt16BE(at) : head.readUInt16LE(at))
  const u32 = (bytes: Buffer, at: number) => (isBig ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at))
  // The upper halves of offsets in a file are 0.
  const word = (bytes: Buffer, at: number) => u32(bytes, is64 && isBig ? at + 4 : at)
  const [size, count] = is64 ? [u16(54), u16(56)] : [u16(42), u16(44)]
  const table = bytesAt(fd, word(head, is64 ? 32 : 28), size * count)
  let linker: string | undefined
  for (let at = 0; size >= 32 && at + size <= table.length; at += size) {
    if (u32(table, at) !== PT_INTERP) continue
    linker = bytesAt(fd, word(table, at + (is64 ? 8 : 4)), MAX_NAME)
      .toString('latin1')
      .split('\0')[0]
  }
  const { mode, uid, gid } = fstatSync(fd)
  const isPrivileged =
    ((mode & SET_USER) !== 0 && uid !== process.getuid?.()) || ((mode & SET_GROUP) !== 0 && gid !== process.getgid?.())
  return { path, bits: is64 ? 64 : 32, machine: u16(18), isPrivileged, linker, sanitizer: sanitizerOf(fd) }
}

function sanitizerOf(fd: number): string | undefined {
  const read = (offset: number, length: number) => bytesAt(fd, offset, length)
  const file = readElf(read)
  const names = file === undefined ? '' : decodeText(sectionBytes(file, read, '.dynstr', MAX_NAMES))
  const [, name = ''] = /\0lib(?:clang_rt\.)?(hwasan|asan|tsan)\b/.exec(names) ?? []
  return SANITIZERS[name]
}

/** The bytes at an offset; fewer at the end of the file. */
function bytesAt(fd: number, offset: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(fd, bytes, 0, length, offset))
}

/** The place where a command is started. */
export interface Place {
  readonly env: NodeJS.ProcessEnv
  /** Its folder, if not this process's. */
  readonly cwd?: string | undefined
}

/** The file of a command: by its path, or by the paths in PATH. */
function pathOf(command: string, { env, cwd = '.' }: Place): string | undefined {
  if (command.includes('/')) return [cwd === '.' ? command : resolve(cwd, command)].find(isProgram)
  const folders = (env['PATH'] ?? '').split(':')
  return folders.map((folder) => join(resolve(cwd, folder || '.'), command)).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** The reason why a program cannot be recorded, and a remedy. */
interface Obstacle {
  readonly what: string
  readonly instead: string
}

/**
 * The reason why a program cannot be recorded.
 * @param place the place where the command is started
 * @returns undefined if no obstacle is known
 */
function obstacleTo(command: string, { name, records }: Recorder, place: Place): Obstacle | undefined {
  const program = executableOf(command, place)
  if (program === undefined) return undefined
  const { path, linker, bits, machine, isPrivileged, sanitizer } = program
  // No recorder finds the functions of an allocator that is not in a library.
  if (linker === undefined)
    return { what: `${path} is linked statically`, instead: 'link it without -static, so that the C library is loaded' }
  if (records !== 'loaded') return undefined
  if (isPrivileged)
    return {
      what: `${path} runs with the rights of another user`,
      instead: 'run hf-record as that user, or see whether --with valgrind can',
    }
  if (sanitizer !== undefined)
    return { what: `${path} is compiled with -fsanitize=${sanitizer}`, instead: 'compile it without' }
  const valgrind = 'see whether --with valgrind can'
  if (bits !== (process.arch.includes('64') ? 64 : 32))
    return { what: `${path} is a program for ${bits} bits`, instead: valgrind }
  if (machine !== (MACHINES[process.arch] ?? machine)) {
    const [other = `number ${machine}`] = Object.entries(MACHINES).find(([, number]) => number === machine) ?? []
    return {
      what: `${path} is a program for another architecture (${other})`,
      instead: `record it on a machine of that architecture`,
    }
  }
  if (linker.includes('musl'))
    return { what: `${path} uses another C library (${linker})`, instead: `build it for glibc, or ${valgrind}` }
  const minor = name === 'recorder' && !USUAL_LINKERS.includes(linker) ? glibcBeside(linker) : undefined
  if (minor === undefined) return undefined
  const least = glibcNeeded()
  return minor < least
    ? {
        what: `${path} uses glibc 2.${minor} (${linker})`,
        instead: `use glibc 2.${least} or later, or ${valgrind}`,
      }
    : undefined
}

/** The minor version of glibc 2 in the folder of a dynamic linker, as stated by that library. */
function glibcBeside(linker: string): number | undefined {
  try {
    const path = join(dirname(realpathSync(linker)), 'libc.so.6')
    if (statSync(path).size > MAX_LIBRARY_BYTES) return undefined
    const [, minor] = /GNU C Library .*? version 2\.(\d{1,3})\b/.exec(readFileSync(path, 'latin1')) ?? []
    return minor === undefined ? undefined : Number(minor)
  } catch {
    return undefined
  }
}

/** @throws Error for a program that a recorder cannot record, before it runs in vain */
export function refuseObstacle(recorder: Recorder, command: string, place: Place): void {
  const obstacle = recorder.records === 'kernel' ? undefined : obstacleTo(command, recorder, place)
  if (obstacle === undefined) return
  throw new Error(`${obstacle.what}, so ${recorder.name} cannot record it: ${obstacle.instead}`)
}

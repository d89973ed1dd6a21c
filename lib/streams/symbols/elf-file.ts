import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { Readable } from 'node:stream'
import { crc32, inflateSync } from 'node:zlib'
import { MIB } from '../../bytes/units.js'
import { scopedNames } from '../../symbols/dwarf-names.js'
import * as ElfFormat from '../../symbols/elf.js'
import type { AddressNamer, Names } from './namer.js'
import { demangled } from './demangle.js'

/** A regular file that is open. */
interface OpenFile {
  readonly read: ElfFormat.ReadAt
  /** When it was last changed, in milliseconds since 1970. */
  readonly modified: number
  close(): void
}

/** @returns undefined if the path does not name a readable regular file */
function openFile(path: string): OpenFile | undefined {
  let file: number
  try {
    // A name in a trace may refer to a pipe, for which the process must not wait.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch {
    return undefined
  }
  const status = fstatSync(file)
  const { size } = status
  const read: ElfFormat.ReadAt = (offset, length) => {
    const bytes = new Uint8Array(Math.max(0, Math.min(length, size - offset)))
    return bytes.length === 0 ? bytes : bytes.subarray(0, readSync(file, bytes, 0, bytes.length, offset))
  }
  if (status.isFile()) return { read, modified: status.mtimeMs, close: () => closeSync(file) }
  closeSync(file)
  return undefined
}

/** The data in the headers of an ELF file. */
export interface ElfFile {
  readonly path: string
  readonly buildId?: string
  readonly hasLines: boolean
  readonly debugLink?: ElfFormat.DebugLink
  /** The parts that are loaded into memory. */
  readonly loaded: readonly ElfFormat.LoadedPart[]
  /** When it was last changed, in milliseconds since 1970. */
  readonly modified: number
}

/** The data of the ELF file at a path; undefined if it cannot be read or is not an ELF file. */
function ofElf<Result>(path: string, use: (elf: ElfFormat.Elf, file: OpenFile) => Result): Result | undefined {
  const file = openFile(path)
  try {
    const elf = file && ElfFormat.readElf(file.read)
    return file && elf && use(elf, file)
  } catch {
    return undefined
  } finally {
    file?.close()
  }
}

/** The file at a path; undefined if it cannot be read or is not an ELF file. */
export function elfFile(path: string): ElfFile | undefined {
  return ofElf(path, (elf, { read, modified }) => {
    const { buildId, hasLines, loaded } = elf
    const link = ElfFormat.debugLink(elf, read)
    return {
      path,
      hasLines,
      loaded,
      modified,
      ...(buildId !== undefined && { buildId }),
      ...(link !== undefined && { debugLink: link }),
    }
  })
}

/** The CRC-32 of the ELF file at a path, as links to debug files have it; undefined if it cannot be read. */
export function crcOf(path: string): number | undefined {
  return ofElf(path, (_, { read }) => {
    let crc = 0
    for (let at = 0, piece = read(0, MIB); piece.length > 0; piece = read(at, MIB)) {
      crc = crc32(piece, crc)
      at += piece.length
    }
    return crc
  })
}

/** Debug information of more bytes is not read. */
export const MAX_DEBUG_BYTES = 64 * 1_048_576

function inflateSection(bytes: Uint8Array, size: number): Uint8Array {
  return inflateSync(bytes, { maxOutputLength: Math.max(size, 1) })
}

/** The full names of functions of a file, by their short ones: see `scopedNames`. */
export function fullNames(path: string): ReadonlyMap<string, string> {
  const found = ofElf(path, (elf, { read }) => {
    const bytes = (name: string) => ElfFormat.sectionBytes(elf, read, name, MAX_DEBUG_BYTES, inflateSection)
    return scopedNames({
      little: elf.little,
      info: bytes('.debug_info'),
      abbrev: bytes('.debug_abbrev'),
      str: bytes('.debug_str'),
      lineStr: bytes('.debug_line_str'),
    })
  })
  return found ?? new Map()
}

/** Names addresses of one file by its symbol tables: functions only. */
export class SymbolFile implements AddressNamer {
  private readonly file: OpenFile | undefined
  private readonly elf: ElfFormat.Elf | undefined
  private readonly symbols: ElfFormat.FunctionSymbols | undefined
  private embedded: Promise<ElfFormat.FunctionSymbols | undefined> | undefined

  /** @param signal ends the process that demangles the names */
  constructor(
    path: string,
    private readonly signal: AbortSignal,
  ) {
    this.file = openFile(path)
    try {
      this.elf = this.file && ElfFormat.readElf(this.file.read)
      this.symbols = this.file && this.elf && ElfFormat.FunctionSymbols.of(this.elf, this.file.read)
    } catch (error) {
      this.close()
      throw error
    }
  }

  async ask(addresses: readonly bigint[]): Promise<Names[]> {
    const names = addresses.map((address) => this.symbols?.nameAt(Number(address)))
    if (names.includes(undefined)) {
      const embedded = await (this.embedded ??= embeddedSymbols(this.elf, this.file))
      addresses.forEach((address, i) => (names[i] ??= embedded?.nameAt(Number(address))))
    }
    const plain = await demangled(
      names.map((name) => name ?? ''),
      this.signal,
    )
    return names.map((name, i) => (name === undefined ? [] : [{ function: plain[i] }]))
  }

  close(): void {
    this.file?.close()
  }
}

/**
 * The symbols of the ELF file that a stripped one may have in itself, compressed with xz (GDB manual, "MiniDebugInfo");
 * undefined if there is none, or if it is damaged.
 */
async function embeddedSymbols(elf?: ElfFormat.Elf, file?: OpenFile): Promise<ElfFormat.FunctionSymbols | undefined> {
  const packed = elf && file && ElfFormat.sectionBytes(elf, file.read, '.gnu_debugdata', MAX_DEBUG_BYTES)
  if (packed === undefined || packed.length === 0) return undefined
  const { unxz } = await import('../../compression/unxz.js')
  const pieces: Uint8Array[] = []
  let room = MAX_DEBUG_BYTES
  try {
    for await (const piece of unxz(Readable.from([packed]))) {
      room -= piece.length
      if (room < 0) return undefined
      pieces.push(piece.slice())
    }
    const bytes = Buffer.concat(pieces)
    const read: ElfFormat.ReadAt = (offset, length) => bytes.subarray(offset, offset + length)
    const embedded = ElfFormat.readElf(read)
    return embedded && ElfFormat.FunctionSymbols.of(embedded, read)
  } catch {
    return undefined
  }
}

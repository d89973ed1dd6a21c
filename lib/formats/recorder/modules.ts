import { HI, LO } from '../../bytes/u64.js'
import { decodeText } from '../../event/strings.js'
import { grown, type Fault, type Tables } from '../heaptrack/tables.js'
import { MAX_MODULES } from './layout.js'

/** The modules of a trace, and the frames in them. */
export class Modules {
  /** By number, from 1: where each begins, as pairs of words. Its name is the string with the same number. */
  private bases: Uint32Array<ArrayBuffer> = new Uint32Array(0)
  private count = 0
  private readonly names = new Uint32Array(3)

  /** @param tables get the names and the frames */
  constructor(private readonly tables: Tables) {}

  /** Adds a module, with its path in bytes[start..end). */
  add(base: Uint32Array, bytes: Uint8Array, start: number, end: number): Fault | undefined {
    if (this.count >= MAX_MODULES || this.tables.addString(bytes, start, end) === 'full') return 'full'
    const at = 2 * ++this.count
    if (at >= this.bases.length) this.bases = grown(this.bases, at + 2)
    this.bases.set(base, at)
    return undefined
  }

  /** The path of a module; undefined if there is none of this number. */
  pathOf(module: number): string | undefined {
    return module < 1 || module > this.count ? undefined : decodeText(this.tables.strings.view(module - 1))
  }

  /** Adds a frame: an address in a module; 0 is none. */
  addFrame(module: number, address: Uint32Array): Fault | undefined {
    if (module < 0 || module > this.count) return 'undefined'
    const { names } = this
    names[0] = module
    names.set(this.bases.subarray(2 * module, 2 * module + 2), 1)
    return this.tables.addEntry(address[LO], address[HI], names, module === 0 ? 0 : names.length)
  }

  /** Where a module is loaded, and its build id, as text: `0x7f00 BUILD-ID`. */
  static text(base: Uint32Array, buildId: Uint8Array): string {
    const [lo, hi] = [base[LO], base[HI]]
    const id = Array.from(buildId, (byte) => byte.toString(16).padStart(2, '0')).join('')
    return `0x${((BigInt(hi) << 32n) | BigInt(lo)).toString(16)} ${id === '' ? '-' : id}`
  }
}

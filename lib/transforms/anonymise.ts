import { createHmac } from 'node:crypto'
import { encodeText, type StringTable } from '../event/strings.js'

const ROUNDS = 8
/** Bits 0 to 11 of an address stay as they are. */
const PAGE = 0xfff
/** How many names are remembered from batch to batch. */
const NAMES = 16_384

/**
 * Replaces addresses by others, one to one, as a secret key says: the same address always gives the same one under the
 * same key. The null address and the rest of the first page stay as they are.
 *
 * Pages of 4 KiB change places, for which the page's number goes through a Feistel network. So an address keeps its
 * offset in the page, and with it every alignment up to 4096 bytes, but a block larger than what was left of its page
 * overlaps with the blocks of other pages. Addresses below 2^32 stay below 2^32, the others stay above it and keep
 * their bits 47 to 63, so that 32-bit traces stay such, and user and kernel addresses can be told apart.
 *
 * This keeps addresses from readers of a trace; it is no cipher that withstands cryptanalysis.
 */
export class AddressScrambler {
  /** The low and the high word of the last result. */
  lo = 0
  hi = 0
  private readonly keys: Uint32Array

  constructor(key: string) {
    const digest = createHmac('sha256', key).update('addresses').digest()
    this.keys = Uint32Array.from({ length: ROUNDS }, (_, round) => digest.readUInt32LE(round * 4))
  }

  /** Sets `lo` and `hi` to the replacement of an address. */
  scramble(lo: number, hi: number): void {
    this.lo = lo >>> 0
    this.hi = hi >>> 0
    // Pages that must not be left or reached, such as the first one, are stepped over: the network permutes them too,
    // so that the walk stays one to one and comes to an end.
    if (hi !== 0) {
      do this.permuteHigh()
      while (this.hi === 0)
    } else if (lo >>> 0 > PAGE) {
      do this.permuteLow()
      while (this.lo <= PAGE)
    }
  }

  /** The 20 bits of a page's number below 2^32, in halves of 10. */
  private permuteLow(): void {
    const { keys } = this
    let left = this.lo >>> 22
    let right = (this.lo >>> 12) & 0x3ff
    for (let round = 0; round < ROUNDS; round += 2) {
      left ^= mix(right, keys[round] as number) & 0x3ff
      right ^= mix(left, keys[round + 1] as number) & 0x3ff
    }
    this.lo = ((left << 22) | (right << 12) | (this.lo & PAGE)) >>> 0
  }

  /** Bits 12 to 46 of an address: 18 bits, of which 15 are in the high word, and 17 bits. */
  private permuteHigh(): void {
    const { keys } = this
    let left = ((this.hi & 0x7fff) << 3) | (this.lo >>> 29)
    let right = (this.lo >>> 12) & 0x1_ffff
    for (let round = 0; round < ROUNDS; round += 2) {
      left ^= mix(right, keys[round] as number) & 0x3_ffff
      right ^= mix(left, keys[round + 1] as number) & 0x1_ffff
    }
    this.hi = ((this.hi & ~0x7fff) | (left >>> 3)) >>> 0
    this.lo = ((left << 29) | (right << 12) | (this.lo & PAGE)) >>> 0
  }
}

/** Mixes 32 bits in the manner of MurmurHash3's finaliser, with the key at both ends. */
function mix(value: number, key: number): number {
  let h = value ^ key
  h = Math.imul(h ^ (h >>> 16), 0x85eb_ca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2_ae35)
  h = Math.imul(h ^ (h >>> 16) ^ key, 0x9e37_79b1)
  return h ^ (h >>> 16)
}

/** What begins the replacement of a name, by where the name stands. A frame of a stack is a function as any other. */
const PREFIXES = { function: 'f_', stack: 'f_', file: 'file_', module: 'module_', type: 't_', text: 'text_' } as const

/** Names longer than this are scrambled anew each time. */
const LONGEST_KEPT = 256

/** The fields that hold names. */
export type NamedField = keyof typeof PREFIXES

/**
 * Replaces names by others as a secret key says: a prefix and the first 12 hexadecimal digits of the name's
 * HMAC-SHA-256, such as `f_3fa9c1d20b7e`. The same name in the same kind of field always gives the same one under the
 * same key. The empty name stays empty, and so does the type `internal`, which is not the program's but the model's own
 * word for what an allocator reserves for itself.
 */
export class NameScrambler {
  /** The names used last, the least recent first, by prefix and name. */
  private readonly known = new Map<string, Uint8Array>()

  constructor(private readonly key: string) {}

  /** The id in `target` of the replacement of the string with an id in `source`. */
  replace(field: NamedField, source: StringTable, id: number, target: StringTable): number {
    const text = source.text(id)
    if (text === '' || (field === 'type' && text === 'internal')) return target.internText(text)
    const prefix = PREFIXES[field]
    const name = prefix + text
    let replacement = this.known.get(name)
    if (replacement === undefined) {
      if (this.known.size === NAMES) this.known.delete(this.known.keys().next().value as string)
      const hash = createHmac('sha256', this.key).update(prefix).update(source.view(id)).digest('hex')
      replacement = encodeText(prefix + hash.slice(0, 12))
    } else {
      this.known.delete(name)
    }
    // Long names are not kept: the memory of a hostile trace's must not be theirs times the number kept.
    if (name.length <= LONGEST_KEPT) this.known.set(name, replacement)
    return target.intern(replacement)
  }
}

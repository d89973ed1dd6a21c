import { createHmac } from 'node:crypto'
import type { GroupFieldName } from '../event/fields.js'
import type { TraceHeader } from '../event/header.js'
import { encodeText, type StringTable } from '../event/strings.js'

const ROUNDS = 8
/** Bits 0 to 11 of an address do not change. */
const PAGE = 0xfff
/** The number of names cached between batches. */
const NAMES = 16_384

/**
 * Replaces addresses one to one under a secret key: the same address always gives the same replacement under the same
 * key. The null address and the rest of the first page do not change.
 *
 * Pages of 4 KiB are permuted: the page number goes through a Feistel network. So an address keeps its offset in the
 * page, and every alignment up to 4096 bytes; but a block that extends beyond its page overlaps blocks of unrelated
 * pages. Addresses below 2^32 stay below 2^32. All others stay above it and keep their bits 47 to 63, so that 32-bit
 * traces remain 32-bit traces, and user and kernel addresses remain distinguishable.
 *
 * This hides addresses from readers of a trace. It is not a cipher that resists cryptanalysis.
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
    // Pages that must not change, such as the first one, must not be results either: they are skipped by applying the
    // network again. It permutes them too, so the mapping remains one to one, and the walk ends.
    if (hi !== 0) {
      do this.permuteHigh()
      while (this.hi === 0)
    } else if (lo >>> 0 > PAGE) {
      do this.permuteLow()
      while (this.lo <= PAGE)
    }
  }

  /** Permutes the 20 bits of a page number below 2^32, in halves of 10. */
  private permuteLow(): void {
    const { keys } = this
    let left = this.lo >>> 22
    let right = (this.lo >>> 12) & 0x3ff
    for (let round = 0; round < ROUNDS; round += 2) {
      left ^= mix(right, keys[round]) & 0x3ff
      right ^= mix(left, keys[round + 1]) & 0x3ff
    }
    this.lo = ((left << 22) | (right << 12) | (this.lo & PAGE)) >>> 0
  }

  /** Permutes bits 12 to 46 of an address: 18 bits, of which 15 are in the high word, and 17 bits. */
  private permuteHigh(): void {
    const { keys } = this
    let left = ((this.hi & 0x7fff) << 3) | (this.lo >>> 29)
    let right = (this.lo >>> 12) & 0x1_ffff
    for (let round = 0; round < ROUNDS; round += 2) {
      left ^= mix(right, keys[round]) & 0x3_ffff
      right ^= mix(left, keys[round + 1]) & 0x1_ffff
    }
    this.hi = ((this.hi & ~0x7fff) | (left >>> 3)) >>> 0
    this.lo = ((left << 29) | (right << 12) | (this.lo & PAGE)) >>> 0
  }
}

/** Mixes 32 bits like MurmurHash3's finalizer, with the key at both ends. */
function mix(value: number, key: number): number {
  let h = value ^ key
  h = Math.imul(h ^ (h >>> 16), 0x85eb_ca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2_ae35)
  h = Math.imul(h ^ (h >>> 16) ^ key, 0x9e37_79b1)
  return h ^ (h >>> 16)
}

/** The prefix of a replacement, by kind of name. A frame of a stack is a function like any other. */
const PREFIXES = {
  function: 'f_',
  stack: 'f_',
  file: 'file_',
  module: 'module_',
  type: 't_',
  text: 'text_',
  // Formats with comments take a line that begins with this for a comment.
  comment: '# text_',
} as const

/** The texts of a header's layout that name the program. */
const NAMED_KEYS = ['executable', 'command']

/** Longer names are scrambled again each time. */
const LONGEST_KEPT = 256

/** The fields that hold names; `comment` is the text of a comment. */
export type NamedField = keyof typeof PREFIXES | GroupFieldName

/** Each field of a group is a kind of name. */
function prefixOf(field: NamedField): string {
  return field in PREFIXES ? PREFIXES[field as keyof typeof PREFIXES] : `${field}_`
}

/**
 * Replaces names under a secret key: by a prefix and the first 12 hexadecimal digits of the name's HMAC-SHA-256, such
 * as `f_3fa9c1d20b7e`. The same name in the same kind of field always gives the same replacement under the same key.
 * The empty name does not change, nor does the type `internal`, which is the event model's own word for memory that an
 * allocator reserves for itself.
 */
export class NameScrambler {
  /** The names used last, the least recent first, by prefix and name. */
  private readonly known = new Map<string, Uint8Array>()

  constructor(private readonly key: string) {}

  /** The id in `target` of the replacement of the string with an id in `source`. */
  replace(field: NamedField, source: StringTable, id: number, target: StringTable): number {
    const text = source.text(id)
    if (text === '' || (field === 'type' && text === 'internal')) return target.internText(text)
    const name = prefixOf(field) + text
    let replacement = this.known.get(name)
    if (replacement === undefined) {
      if (this.known.size === NAMES) this.known.delete(this.known.keys().next().value as string)
      replacement = encodeText(this.replacement(field, source.view(id)))
    } else {
      this.known.delete(name)
    }
    // Long names are not cached, so that a hostile trace cannot fill the cache with them.
    if (name.length <= LONGEST_KEPT) this.known.set(name, replacement)
    return target.intern(replacement)
  }

  /** A header without names: the texts of its layout, other than plain words such as versions, are replaced. */
  header(header: TraceHeader): TraceHeader {
    if (header.layout === undefined) return header
    const layout = Object.entries(header.layout).map(([key, value]) => {
      const isName =
        typeof value === 'string' && value !== '' && (NAMED_KEYS.includes(key) || !/^[\w.+-]*$/.test(value))
      return [key, isName ? this.replacement(key === 'executable' ? 'file' : 'text', encodeText(value)) : value]
    })
    return { ...header, layout: Object.fromEntries(layout) as TraceHeader['layout'] & object }
  }

  private replacement(field: NamedField, name: Uint8Array): string {
    const prefix = prefixOf(field)
    return prefix + createHmac('sha256', this.key).update(prefix).update(name).digest('hex').slice(0, 12)
  }
}

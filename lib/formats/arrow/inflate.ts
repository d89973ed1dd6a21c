import { unzstdWhole } from '../../compression/zstd-whole.js'
import { ArrowFault, ArrowLimit } from './fault.js'
import { LZ4, MAX_BODY, ZSTD } from './layout.js'
import { unlz4 } from './lz4.js'

/** A compressed buffer begins with its length, 8 bytes; this value says that the buffer is not compressed. */
const PREFIX = 8
const NOT_COMPRESSED = -1

/** Inflates the buffers of one message. */
export class Inflater {
  /** The number of bytes to which the rest of the message may inflate. */
  private left = MAX_BODY

  /** @param codec as the message names it */
  constructor(private readonly codec: number) {
    if (codec !== LZ4 && codec !== ZSTD) throw new ArrowFault(`a body is compressed with the unknown codec ${codec}`)
  }

  /** @throws ArrowFault when the codec cannot inflate the bytes; ArrowLimit when the result would be too large */
  inflate(bytes: Uint8Array): Uint8Array {
    if (bytes.length === 0) return bytes
    if (bytes.length < PREFIX) throw new ArrowFault('a compressed buffer is too short')
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    const length = Number(view.getBigInt64(0, true))
    const rest = bytes.subarray(PREFIX)
    if (length === NOT_COMPRESSED) return rest
    if (length < 0) throw new ArrowFault('a compressed buffer has a negative length')
    if (length > this.left) throw new ArrowLimit(`a body of more than ${MAX_BODY} bytes when it is inflated`)
    this.left -= length
    if (this.codec === LZ4) return unlz4(rest, length)
    const out = unzstd(rest, length)
    if (out.length !== length) throw new ArrowFault('a zstd frame holds less than its buffer needs')
    return out
  }
}

function unzstd(bytes: Uint8Array, length: number): Uint8Array {
  try {
    return unzstdWhole(bytes, length)
  } catch (error) {
    if (error instanceof RangeError) throw new ArrowLimit(error.message, { cause: error })
    throw new ArrowFault('the zstd data are corrupt', { cause: error })
  }
}

import * as Code from '../../../../lib/kernel/layouts/hatf.js'
import { HEAD } from '../../../../lib/formats/hatf/layout.js'

/** The bytes of the metadata record that sets an interpretation, by its code. */
export const INTERPRETATION_BYTES = Uint8Array.of(HEAD, HEAD + 8, HEAD + 8, HEAD + 8, HEAD + 16)

/**
 * The bytes that an occurrence takes. Of attributes only their length counts: the bytes themselves are there in any
 * layout.
 */
export function storedBytes(width: number, isAttributes: boolean): number {
  if (!isAttributes) return width
  return width < Code.V1 ? 0 : width - Code.V1 + 1
}

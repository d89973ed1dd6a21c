import { wrongType } from '../event/error.js'
import { showValue } from '../event/message-text.js'
import { modelOf } from './dtd/check.js'
import { limitError, MAX_TEXT } from './errors.js'
import type { Dtd } from './model.js'

export { DtdError, type DtdErrorCode, type RelatedPlace } from './errors.js'
export type * from './model.js'
export { METADATA_PROPERTIES } from './dtd/predefined.js'
export { printDtd } from './dtd/print.js'

/**
 * Parses a DTD of Meta-TF 1.0 or 1.2 and checks it. Throws a DtdError at the first fault.
 *
 * @param text the DTD, as text or as UTF-8; other bytes are allowed in comments
 * @param file its name in messages and places
 */
export function parseDtd(text: string | Uint8Array, file = 'dtd'): Dtd {
  if (typeof text !== 'string' && !(text instanceof Uint8Array))
    throw wrongType(`parseDtd(): the DTD must be text or bytes, not ${showValue(text)}`)
  if (text.length > MAX_TEXT)
    throw limitError(`the text is longer than ${MAX_TEXT} characters`, { file, line: 1, column: 1 })
  const decoded = typeof text === 'string' ? text.replace(/^\uFEFF/, '') : new TextDecoder().decode(text)
  return modelOf(decoded, file)
}

import { decodeText } from '../../event/strings.js'
import { fieldsFromJson } from '../../event/json-record.js'
import { stringsOf, type Strings } from './escape.js'
import { ArrowFault } from './fault.js'

/**
 * The text of named values as events store it: integers, strings, lists and objects of these, without spaces.
 * @throws ArrowFault when it is not JSON, or has other values
 */
function fieldsJson(text: string, row: number): string {
  try {
    return fieldsFromJson(text)
  } catch (error) {
    throw new ArrowFault((error as Error).message, { cause: error }, row)
  }
}

/**
 * Checks the texts of a column of JSON.
 * @param bytes the text with an id
 * @returns texts that replace all of them, and the column of their ids from 0; undefined if all texts already have the
 *   stored form
 */
export function checkJson(
  column: Uint32Array,
  has: (row: number) => boolean,
  bytes: (id: number) => Uint8Array,
): { strings: Strings; column: Uint32Array<ArrayBuffer> } | undefined {
  const ids = new Map<number, number>()
  const texts: Uint8Array[] = []
  const checked = new Uint32Array(column.length)
  let isUsual = true
  for (let i = 0; i < column.length; i++) {
    if (!has(i)) continue
    const id = column[i]
    let own = ids.get(id)
    if (own === undefined) {
      const given = decodeText(bytes(id))
      const text = fieldsJson(given, i)
      isUsual &&= text === given
      ids.set(id, (own = texts.length))
      texts.push(Buffer.from(text))
    }
    checked[i] = own
  }
  if (isUsual) return undefined
  return { strings: stringsOf(texts), column: checked }
}

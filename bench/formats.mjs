// Every format, loaded: the package itself loads a format when it is used.
import { FORMATS as ALL } from '../dist/lib/formats/index.js'

/** @type {readonly import('../dist/lib/event/format.js').Format[]} */
export const FORMATS = await Promise.all(ALL.map((format) => format.load()))

/** @param {string} name */
export function formatNamed(name) {
  return FORMATS.find((format) => format.name === name)
}

/** @param {Uint8Array} head */
export function sniffFormat(head) {
  return FORMATS.find((format) => format.sniff(head))
}

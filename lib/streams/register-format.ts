import { needFormat, type Format } from '../event/format.js'
import { addFormat, formatNamed, FORMATS } from '../formats/index.js'

/**
 * Adds a format to those that are recognized, read and written by name, in this process. Unknown bytes are tried on it
 * after heapflow's own formats, but before HATF.
 * @throws TypeError if it is no format
 * @throws RangeError if another format has the name, or one of its file name endings
 */
export function registerFormat(format: Format): void {
  needFormat(format, 'registerFormat')
  if (formatNamed(format.name) !== undefined) throw new RangeError(`there is a format ${format.name} already`)
  for (const other of FORMATS) {
    const ending = other.extensions.find((known) => format.extensions.some((own) => own.toLowerCase() === known))
    if (ending !== undefined)
      throw new RangeError(`the format ${format.name} has names that end in ${ending}, as ${other.name} has already`)
  }
  addFormat({ ...format, sniff: async (head) => format.sniff(head), load: async () => format })
}

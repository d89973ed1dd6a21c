import * as Formats from '../event/format.js'
import { FormatFault, wrongType } from '../event/error.js'
import { synchronous } from '../event/synchronous.js'
import { LAST_LINE } from '../text/last-line.js'
import { checkDefinition } from './check-definition.js'
import type { FormatDefinition, WritableDefinition } from './definition.js'
import { Cursor, type Reading } from './cursor.js'
import { CursorDecoder } from './cursor-decoder.js'
import { EventEncoder } from './event-encoder.js'

/**
 * Makes a format of its definition, as heapflow's own formats are.
 * @throws TypeError if the definition has no name, or cannot be read
 * @throws RangeError if it has an unknown property or kind of event
 */
export function defineFormat<D extends object = object, E extends object = object>(
  definition: WritableDefinition<D, E>,
): Formats.WritableFormat<D & Formats.TextDecodeOptions, E>
export function defineFormat<D extends object = object, E extends object = object>(
  definition: FormatDefinition<D, E>,
): Formats.Format<D & Formats.TextDecodeOptions>
export function defineFormat<D extends object, E extends object>(
  definition: FormatDefinition<D, E>,
): Formats.Format<D & Formats.TextDecodeOptions> {
  checkDefinition(definition as FormatDefinition)
  const { name, binary = false, decodeOptions = {}, encodeOptions = {}, extensions = [] } = definition
  const { read, decoder, writer, encoder } = definition
  if (typeof name !== 'string' || !/^[a-z][a-z0-9-]*$/.test(name))
    throw new TypeError('a format has a name of lower-case letters, digits and hyphens')
  if (read === undefined && decoder === undefined)
    throw new TypeError(`the format ${name} has neither read nor decoder`)
  const canWrite = writer !== undefined || encoder !== undefined
  const format: Formats.Format<D & Formats.TextDecodeOptions> = {
    name,
    title: definition.title ?? name,
    extensions,
    binary,
    ...(!canWrite && { readOnly: true }),
    decodeOptions: binary ? decodeOptions : { ...decodeOptions, ...LAST_LINE },
    encodeOptions,
    carried: definition.carried,
    ...(definition.groups !== undefined && { groups: definition.groups }),
    ...(definition.writtenAs !== undefined && { writtenAs: definition.writtenAs }),
    sniff(head) {
      try {
        // A promise would be taken for true, and every trace for one of this format.
        return synchronous(definition.sniff(head))
      } catch (error) {
        throw new FormatFault('sniff', error, { format: name })
      }
    },
    decoder(options) {
      const { lastLine, ...own } = (options ?? {}) as Formats.TextDecodeOptions
      if (read === undefined) return (decoder as NonNullable<typeof decoder>)((options ?? {}) as D)
      return new CursorDecoder(new Cursor(name, lastLine), function* (cursor) {
        try {
          yield* generator(read.call(definition, cursor, own as D))
        } catch (error) {
          throw cursor.failed(error)
        }
      })
    },
  }
  if (!canWrite) return Formats.checkedReader(format)
  const writable: Formats.WritableFormat<D & Formats.TextDecodeOptions, E> = {
    ...format,
    encoder(options) {
      const { strict, window: _, ...own } = (options ?? {}) as Formats.EncodeOptions
      if (writer === undefined)
        return (encoder as NonNullable<typeof encoder>)((options ?? {}) as E & Formats.EncodeOptions)
      return new EventEncoder(definition, writer.call(definition, own as E), strict)
    },
  }
  return Formats.checked(writable)
}

/** What `read` returned. @throws TypeError unless it is what a generator function returns, and none that is async */
function generator(reading: Reading): Reading {
  if (typeof reading?.[Symbol.iterator] !== 'function') throw wrongType('read is no generator function: *read(cursor)')
  return reading
}

import { readdirSync, readFileSync } from 'node:fs'
import type { EventBatch } from '../../lib/event/batch.js'
import type { Format } from '../../lib/event/format.js'
import { DtdError, parseDtd, printDtd, type Dtd } from '../../lib/metatf/index.js'
import { formatOf, type MetaTfFormat } from '../../lib/metatf/format.js'
import { checkBytes, checkEvents, textOf } from './codecs.js'
import { encode } from './drive.js'
import { Failure } from './failure.js'
import { cutIntoBatches, randomEvents } from './events.js'
import { Mutator } from './mutate.js'
import type { Random } from './random.js'
import type { Target } from './target.js'

const EXAMPLES = new URL('../../examples/', import.meta.url.replace('/dist/test/', '/test/'))
const DTDS = readdirSync(EXAMPLES)
  .filter((name) => name.endsWith('.dtd'))
  .map((name) => new Uint8Array(readFileSync(new URL(name, EXAMPLES))))

const TOKENS = [
  '.width = 8;',
  '.value = 1;',
  '.interpretation = delta 5;',
  '.interpretation = none;',
  '.byteOrder = big;',
  ' : ',
  '{',
  '}',
  '(tag, x)',
  '*',
  '/*',
  '*/',
  '//',
  'tag.width = 1;\n',
  'section s;\n',
  'MetaTF 1.2;\n',
  'vfield',
  ';',
  '4294967296',
].map((text) => new Uint8Array(Buffer.from(text)))

/** Damaged definitions of formats; and traces by good ones. */
export const METATF_TARGETS: readonly Target[] = [dtdTarget(), traceTarget('metatf', DTDS)]

function dtdTarget(): Target {
  const mutator = new Mutator(DTDS, TOKENS)
  return {
    name: 'dtd',
    weight: 4,
    make(random) {
      const bytes = mutator.make(random)
      return { extension: '.dtd', bytes: () => bytes, check: () => checkDtd(bytes, random) }
    },
  }
}

function checkDtd(bytes: Uint8Array, random: Random): void {
  const dtd = expectDtdError(() => parseDtd(bytes, 'x.dtd'))
  if (dtd === undefined) return
  const printed = printDtd(dtd)
  const again = printDtd(parseDtd(printed, 'printed.dtd'))
  if (again !== printed) throw new Failure('what is printed is printed in other words')
  const format = expectDtdError(() => formatOf(dtd))
  if (format === undefined || !random.oneIn(4)) return
  const batches = cutIntoBatches(random, randomEvents(random, format.carried, 20), { format: 'metatf' })
  expectDtdError(() => checkTrace(format, batches, random))
}

/** Only a DtdError may say that a definition is of no use. */
function expectDtdError<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch (error) {
    if (error instanceof DtdError && error.message.length < 2000) return undefined
    throw error
  }
}

function traceTarget(name: string, texts: readonly Uint8Array[]): Target {
  const formats = texts.map((text) => formatOf(parseDtd(text, 'x.dtd') as Dtd))
  return {
    name,
    make(random) {
      const format = random.pick(formats)
      const batches = cutIntoBatches(random, randomEvents(random, format.carried, 20), { format: 'metatf' })
      return { extension: '.ndjson', bytes: () => textOf(batches), check: () => checkTrace(format, batches, random) }
    },
  }
}

/** Random events in the format of a definition, and what damage makes of them. */
function checkTrace(format: MetaTfFormat, batches: readonly EventBatch[], random: Random): void {
  if (random.oneIn(2)) return checkEvents(format, batches, random)
  const { bytes } = encode(format.encoder(), batches)
  checkBytes(format as Format, new Mutator([bytes], TOKENS).make(random), random)
}

// The same events as Meta-TF by the DTD of HATF: with generated code, with a module from metatf-compile, and with the
// native codec of the same format.
import { readFileSync } from 'node:fs'
import * as hatf from '../../dist/lib/entry/hatf.js'
import { binaryDecoder, binaryEncoder, compileDtd, parseDtd } from '../../dist/lib/entry/metatf.js'
import { batchesOf, bytesOf, countOf, drive, eventsIn, lengthOf, slicesOf } from '../drive.mjs'

const DTD = new URL('../../examples/hatf10.dtd', import.meta.url)

/** @type {[string, string][]} */
export const ratios = [
  ['compiled decode', 'generated decode'],
  ['compiled encode', 'generated encode'],
  ['generated decode', 'native decode'],
  ['generated encode', 'native encode'],
]

/** @param {import('../inputs.mjs').Input} input */
export async function tasks({ files }) {
  const dtd = parseDtd(readFileSync(DTD), 'hatf10.dtd')
  const compiled = await moduleOf(compileDtd(dtd, { language: 'js' }))
  const native = readFileSync(files.hatf)
  // All records unchanged, because the DTD does not describe the components of reallocs.
  const nativeDecoder = () => hatf.format.decoder({ fold: false })
  const batches = batchesOf(nativeDecoder(), native)
  const events = eventsIn(batches)
  const bytes = bytesOf(binaryEncoder(dtd), batches)
  const decode = (name, decoder, from) => {
    const slices = slicesOf(from)
    return { name: `${name} decode`, events, bytes: from.length, run: () => drive(decoder(), slices, countOf) }
  }
  const encode = (name, encoder, length) => {
    return { name: `${name} encode`, events, bytes: length, run: () => drive(encoder(), batches, lengthOf) }
  }
  return [
    decode('generated', () => binaryDecoder(dtd), bytes),
    decode('compiled', compiled.decoder, bytes),
    decode('native', nativeDecoder, native),
    encode('generated', () => binaryEncoder(dtd), bytes.length),
    encode('compiled', compiled.encoder, bytes.length),
    // Without lookahead for better layouts, like the others.
    encode('native', () => hatf.format.encoder({ preset: 'naive' }), native.length),
  ]
}

/**
 * Imports the source of a module, with the build in place of the package.
 * @param {string} source
 * @returns {Promise<{ decoder: () => import('../../dist/lib/entry/stages.js').Decoder, encoder: () =>
 * import('../../dist/lib/entry/stages.js').Encoder }>}
 */
function moduleOf(source) {
  const built = source.replaceAll(/ from 'heapflow(?:\/([\w/]+))?'/g, (_, name = 'index') => {
    return ` from '${new URL(`../../dist/lib/entry/${name.replace('/', '-')}.js`, import.meta.url)}'`
  })
  return import(`data:text/javascript,${encodeURIComponent(built)}`)
}

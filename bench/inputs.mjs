// Creates the input traces of the benchmarks in a folder, each in every format, so that no case includes their
// creation.
import { createReadStream, createWriteStream } from 'node:fs'
import { open, readFile, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip, gunzipSync } from 'node:zlib'
import { compose, decompress } from '../dist/lib/entry/index.js'
import { decoderStream, encoderStream } from '../dist/lib/streams/stage.js'
import { formatNamed, sniffFormat } from './formats.mjs'
import { generate } from './generate.mjs'

/** The form of the traces in the tests. */
const FIXTURES = new URL('../test/fixtures/', import.meta.url)
/** The forms of a trace, each with its format and the options of its encoder. */
const FORMS = {
  mtrc: { format: 'mtrc' },
  replay: { format: 'replay' },
  hatf: { format: 'hatf' },
  naive: { format: 'hatf', options: { preset: 'naive' } },
  attributes: { format: 'hatf', options: { attributes: true } },
  kmemtrace: { format: 'kmemtrace' },
  ndjson: { format: 'ndjson' },
}

/**
 * @typedef {object} Input
 * @property {string} name
 * @property {Record<string, string>} files the paths of the trace's forms: those of FORMS, `general` (NDJSON with
 * spaces) and `gzip` (of MTRC)
 * @property {import('./native/build.mjs').Native} [native] the native yardsticks, where there is a C compiler
 */

/**
 * @typedef {object} Large traces for whole processes
 * @property {number} events
 * @property {Record<string, string>} files
 * @property {import('./native/build.mjs').Native} [native]
 */

/**
 * A generated trace in all its forms.
 * @param {string} folder
 * @param {number} events
 * @returns {Promise<Input>}
 */
export async function generatedInput(folder, events) {
  const path = join(folder, 'generated.mtrc')
  await generate(path, events)
  return completeInput(folder, 'generated', { mtrc: path })
}

/**
 * The recording of git from the tests, as MTRC and as memory_replay text.
 * @param {string} folder
 * @returns {Promise<Input>}
 */
export async function gitInput(folder) {
  const files = { mtrc: join(folder, 'git.mtrc'), replay: join(folder, 'git.txt') }
  for (const [form, path] of Object.entries(files)) {
    await writeFile(path, gunzipSync(await readFile(new URL(`${form}/${basename(path)}.gz`, FIXTURES))))
  }
  return completeInput(folder, 'git', files)
}

/**
 * A trace of any format, compressed or not. It must fit into memory several times.
 * @param {string} folder
 * @param {string} path
 * @param {number} number makes the names of its files differ from those of other traces
 * @returns {Promise<Input>}
 */
export async function fileInput(folder, path, number) {
  const plain = join(folder, `${number}`)
  await pipeline(createReadStream(path), decompress(), createWriteStream(plain))
  const format = sniffFormat(await firstBytes(plain))
  if (format === undefined) throw new Error(`${path}: not a trace of a known format`)
  return completeInput(folder, basename(path), { [format.name]: plain })
}

/**
 * A generated trace for whole processes.
 * @param {string} folder
 * @param {number} events
 * @returns {Promise<Large>}
 */
export async function largeInput(folder, events) {
  const files = Object.fromEntries(['mtrc', 'replay', 'hatf', 'gzip'].map((form) => [form, join(folder, `${events}.${form}`)]))
  await generate(files.mtrc, events)
  await convert(files.mtrc, 'mtrc', files.replay, 'replay')
  await convert(files.mtrc, 'mtrc', files.hatf, 'hatf')
  await compress(files.mtrc, files.gzip)
  return { events, files }
}

/** Adds the missing forms, made from the first available one. */
async function completeInput(folder, name, given) {
  const [[native, source]] = Object.entries(given)
  const files = { ...given }
  for (const [form, { format, options }] of Object.entries(FORMS)) {
    files[form] ??= join(folder, `${basename(source)}.${form}`)
    if (!(form in given)) await convert(source, FORMS[native].format, files[form], format, options)
  }
  files.general = join(folder, `${basename(source)}.general`)
  files.gzip = join(folder, `${basename(source)}.gzip`)
  await writeFile(files.general, spaced(await readFile(files.ndjson, 'utf8')))
  await compress(files.mtrc, files.gzip)
  return { name, files }
}

/**
 * @param {string} source
 * @param {string} from its format
 * @param {string} target
 * @param {string} to its format
 * @param {object} [options] of the encoder
 */
async function convert(source, from, target, to, options) {
  const [reader, writer] = [formatNamed(from), formatNamed(to)]
  if (reader === undefined || writer === undefined) throw new Error(`no format ${from} or ${to}`)
  const stages = compose(decoderStream(reader.decoder()), encoderStream(writer.encoder(options)))
  await pipeline(createReadStream(source), stages, createWriteStream(target))
}

function compress(source, target) {
  return pipeline(createReadStream(source), createGzip(), createWriteStream(target))
}

/** NDJSON as Python's json.dumps writes it: with a space after each colon and comma. */
function spaced(text) {
  return text.replaceAll('":', '": ').replaceAll(',"', ', "')
}

async function firstBytes(path) {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(65_536, (await stat(path)).size + 1)), 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

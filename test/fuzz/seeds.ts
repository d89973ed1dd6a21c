import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { KINDS, EVERY_FIELD, APIS } from '../../lib/event/fields.js'
import { isWritable, type Format } from '../../lib/event/format.js'
import { randomTraces } from './codecs.js'
import { Random } from './random.js'

const TEST = new URL('../../test/', testFolder())

/** The fuzzer runs compiled, in `dist`, and its own tests where the sources are; what it reads is with the sources. */
function testFolder(): string {
  return import.meta.url.replace('/dist/test/', '/test/')
}

/** Only the beginnings of large traces are of use. */
const USED_BYTES = 65_536

/** Good traces of a format: those that the tests have, and random ones. */
export function seedsOf(format: Format): Uint8Array[] {
  const seeds = ['golden', 'fixtures'].flatMap((folder) => filesOf(new URL(`${folder}/${format.name}/`, TEST)))
  if (isWritable(format)) seeds.push(...randomTraces(format, seeded(format.name.length), 40))
  if (seeds.length === 0) throw new Error(`there is no trace of ${format.name} to begin with`)
  return seeds
}

function filesOf(folder: URL): Uint8Array[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => !/\.(md|verbose\.txt\.gz|stats\.txt)$/.test(name))
    .map((name) => {
      const bytes = readFileSync(new URL(name, folder))
      return new Uint8Array(name.endsWith('.gz') ? gunzipSync(bytes) : bytes).slice(0, USED_BYTES)
    })
}

function seeded(seed: number): Random {
  const random = new Random()
  random.seed(seed)
  return random
}

/** What text formats are made of, and beginnings of binary ones. */
export const TOKENS: readonly Uint8Array[] = [
  ...KINDS.map((kind) => `"kind":"${kind}"`),
  ...EVERY_FIELD.map(({ name }) => `,"${name}":`),
  ...APIS,
  '{"kind":"header","format":"x"}\n',
  '{"kind":"end","events":1}\n',
  'MTRC',
  ' ',
  '\t',
  '\n',
  '\r\n',
  '\n\n',
  ':',
  ',',
  '"',
  '\\',
  '\\u0000',
  '\\ud800',
  '{"":',
  '[[[[[[[[',
  '}}',
  '0x',
  '-',
  '\0',
  '\xff',
].map((text) => new Uint8Array(Buffer.from(text, 'latin1')))

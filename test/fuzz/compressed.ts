import { deflateRawSync, gunzipSync, gzipSync } from 'node:zlib'
import { zipSync } from 'fflate'
import { gunzip } from '../../lib/compression/gunzip.js'
import { nodeMembers } from '../../lib/compression/gunzip-node.js'
import { unzstd } from '../../lib/compression/unzstd.js'
import { unxz } from '../../lib/compression/unxz.js'
import { Unzip } from '../../lib/compression/unzip.js'
import { kernelInflater, nodeInflater } from '../../lib/compression/zstd-inflaters.js'
import { TraceError } from '../../lib/event/error.js'
import { rawFrame, skippable } from '../compression/zstd-bytes.js'
import { Failure } from './failure.js'
import { Mutator } from './mutate.js'
import type { Random } from './random.js'
import type { Target } from './target.js'

const TEXT = new Uint8Array(Buffer.from('1: malloc 0x5510 24\n2: free 0x5510\n'.repeat(30)))
const gzip = (bytes: Uint8Array, level = 6) => new Uint8Array(gzipSync(bytes, { level }))
const join = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts))

const GZIPS = [
  gzip(TEXT),
  gzip(TEXT, 0),
  gzip(new Uint8Array(0)),
  gzip(new Uint8Array(20_000)),
  join(gzip(TEXT), gzip(TEXT)),
  join(gzip(TEXT.subarray(0, 50)), new Uint8Array(64)),
  join(gzip(TEXT.subarray(0, 50)), gzip(TEXT.subarray(50)), gzip(new Uint8Array(0))),
]
const ZIPS = [
  zipSync({ 'a.txt': TEXT }),
  zipSync({ 'a.txt': TEXT }, { level: 0 }),
  zipSync({ 'd/': new Uint8Array(0), 'd/a.txt': TEXT.subarray(0, 40) }, { comment: 'x' }),
  zipSync({}),
]
const base64 = (text: string) => new Uint8Array(Buffer.from(text, 'base64'))
/** What zstd makes of `TEXT`, with and without a checksum, and of lines of which no two are equal. */
const ZSTD_FRAMES = [
  base64('KLUv/QRINQEA4DE6IG1hbGxvYyAweDU1MTAgMjQKMjogZnJlZQoCAPSNquLK5hgMP+Zc'),
  base64('KLUv/QBYNQEA4DE6IG1hbGxvYyAweDU1MTAgMjQKMjogZnJlZQoCAPSNquLK5hg='),
  base64(
    'KLUv/QRorQoA1mFIFbAnHcwKiba2aqjc9t5SSpnkyo5ZB0MAQQBBAKQuzFHl9TiS12UsntfzostUTSDO+NSB80ZUkyFR1WbW2OvP0YpVXTDeuKkF' +
      'xWGD6kIkROo7y5TXNHSdcAUIg6E4FOBjV/UYnsbUZdIQqseOVUhNMNoorwPFs5oQB81rO8m86tewlE9dME2IasFxrupifNnrK9KvaiKWx9Sm08ig' +
      'ejC8C4N4VFTXOcbqIUNS7DXBLOOqDhx9Y2pinCJUW/Ev9QeRbKoLZ5FaMLSb18W8etV3HKepyUhcVPuKhVQ9IHrY6+IMnP/1BIg3VU04idDUgWFd' +
      'UU1MK6vteL/XL4zDo+pCkZAxtYBYjlBdTlupbzhkqsn8TO1ypDKvB8Yar7oomtHUATuoETxEcns3EF8NEL70AfRNRSUZQTryE11uQOKCoEtJRTpB' +
      '2HeqrIWj4mqZS5wDUhU6DdqC',
  ),
]
/** The byte after a frame's magic number and its descriptor: a window of 32 KiB, and not of up to 8 MiB. */
const [WINDOW_BYTE, SMALL_WINDOW] = [5, 0x28]
const SMALL_FRAMES = ZSTD_FRAMES.map((frame) => frame.with(WINDOW_BYTE, SMALL_WINDOW))
/** Large windows take much longer, so most frames have small ones. */
const ZSTDS = [
  new Uint8Array(rawFrame('1: free 0x10\n')),
  ...ZSTD_FRAMES,
  ...Array.from({ length: 8 }, () => SMALL_FRAMES).flat(),
]
/** What xz makes of `TEXT`, without a check and with a CRC-64, with a dictionary of 4 KiB. */
const XZ_FRAMES = [
  base64(
    '/Td6WFoAAAD/EtlBAgAhAQAAAAA3J5fW4AQZACpdABiOgCa/K/IN0Ivmwu9URY9eAHK7bginbndBmQWPWRvk0rgBNCMtXU5LAAAAAAABPpoIAAAAXqUno6gACvwCAAAAAABZWg==',
  ),
  base64(
    '/Td6WFoAAATm1rRGAgAhAQAAAAA3J5fW4AQZACpdABiOgCa/K/IN0Ivmwu9URY9eAHK7bginbndBmQWPWRvk0rgBNCMtXU5LAAAAACTWbh22wIKKAAFGmggAAADyKlZEscRn+wIAAAAABFla',
  ),
]
/** And what it makes of nothing; with a dictionary of 8 MiB, as is usual, which takes much longer. */
const XZS = [
  ...Array.from({ length: 8 }, () => XZ_FRAMES).flat(),
  base64('/Td6WFoAAATm1rRGAAAAABzfRCEftvN9AQAAAAAEWVo='),
  base64(
    '/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj4AQZACpdABiOgCa/K/IN0Ivmwu9URY9eAHK7bginbndBmQWPWRvk0rgBNCMtXU5LAAAAACTWbh22wIKKAAFGmggAAADyKlZEscRn+wIAAAAABFla',
  ),
]
const ZSTD_INFLATERS = [kernelInflater(), nodeInflater].filter((inflater) => inflater !== undefined)
const ZSTD_TOKENS = [new Uint8Array(skippable(5)), ZSTDS[0], ...SMALL_FRAMES.slice(0, 2)]
const TOKENS = [
  gzip(TEXT),
  deflateRawSync(TEXT),
  Buffer.from('PK\x03\x04'),
  Buffer.from('PK\x01\x02'),
  Buffer.from('PK\x05\x06'),
  Buffer.from('PK\x07\x08'),
  Buffer.from('\x1f\x8b\x08', 'latin1'),
]

/** What came out, and the error. */
interface Inflated {
  bytes: Uint8Array
  error: TraceError | undefined
}

/** Damaged gzip, zstd, xz and zip. */
export const COMPRESSED_TARGETS: readonly Target[] = [
  compressedTarget('gzip', '.gz', new Mutator(GZIPS, TOKENS), checkGzip, 4),
  compressedTarget('zstd', '.zst', new Mutator(ZSTDS, ZSTD_TOKENS), checkZstd),
  compressedTarget('xz', '.xz', new Mutator(XZS, XZS.slice(1, 3)), checkXz),
  compressedTarget('zip', '.zip', new Mutator(ZIPS, TOKENS), checkZip, 4),
]

function compressedTarget(
  name: string,
  extension: string,
  mutator: Mutator,
  check: (bytes: Uint8Array, random: Random) => void | Promise<void>,
  weight = 1,
): Target {
  return {
    name,
    weight,
    make(random) {
      const bytes = mutator.make(random)
      return { extension, bytes: () => bytes, check: () => check(bytes, random) }
    },
  }
}

async function checkGzip(bytes: Uint8Array, random: Random): Promise<void> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return
  const whole = await inflate([bytes])
  const size = 1 + random.below(bytes.length)
  const inPieces = await inflate(piecesOf(bytes, size))
  expectAlike('gzip', bytes, whole, inPieces)
  if (whole.error === undefined) {
    // It takes no member after zeros, and checks the optional CRC of a header.
    const expected = gunzipped(bytes)
    if (expected !== undefined && !expected.equals(whole.bytes.subarray(0, expected.length)))
      throw new Failure('not what node:zlib makes of it')
  }
}

function gunzipped(bytes: Uint8Array): Buffer | undefined {
  try {
    return gunzipSync(bytes)
  } catch (error) {
    if (error instanceof Error && error.message === 'header crc mismatch') return undefined
    throw error
  }
}

function inflate(pieces: Iterable<Uint8Array>): Promise<Inflated> {
  return collect(gunzip(asyncOf(pieces), nodeMembers()))
}

async function collect(inflated: AsyncIterable<Uint8Array>): Promise<Inflated> {
  const parts: Uint8Array[] = []
  let error: TraceError | undefined
  try {
    for await (const part of inflated) parts.push(part.slice())
  } catch (caught) {
    if (!(caught instanceof TraceError)) throw caught
    error = caught
  }
  return { bytes: join(...parts), error }
}

async function* asyncOf(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* pieces
}

async function checkZstd(bytes: Uint8Array, random: Random): Promise<void> {
  for (const inflater of ZSTD_INFLATERS) {
    const whole = await collect(unzstd(asyncOf([bytes]), inflater))
    const inPieces = await collect(unzstd(asyncOf(piecesOf(bytes, 1 + random.below(bytes.length + 1))), inflater))
    expectAlike('zstd', bytes, whole, inPieces)
  }
}

async function checkXz(bytes: Uint8Array, random: Random): Promise<void> {
  const whole = await collect(unxz(asyncOf([bytes])))
  const inPieces = await collect(unxz(asyncOf(piecesOf(bytes, 1 + random.below(bytes.length + 1)))))
  expectAlike('xz', bytes, whole, inPieces)
}

function checkZip(bytes: Uint8Array, random: Random): void {
  const whole = unzip([bytes])
  const inPieces = unzip(piecesOf(bytes, 1 + random.below(bytes.length + 1)))
  expectAlike('zip', bytes, whole, inPieces)
}

function unzip(pieces: Iterable<Uint8Array>): Inflated {
  const parts: Uint8Array[] = []
  const stage = new Unzip()
  let error: TraceError | undefined
  const drain = () => {
    for (let part = stage.next(); part !== null; part = stage.next()) parts.push(part.slice())
  }
  try {
    for (const piece of pieces) {
      stage.feed(piece)
      drain()
    }
    stage.end()
    drain()
  } catch (caught) {
    if (!(caught instanceof TraceError)) throw caught
    error = caught
  }
  return { bytes: join(...parts), error }
}

function* piecesOf(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size)
}

/** What could be inflated before a fault may differ; that there is one may not. */
function expectAlike(format: string, bytes: Uint8Array, one: Inflated, other: Inflated): void {
  for (const { error } of [one, other]) {
    if (error === undefined) continue
    if (error.format !== format) throw new Failure(`an error of ${error.format}`)
    if (error.offset === undefined || error.offset > bytes.length) throw new Failure(`no offset: ${error.message}`)
  }
  if (one.error?.code !== other.error?.code)
    throw new Failure(`in pieces: ${other.error?.message ?? 'no error'}, not ${one.error?.message ?? 'no error'}`)
  const n = Math.min(one.bytes.length, other.bytes.length)
  if (Buffer.compare(one.bytes.subarray(0, n), other.bytes.subarray(0, n)) !== 0)
    throw new Failure('other bytes in pieces')
  if (one.error === undefined && one.bytes.length !== other.bytes.length) throw new Failure('fewer bytes in pieces')
}

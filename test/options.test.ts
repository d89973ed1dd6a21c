import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { expect, describe, test } from 'vitest'
import { chain } from '../lib/event/chain.js'
import { isWritable } from '../lib/event/format.js'
import {
  EitherDecoder,
  HatfDecoder,
  HatfEncoder,
  Joiner,
  Separator,
  SplitDecoder,
  SplitEncoder,
} from '../lib/formats/hatf/index.js'
import { HeapmonDecoder, HeapmonEncoder } from '../lib/formats/heapmon/index.js'
import { KmemtraceDecoder, KmemtraceEncoder } from '../lib/formats/kmemtrace/index.js'
import { mtrc, MtrcDecoder, MtrcEncoder } from '../lib/formats/mtrc/index.js'
import { NdjsonDecoder } from '../lib/formats/ndjson/decode.js'
import { NdjsonEncoder } from '../lib/formats/ndjson/encode.js'
import { ReplayEncoder } from '../lib/formats/replay/encode.js'
import { gzip, zstd } from '../lib/streams/compress.js'
import { decodeAny } from '../lib/streams/decode.js'
import { decompress } from '../lib/streams/decompress.js'
import { DescriptorSink } from '../lib/streams/io/descriptor-sink.js'
import { filterFile } from '../lib/streams/filter-file.js'
import { events } from '../lib/streams/read-source.js'
import { openTrace } from '../lib/streams/io/open-trace.js'
import { concatInputs, mergeInputs } from '../lib/streams/merge.js'
import { merge } from '../lib/streams/merge-sources.js'
import * as entries from '../lib/entry/formats.js'
import { ProfileCollector } from '../lib/transforms/profile/collector.js'
import { parseBudgets, measure } from '../lib/streams/check.js'
import { traceModel } from '../lib/streams/generate.js'
import { exportProfile } from '../lib/streams/profile.js'
import { report } from '../lib/streams/report.js'
import { stats } from '../lib/streams/stats.js'
import { check } from '../lib/transforms/check/check.js'
import { sort } from '../lib/streams/sort.js'
import { HatfSplitter, joinStream } from '../lib/streams/split-addresses.js'
import { SplitFiles } from '../lib/streams/split-files.js'
import { decoderStream, encoderStream, transformStream } from '../lib/streams/stage.js'
import { Filter } from '../lib/transforms/filter.js'
import { StatisticsCollector } from '../lib/transforms/statistics/collector.js'
import { Mapper } from '../lib/transforms/map.js'
import { Merger } from '../lib/transforms/merge.js'
import { IdOffset } from '../lib/transforms/id-offset.js'
import { Repair } from '../lib/transforms/repair/repair.js'
import { Partitioner } from '../lib/transforms/split.js'
import { Verifier } from '../lib/transforms/verify.js'
import { FORMATS } from './support/formats.js'
import { asciiDecoder } from '../lib/metatf/ascii/decoder.js'
import { asciiEncoder } from '../lib/metatf/ascii/encoder.js'
import { binaryDecoder } from '../lib/metatf/binary/decoder.js'
import { binaryEncoder } from '../lib/metatf/binary/encoder.js'
import { compileDtd } from '../lib/metatf/generate/module.js'
import { HATF_12 } from '../lib/metatf/hatf-ascii/index.js'
import { parseDtd } from '../lib/metatf/index.js'
import { HeaptrackDecoder } from '../lib/formats/heaptrack/index.js'
import { LtraceDecoder } from '../lib/formats/ltrace/index.js'
import { MtraceDecoder } from '../lib/formats/glibc-mtrace/index.js'
import { ReplayDecoder } from '../lib/formats/replay/index.js'
import { TracepointsDecoder } from '../lib/formats/tracepoints/index.js'
import { ValgrindDecoder } from '../lib/formats/valgrind/index.js'
import { StackNumbers } from '../lib/transforms/block-table/stack-numbers.js'
import { OwnFrames } from '../lib/names/own-frames.js'
import { conformance } from '../lib/testing/conformance.js'
import { perCpuFiles } from '../lib/streams/per-cpu.js'
import { blockTable } from '../lib/streams/blocks.js'
import { symbolize } from '../lib/streams/symbolize.js'
import { split } from '../lib/streams/split.js'

const { ndjson } = entries
const DTD = parseDtd(readFileSync('examples/hatf10.dtd'))

/** Whatever takes options, as a function of its options. */
const TAKERS: Record<string, (options: never) => unknown> = {
  AsciiDecoder: (options) => asciiDecoder(HATF_12, options),
  AsciiEncoder: (options) => asciiEncoder(HATF_12, options),
  BinaryDecoder: (options) => binaryDecoder(DTD, options),
  BinaryEncoder: (options) => binaryEncoder(DTD, options),
  compileDtd: (options) => compileDtd(DTD, options),
  HeaptrackDecoder: (options) => new HeaptrackDecoder(options),
  LtraceDecoder: (options) => new LtraceDecoder(options),
  MtraceDecoder: (options) => new MtraceDecoder(options),
  ReplayDecoder: (options) => new ReplayDecoder(options),
  TracepointsDecoder: (options) => new TracepointsDecoder(options),
  ValgrindDecoder: (options) => new ValgrindDecoder(options),
  StatisticsCollector: (options) => new StatisticsCollector(options),
  StackNumbers: (options) => new StackNumbers(options),
  OwnFrames: (options) => new OwnFrames(options),
  check: (options) => check([], [], [], options),
  conformance: (options) => conformance(mtrc, options),
  'mergeInputs, an input': (options) => mergeInputs([options]),
  'concatInputs, an input': (options) => concatInputs([options]),
  chain: (options) => chain(new MtrcDecoder(), new MtrcEncoder(), options),
  HatfDecoder: (options) => new HatfDecoder(options),
  EitherDecoder: (options) => new EitherDecoder(options),
  SplitDecoder: (options) => new SplitDecoder(options),
  HatfEncoder: (options) => new HatfEncoder(options),
  SplitEncoder: (options) => new SplitEncoder(new HatfEncoder(), options),
  Joiner: (options) => new Joiner(options),
  Separator: (options) => new Separator(options),
  joinStream: (options) => joinStream({}, options),
  HatfSplitter: (options) => new HatfSplitter(options),
  HeapmonDecoder: (options) => new HeapmonDecoder(options),
  HeapmonEncoder: (options) => new HeapmonEncoder(options),
  KmemtraceDecoder: (options) => new KmemtraceDecoder(options),
  KmemtraceEncoder: (options) => new KmemtraceEncoder(options),
  MtrcDecoder: (options) => new MtrcDecoder(options),
  MtrcEncoder: (options) => new MtrcEncoder(options),
  ReplayEncoder: (options) => new ReplayEncoder(options),
  gzip: (options) => gzip(options),
  zstd: (options) => zstd(options),
  decodeAny: (options) => decodeAny(options),
  decompress: (options) => decompress(options),
  openTrace: (options) => openTrace('-', options),
  concatInputs: (options) => concatInputs([], options),
  mergeInputs: (options) => mergeInputs([], options),
  sort: (options) => sort(options),
  SplitFiles: (options) => new SplitFiles(options),
  DescriptorSink: (options) => new DescriptorSink(1, options),
  decoderStream: (options) => decoderStream(new NdjsonDecoder(), options),
  encoderStream: (options) => encoderStream(new NdjsonEncoder(), options),
  transformStream: (options) => transformStream(new Filter(), options),
  Filter: (options) => new Filter(options),
  Mapper: (options) => new Mapper(options),
  'Mapper, anonymize': (options) => new Mapper({ anonymize: options }),
  'Mapper, rebase': (options) => new Mapper({ rebase: options }),
  Merger: (options) => new Merger([], options),
  IdOffset: (options) => new IdOffset(options),
  Repair: (options) => new Repair(options),
  Partitioner: (options) => new Partitioner(options),
  Verifier: (options) => new Verifier(options),
  stats: (options) => stats(options),
  report: (options) => report(options),
  traceModel: (options) => traceModel(options),
  ...Object.fromEntries(
    FORMATS.flatMap((format) => [
      [`decoder of ${format.name}`, (options: never) => format.decoder(options)],
      ...(isWritable(format) ? [[`encoder of ${format.name}`, (options: never) => format.encoder(options)]] : []),
    ]) as [string, (options: never) => unknown][],
  ),
}

describe.each(Object.entries(TAKERS))('%s', (_, take) => {
  test('refuses options that do not exist', () => {
    expect(() => take({ nonsense: 1 } as never)).toThrow(RangeError)
    expect(() => take({ nonsense: 1 } as never)).toThrow(/unknown option "nonsense"/)
    expect(() => take({ recycel: true, strcit: true } as never)).toThrow(/unknown option/)
  })

  test('refuses what is no object', () => {
    for (const options of ['mtrc', 7, null])
      expect(() => take(options as never)).toThrow(/must be a plain object, not|of null/)
  })
})

describe('values of a wrong type are refused', () => {
  const WHOLE = `a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`
  const ONE = `a whole number from 1 to ${Number.MAX_SAFE_INTEGER}`
  const merged = (options: object) => merge('a.mtrc', 'b.mtrc', options as object)
  const named = (format: unknown) => decodeAny({ format } as never)
  test.each<[string, () => unknown, string]>([
    ['an order', () => merged({ by: 'size' }), 'merge: by must be time or sequence, not "size"'],
    ['a flag', () => merged({ endToEnd: 1 }), 'merge: endToEnd must be a boolean, not 1'],
    ['a function', () => new Filter({ where: true } as never), 'filter: where must be a function, not true'],
    ['a thread', () => new Filter({ thread: true } as never), 'filter: thread: not an exact integer: true'],
    [
      'a name',
      () => new Filter({ function: {} } as never),
      'filter: function: not a name or a regular expression: an object of type Object',
    ],
    ['a CPU', () => new Filter({ cpu: 'x' } as never), 'filter: cpu: not an integer of 32 bits: "x"'],
    ['a device', () => new Filter({ device: 1.5 }), 'filter: device: not an integer of 32 bits: 1.5'],
    [
      'a range',
      () => new Filter({ size: { min: 5n } as object }),
      "filter: size: not a range of bigints, such as parseRange('4K..') or { from: 4096n }: { min: 5n }",
    ],
    ['a list', () => new Mapper({ drop: 'time' } as never), 'map: drop must be an array of fields, not "time"'],
    ['an offset', () => new Mapper({ rebase: {} } as never), 'map: rebase needs `from` and `to`'],
    [
      'a moment',
      () => new ProfileCollector({ at: null } as never),
      "profile: at: not a moment, such as { event: 5 }, { time: 5n } or 'peak'",
    ],
    [
      'a moment that is a number',
      () => new ProfileCollector({ at: 5n } as never),
      "profile: at: not a moment, such as { event: 5 }, { time: 5n } or 'peak'",
    ],
    [
      'a moment of a filter',
      () => filterFile('-', { liveAt: 5 } as never),
      "filter: liveAt: not a moment, such as { event: 5 }, { time: 5n } or 'peak'",
    ],
    [
      'options of a decoder',
      () => events('-', { decode: 'inner' } as never),
      'events: decode must be an object, not "inner"',
    ],
    ['a window', () => merged({ window: NaN }), `merge: window must be ${WHOLE}, not NaN`],
    ['a negative window', () => new Merger([], { by: 'time', window: -1 }), `merge: window must be ${WHOLE}, not -1`],
    ['a part of a window', () => mergeInputs([], { window: 1.5 }), `mergeInputs: window must be ${WHOLE}, not 1.5`],
    ['a level of gzip', () => gzip({ level: 99 }), 'gzip: level must be a whole number from -1 to 9, not 99'],
    [
      'an inflater',
      () => decompress({ inflater: 'zlib' } as never),
      'decompress: inflater must be zlib-sync or node:zlib, not "zlib"',
    ],
    [
      'a compression',
      () =>
        new SplitFiles({ by: 'thread', path: String, encoder: () => new MtrcEncoder(), compression: 'xz' as never }),
      'SplitFiles: compression must be gzip or zstd, not "xz"',
    ],
    [
      'a format of tables',
      () => blockTable({ to: 'xml' as never }),
      'blockTable: to must be ndjson, arrow, parquet or csv, not "xml"',
    ],
    [
      'a number of bytes',
      () => openTrace('-', { chunkBytes: -5 }),
      'openTrace: chunkBytes must be a whole number from 1 to 1073741824, not -5',
    ],
    [
      'a number that is none',
      () => split({ by: 'thread', maxParts: NaN }, () => ({}) as never),
      'split: maxParts must be a whole number from 1 on, or Infinity, not NaN',
    ],
    [
      'a number of parts',
      () => split({ by: 'thread', maxParts: 0 }, () => stats()),
      'split: maxParts must be a whole number from 1 on, or Infinity, not 0',
    ],
    ['a number of places', () => new Verifier({ places: -1 }), `verify: places must be ${WHOLE}, not -1`],
    [
      'a function to map with',
      () => new Mapper({ expression: 5 } as never),
      'map: expression must be a function or code, not 5',
    ],
    ['a key', () => new Mapper({ anonymize: { names: false } as never }), 'map: anonymize needs a key'],
    ['a format', () => named('mtrc'), 'decodeAny: format must be a format, such as that of heapflow/mtrc, not "mtrc"'],
    [
      'a format of a file',
      () => openTrace('-', { format: 'mtrc' as never }),
      'openTrace: format must be a format, such as that of heapflow/mtrc, not "mtrc"',
    ],
    ['sites', () => new StatisticsCollector({ sites: -1 }), `StatisticsCollector: sites must be ${ONE}, not -1`],
    ['sites of a check', () => check([{} as never], [], [], { sites: 1.5 }), `check: sites must be ${WHOLE}, not 1.5`],
    [
      'stacks',
      () => new ProfileCollector({ stacks: 0 }),
      'profile: stacks must be a whole number from 1 to 250000, not 0',
    ],
    ['a stage', () => decodeAny({ through: 5 as never }), 'decodeAny: through must be a stage, not 5'],
    [
      'folders',
      () => symbolize({ debugDirs: '/usr' } as never),
      'symbolize(): debugDirs must be an array of strings, not "/usr"',
    ],
    ['a signal', () => openTrace('-', { signal: 5 } as never), 'openTrace: signal must be an AbortSignal, not 5'],
    [
      'expressions',
      () => new OwnFrames({ hide: ['x'] } as never),
      'OwnFrames: hide must be an array of regular expressions, not an array',
    ],
    [
      'a CPU of 32 bits',
      () => new KmemtraceDecoder({ cpu: 2 ** 31 }),
      'KmemtraceDecoder: cpu must be a whole number from 0 to 2147483647, not 2147483648',
    ],
    [
      'a CPU to write',
      () => new KmemtraceEncoder({ cpu: -1 }),
      'KmemtraceEncoder: cpu must be a whole number from 0 to 2147483647, not -1',
    ],
    [
      'a flag of every encoder',
      () => ndjson.encode({ strict: 1 } as never),
      'ndjson.encode(): strict must be a boolean, not 1',
    ],
  ])('%s', (_, take, message) => {
    expect(take).toThrow(new RangeError(message))
  })

  test('a figure of a profile', async () => {
    const profile = new ProfileCollector().finish()
    await expect(exportProfile(profile, 'pprof', { value: 'size' as 'peak-bytes' })).rejects.toThrow(
      /^exportProfile: value must be allocated-bytes, .* or foreign-frees, not "size"/,
    )
  })

  test.each([
    ['nothing', undefined],
    ['a number', 5],
    ['no streams', []],
    ['a list of numbers', [5]],
    ['a readable stream', Readable.from([])],
  ])('%s in place of the streams of a part', async (_, value) => {
    const sink = split({ by: 'thread' }, () => value as never)
    sink.end({ kind: 'free', thread: 1n })
    await expect(once(sink, 'finish')).rejects.toThrow(
      'split(): the target of "1" must be a sink, or streams and a sink',
    )
  })

  test.each([undefined, null])('%s that the function for a part throws is an error, too', async (thrown) => {
    const fail = () => {
      throw thrown
    }
    const files = new SplitFiles({ by: 'thread', path: fail, encoder: () => new NdjsonEncoder() })
    for (const sink of [split({ by: 'thread' }, fail), files]) {
      sink.end({ kind: 'free', thread: 1n })
      await expect(once(sink, 'finish')).rejects.toThrow(`${thrown} was thrown`)
    }
  })

  test.each(['path', 'encoder'])('files of parts without %s are refused at once', (name) => {
    const options = { by: 'thread', path: String, encoder: () => new NdjsonEncoder(), [name]: undefined }
    expect(() => new SplitFiles(options as never)).toThrow(`SplitFiles: ${name} must be a function, not undefined`)
    expect(() => new SplitFiles(undefined as never)).toThrow('SplitFiles: the options must be a plain object')
  })

  test('a promise of the streams of a part', async () => {
    const sink = split({ by: 'thread' }, (async () => stats()) as never)
    sink.end({ kind: 'free', thread: 1n })
    await expect(once(sink, 'finish')).rejects.toThrow('the function returned a promise, but it must not be async')
  })
})

describe('budgets', () => {
  const groups = parseBudgets({ budgets: [{ max: { peak: '1M' } }] })
  const HINT = 'the budgets must be an array as parseBudgets() returns it, not'

  test('that are none are refused', () => {
    expect(() => measure(groups, 'x')).not.toThrow()
    expect(() => measure({} as never, 'x')).toThrow(`measure: ${HINT} an object of type Object`)
    expect(() => measure([{ max: 1 }] as never, 'x')).toThrow(`measure: ${HINT} an array of something else`)
    expect(() => check([{} as never], [], undefined as never)).toThrow(`check: ${HINT} undefined`)
  })
})

describe('options of a format', () => {
  const named = (name: string) => FORMATS.find((format) => format.name === name) as (typeof FORMATS)[number]

  test.each<[string, () => unknown, RegExp]>([
    ['a mistyped name', () => named('mtrc').decoder({ reslove: false } as object), /did you mean "resolve"\?/],
    ['no boolean', () => named('mtrc').decoder({ resolve: 'no' } as object), /: resolve must be a boolean, not "no"/],
    [
      'no such layout',
      () => named('kmemtrace').decoder({ layout: 'x' } as object),
      /: layout must be relay or ftrace, not "x"/,
    ],
  ])('%s is refused', (_, make, message) => expect(make).toThrow(message))

  test('of per-CPU files are refused before these are looked for', async () => {
    await expect(perCpuFiles(['missing'], { nonsense: 1 } as object)).rejects.toThrow(/unknown option "nonsense"/)
  })

  const VALUES = [null, NaN, -1, 0, 1, 1.5, 4, 4096, Infinity, '', '1', '4', '4K', 'x', {}, [], true, 5n, () => {}]

  /** Which values an option cannot have. */
  function refused(name: string, make: (options: never) => unknown): unknown[] {
    return VALUES.filter((value) => {
      try {
        make({ [name]: value } as never)
        return false
      } catch {
        return true
      }
    })
  }

  /** The streams of the root load the codec with the first chunk. */
  test.each(Object.values(entries))('$name are refused before the first chunk', async (entry) => {
    const format = await entry.load()
    const { decodeOptions, encodeOptions, optionChecks = {} } = entry
    for (const name of Object.keys({ ...decodeOptions, ...optionChecks.decode }))
      expect([name, refused(name, entry.decode)]).toEqual([name, refused(name, format.decoder)])
    if (!isWritable(format) || !('encode' in entry)) return
    for (const name of Object.keys({ ...encodeOptions, ...optionChecks.encode }))
      expect([name, refused(name, entry.encode)]).toEqual([name, refused(name, format.encoder)])
  })

  test('that programs set are taken', () => {
    expect(() => named('kmemtrace').decoder({ cpu: 3 } as object)).not.toThrow()
  })
})

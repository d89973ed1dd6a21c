// The text of current recorders, compared with the programs that usually read it. The given trace is not used;
// recordings from the tests are repeated instead.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import * as glibcMtrace from '../../dist/lib/entry/glibc-mtrace.js'
import * as ltrace from '../../dist/lib/entry/ltrace.js'
import * as tracepoints from '../../dist/lib/entry/tracepoints.js'
import * as valgrind from '../../dist/lib/entry/valgrind.js'
import { countOf, drive, slicesOf, thenRecycle } from '../drive.mjs'
import { hasProgram, readerProcess } from '../yardsticks.mjs'

const FIXTURES = new URL('../../test/fixtures/', import.meta.url)
/** The approximate number of lines read of each. */
const LINES = 300_000

/** A program that follows the live blocks of such a log, and prints those left at the end. */
const LEFT = 'END { for (p in live) left += live[p]; print left }'
const CALLS = `/malloc\\(/ { split($0, a, /[(,) ]+/); live[$NF] = a[3] } /free\\(/ { split($0, a, /[()]/); delete live[a[2]] } ${LEFT}`
const KEYS =
  'function value(key) { return match($0, key "=[^ ]*") ? substr($0, RSTART + length(key) + 1, RLENGTH - length(key) - 1) : 0 } ' +
  `/alloc: / { live[value("ptr")] = value("bytes_req") } /free: / { delete live[value("ptr")] } ${LEFT}`

/** Each format's module, a recording, and the program that reads it. */
const RECORDERS = [
  { format: glibcMtrace.format, file: 'glibc-mtrace/mt-edge.mtrace', reader: ['mtrace'] },
  { format: tracepoints.format, file: 'tracepoints/perf-ns-pidtid.txt.gz', reader: ['awk', KEYS] },
  { format: valgrind.format, file: 'valgrind/mtv-edge.log', reader: ['awk', CALLS] },
  { format: ltrace.format, file: 'ltrace/mtv-f-stderr-pid.ltrace', reader: ['awk', CALLS] },
]

/** @param {import('../inputs.mjs').Input} input */
export function tasks({ files }) {
  return RECORDERS.flatMap(({ format, file, reader: [program, ...words] }) => {
    const bytes = repeated(file)
    const slices = slicesOf(bytes)
    const path = join(dirname(files.mtrc), `${format.name}.txt`)
    writeFileSync(path, bytes)
    // Its rate is in lines.
    const task = { events: bytes.toString('latin1').split('\n').length - 1, bytes: bytes.length }
    return [
      { ...task, name: format.name, run: () => drive(format.decoder(), slices, thenRecycle(countOf)) },
      ...(hasProgram(program) ? [{ ...task, name: `${format.name}, ${program}`, run: () => readerProcess(program, [...words, path]) }] : []),
    ]
  })
}

function repeated(file) {
  const bytes = readFileSync(new URL(file, FIXTURES))
  const text = file.endsWith('.gz') ? gunzipSync(bytes) : bytes
  const lines = text.toString('latin1').split('\n').length - 1
  return Buffer.concat(Array.from({ length: Math.ceil(LINES / lines) }, () => text))
}

/** Pairs of tasks, the second one the yardstick. */
export const ratios = RECORDERS.map(({ format, reader: [program] }) => [format.name, `${format.name}, ${program}`])

import { Writable } from 'node:stream'
import type { EventBatch } from '../../event/batch.js'
import { TraceError } from '../../event/error.js'
import { decodeAny } from '../../streams/decode.js'
import { writeText } from '../../streams/stdio.js'
import { Repair, REPAIRS } from '../../transforms/repair/repair.js'
import { parseRange } from '../../transforms/ranges.js'
import { FAULTS, MAX_SIZE, Verifier, type FaultName } from '../../transforms/verify.js'
import { ndjson } from '../../wire/ndjson/index.js'
import { UsageError, wholeNumber, type Arguments, type Command } from '../command.js'
import { inputOperand, OUTPUT_FLAGS, outputFormat, runJob, runStreams, STRICT_FLAG, TO_FLAG } from '../pipeline.js'

const PLACES = 10
const WINDOW = 16_384
const FAULT_FOUND = 1

export const verify: Command = {
  name: 'hf-verify',
  summary: 'check that a trace makes sense, and mend one that does not',
  operands: '[FILE]',
  description:
    'Checks what the events say, beyond the bytes that every command checks: frees and reallocs of blocks that are not live (unknown-free), or were freed a short while ago ' +
    '(double-free); allocations where a block is live (live-address) or that run into one (overlap), of 0 bytes (zero-size) or of more than there is (absurd-size); ' +
    'times and sequence numbers that go backwards (time-backwards); a trace that is cut off (missing-end). Tells how many there are of each and where the first ones are; ' +
    'the exit status is 1 if there are any.\n' +
    'With --repair a mended trace is written to the file of -o, in which it finds nothing any more. A free that was recorded behind the reuse of its address, as happens in ' +
    'programs with several threads, is moved before it. Other blocks in the way of an allocation get a free; frees of blocks that are not live and allocations of absurd size ' +
    'are left out; sizes of 0 become 1; times that go backwards, and the numbers behind what was moved, are set. How often it did what is told; the exit status is 0 then.',
  memory: 'grows with the live blocks (about 80 bytes each).',
  flags: [
    { name: 'allow', value: 'FAULT', help: 'Do not take this for a fault, nor mend it', repeat: true, values: FAULTS },
    { name: 'max-size', value: 'BYTES', help: 'Allocations of more than this many bytes are absurd (default 2^47)' },
    { name: 'places', value: 'N', help: `Tell the first N places of each fault (default ${PLACES})` },
    { name: 'json', help: 'Write the report as JSON' },
    { name: 'repair', help: 'Write a mended trace to the file of -o' },
    { name: 'window', value: 'N', help: `With --repair: look for a late free among the next N events (default ${WINDOW})` },
    ...OUTPUT_FLAGS,
    TO_FLAG,
    STRICT_FLAG,
  ],
  examples: [
    { command: 'hf-verify app.mtrc', means: 'check a trace' },
    { command: 'hf-verify --allow zero-size --places 3 --json dump.zip | jq .faults', means: 'count the faults of an Android dump' },
    { command: 'hf-verify --repair -o mended.txt dump.txt && hf-verify mended.txt', means: 'mend it' },
  ],
  run: (args) => (args.has('repair') ? repairTrace(args) : checkTrace(args)),
}

async function checkTrace(args: Arguments): Promise<void> {
  for (const flag of ['output', 'gzip', 'to', 'strict', 'window']) {
    if (args.has(flag)) throw new UsageError(`--${flag} goes with --repair only`)
  }
  const verifier = new Verifier({
    allow: args.all('allow') as FaultName[],
    maxSize: maxSize(args),
    places: wholeNumber('places', args.value('places') ?? String(PLACES)),
  })
  const report = args.has('json') ? faultsJson : faultsText
  const sink = () =>
    new Writable({
      objectMode: true,
      highWaterMark: 1,
      write(batch: EventBatch, _encoding, done) {
        verifier.check(batch)
        done()
      },
    })
  try {
    await runStreams('hf-verify', inputOperand(args), [decodeAny()], sink)
  } catch (error) {
    if (error instanceof TraceError && error.code === 'ERR_TRACE_TRUNCATED') {
      verifier.noteCut(error.message)
    } else {
      // What came before it counts all the same.
      if (error instanceof TraceError && verifier.events > 0) await writeText('-', report(verifier))
      throw error
    }
  }
  // Before it is written, for its reader may go away.
  if (verifier.counts.size > 0) process.exitCode = FAULT_FOUND
  await writeText('-', report(verifier))
}

async function repairTrace(args: Arguments): Promise<void> {
  const output = args.value('output')
  if (output === undefined) throw new UsageError('--repair needs -o FILE: the file to write')
  for (const flag of ['places', 'json']) if (args.has(flag)) throw new UsageError(`--${flag} does not go with --repair`)
  const window = wholeNumber('window', args.value('window') ?? String(WINDOW))
  if (window < 1 || window > 16_777_216) throw new UsageError('--window must be from 1 to 16777216')
  const stage = new Repair({ window, maxSize: maxSize(args), allow: args.all('allow') as FaultName[] })
  let cut: string | undefined
  await runJob({
    command: 'hf-verify',
    args,
    stages: [stage],
    to: outputFormat(args, output, ndjson),
    onCut: (error) => {
      cut = error.message
    },
  })
  const lines = [...stage.changes].map(([name, n]) => `${name}  ${n}  ${REPAIRS[name]}`)
  if (cut !== undefined) lines.push(`end-added  1  the trace is cut off: ${cut}`)
  // Standard output may be the trace.
  process.stderr.write((lines.length > 0 ? lines : ['nothing to mend']).map((line) => `hf-verify: ${line}\n`).join(''))
}

function maxSize(args: Arguments): bigint {
  const text = args.value('max-size')
  if (text === undefined) return MAX_SIZE
  try {
    const { from, to } = parseRange(text)
    if (from === to && from !== undefined) return from
  } catch {
    // Told below.
  }
  throw new UsageError(`--max-size needs a number of bytes, which may end in K, M or G, not ${JSON.stringify(text)}`)
}

function faultsText({ counts, findings, events }: Verifier): string {
  const lines: string[] = []
  for (const fault of FAULTS) {
    const n = counts.get(fault)
    if (n === undefined) continue
    lines.push(`${fault}: ${n}`)
    const places = findings.filter((finding) => finding.fault === fault)
    for (const { event, what } of places) lines.push(`  event ${event}: ${what}`)
    if (places.length < n) lines.push(`  and ${n - places.length} more`)
  }
  const all = [...counts.values()].reduce((sum, n) => sum + n, 0)
  lines.push(`${events} events, ${all === 0 ? 'no' : all} fault${all === 1 ? '' : 's'}`)
  return lines.join('\n') + '\n'
}

function faultsJson({ counts, findings, events }: Verifier): string {
  return JSON.stringify({ events, faults: Object.fromEntries(counts), places: findings }) + '\n'
}

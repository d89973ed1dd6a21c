// Many small pipelines, many that fail half-way, and long traces through each source, in one process, whose memory,
// descriptors and listeners must stay as they were after the first of them.
//
//   node --expose-gc test/soak/main.mjs [--pipelines N] [--failures N] [--bytes N] [--only NAME]
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { pipelinesIn } from './pipelines.mjs'
import { sourcesIn } from './sources.mjs'

const { values } = parseArgs({
  options: {
    pipelines: { type: 'string', default: '1000000' },
    failures: { type: 'string', default: '100000' },
    bytes: { type: 'string', default: '20e9' },
    only: { type: 'string', default: '' },
  },
})
/**
 * How much more may be in use than after the first pipelines: what Node itself keeps varies by as much. V8 optimizes
 * functions until about 100,000 pipelines have run, and their code takes 5 to 9 MB of the heap. Node 24 has 80 to 95 MB
 * more resident by then. A pipeline that left 16 bytes on the heap, or 100 elsewhere, would take more than that.
 */
const ROOM = { resident: 100e6, heap: 16e6, external: 30e6, descriptors: 2, listeners: 0 }
const FIRST = 1000

async function used() {
  for (let i = 0; i < 3; i++) {
    await turn()
    globalThis.gc?.()
  }
  const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage()
  return {
    resident: rss,
    heap: heapUsed,
    external: external + arrayBuffers,
    descriptors: readdirSync('/proc/self/fd').length,
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
  }
}

const show = ({ resident, heap, external, descriptors, listeners }) =>
  `resident ${(resident / 1e6).toFixed(0)} MB, heap ${(heap / 1e6).toFixed(1)} MB, external ` +
  `${(external / 1e6).toFixed(1)} MB, ${descriptors} descriptors, ${listeners} listeners`

const say = (line) => process.stdout.write(`${line}\n`)

let failed = false
function check(condition, what) {
  if (condition) return
  failed = true
  say(`FAILED: ${what}`)
}

function checkUsed(now, first, what) {
  for (const [name, room] of Object.entries(ROOM))
    check(now[name] <= first[name] + room, `${what}: ${name} grew from ${first[name]} to ${now[name]}`)
}

/** Runs pipelines in turn, `n` in all, and compares what each gives with what it gave first. */
async function many(name, pipelines, n) {
  const expected = []
  for (const pipeline of pipelines) expected.push(await pipeline())
  let first
  const started = performance.now()
  for (let i = 0; i < n; i++) {
    const which = i % pipelines.length
    const found = await pipelines[which]()
    check(found === expected[which], `${name} ${i}: pipeline ${which} gives ${found}, not ${expected[which]}`)
    if (i + 1 !== FIRST && (i + 1) % Math.ceil(n / 10) !== 0) continue
    const now = await used()
    if (i + 1 >= FIRST) first ??= now
    say(`${name}: ${i + 1}, ${((performance.now() - started) / 1000).toFixed(0)} s, ${show(now)}`)
    if (first !== undefined) checkUsed(now, first, `${name} ${i + 1}`)
  }
}

process.on('unhandledRejection', (reason) => check(false, `unhandled rejection: ${reason}`))
process.on('warning', (warning) => check(false, `warning: ${warning.message}`))

const folder = mkdtempSync(join(tmpdir(), 'heapflow-soak-'))
try {
  say(`Node ${process.versions.node}`)
  const { good, bad } = await pipelinesIn(folder)
  await many('pipelines', good, Number(values.pipelines))
  await many('failures', bad, Number(values.failures))
  const { sources, bytes, events } = sourcesIn(folder)
  const pieces = Math.ceil(Number(values.bytes) / bytes)
  for (const [name, read] of Object.entries(sources)) {
    if (pieces === 0 || !name.includes(values.only)) continue
    check((await read(20)) === 20 * events, `${name}: not all events of a short trace`)
    const first = await used()
    let most = first.resident
    const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 100)
    const started = performance.now()
    const found = await read(pieces)
    clearInterval(timer)
    const seconds = (performance.now() - started) / 1000
    const now = await used()
    check(found === pieces * events, `${name}: ${found} events, not ${pieces * events}`)
    check(most < first.resident + 200e6, `${name}: ${most} bytes resident while it was read`)
    checkUsed(now, first, name)
    say(
      `${name}: ${((pieces * bytes) / 1e9).toFixed(1)} GB, ${seconds.toFixed(0)} s, ` +
        `at most ${(most / 1e6).toFixed(0)} MB resident; then ${show(now)}`,
    )
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
say(failed ? 'failed' : 'flat')
process.exitCode = failed ? 1 : 0

import { existsSync, readFileSync } from 'node:fs'
import { createContext, runInContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../lib/event/batch.js'
import type { Profile } from '../../lib/transforms/profile/profile.js'
import { shell } from '../support/commands.js'
import { ProfileCollector } from '../../lib/transforms/profile/collector.js'
import { inBatches } from '../transforms/events.js'
import { hostileEvents, profileOf, written } from './support.js'

const VIEWER = ['/usr/libexec/valgrind/dh_view.js', '/usr/lib/valgrind/dh_view.js'].find((path) => existsSync(path))
const TRACE = 'test/fixtures/mtrc/small64.mtrc.gz'

/** The part of a page that the viewer uses. */
class Element {
  readonly childNodes: Element[] = []
  label?: string
  disabled?: boolean
  selected?: boolean
  parentNode: Element | undefined
  private text = ''

  appendChild(child: Element): Element {
    this.childNodes.push(child)
    child.parentNode = this
    return child
  }

  replaceChild(child: Element, old: Element): void {
    child.parentNode = this
    this.childNodes[this.childNodes.indexOf(old)] = child
  }

  cloneNode(): Element {
    return new Element()
  }

  get selectedIndex(): number {
    return Math.max(
      0,
      this.childNodes.findIndex(({ selected }) => selected === true),
    )
  }

  get textContent(): string {
    return this.text + this.childNodes.map(({ textContent }) => textContent).join('')
  }

  set textContent(text: string) {
    this.childNodes.length = 0
    this.text = text
  }
}

interface Shown {
  totalBytes: number
  totalBlocks: number
  atPeak: number
  atEnd: number
  text: string
}

/** What the viewer of valgrind makes of a file. */
function view(bytes: Uint8Array): Shown {
  const body = new Element()
  const text = (value: string) => Object.assign(new Element(), { textContent: value })
  const document = {
    body,
    title: '',
    location: { search: '' },
    createElement: () => new Element(),
    createTextNode: text,
  }
  const context = createContext({
    document,
    performance,
    URLSearchParams,
    console,
    input: Buffer.from(bytes).toString(),
  })
  runInContext(readFileSync(VIEWER as string, 'utf8'), context)
  runInContext('onLoad(); gFilename = "file"; gData = JSON.parse(input); buildTree(); displayTree(0, 0, 0)', context)
  const [totalBytes, totalBlocks, atPeak, atEnd] = runInContext(
    '[gRoot._totalBytes, gRoot._totalBlocks, gRoot._atTGmaxBytes, gRoot._atTEndBytes]',
    context,
  ) as [number, number, number, number]
  return { totalBytes, totalBlocks, atPeak, atEnd, text: body.textContent }
}

const expected = ({ allocated, peakBytes, leaked }: Profile['statistics']) => ({
  totalBytes: Number(allocated.bytes),
  totalBlocks: allocated.blocks,
  atPeak: Number(peakBytes.bytes),
  atEnd: Number(leaked.bytes),
})

describe.skipIf(VIEWER === undefined)("DHAT's own viewer (needs valgrind)", () => {
  test('has the sums of hf-stats --json', { tags: ['slow'] }, async () => {
    const statistics = JSON.parse((await shell(`hf-stats --json ${TRACE}`)).stdout.toString()) as Profile['statistics']
    const shown = view((await shell(`hf-profile --to dhat ${TRACE}`)).stdout)
    expect(shown).toMatchObject(expected(statistics))
    expect(shown.text).toContain('lex_node (ks_0.c:135)')
    expect(shown.text).not.toMatch(/NaN|undefined/)
  })

  test('shows how long blocks lived, in the time of the trace', () => {
    const events: TraceEvent[] = [
      { kind: 'alloc', address: 16n, size: 100n, function: 'f', file: 'f.c', line: 3, time: 5_000_000n },
      { kind: 'free', address: 16n, time: 7_000_000n },
      { kind: 'alloc', address: 16n, size: 50n, function: 'f', file: 'f.c', line: 3, time: 9_000_000n },
      { kind: 'comment', text: 'end', time: 10_000_000n },
    ]
    const profile = profileOf(events, {}, { format: 'replay', timeUnit: 'ns' })
    return written('dhat', profile).then((bytes) => {
      const { text } = view(bytes)
      expect(text).toContain('5,000 µs')
      // 2 ms and, until the end of the trace, 1 ms.
      expect(text).toContain('avg lifetime 1,500 µs')
      expect(text).toContain('0x1: f (f.c:3)')
    })
  })

  test('takes any names, stacks that look alike, and nothing', async () => {
    const profile = profileOf(
      [
        ...hostileEvents(),
        { kind: 'alloc', address: 9n, size: 1n, stack: ['f (f.c:3)'] },
        { kind: 'alloc', address: 10n, size: 1n, function: 'f', file: 'f.c', line: 3 },
      ],
      { threadRoot: false },
    )
    const shown = view(await written('dhat', profile))
    expect(shown).toMatchObject(expected(profile.statistics))
    expect(shown.text).toContain('</script><img src=x onerror=alert(1)>')
    expect(view(await written('dhat', profileOf([])))).toMatchObject({ totalBytes: 0, atPeak: 0 })
  })
})

test('own peaks of one stack are not added up', async () => {
  // A place and a stack of one frame are two sites.
  const profile = profileOf(
    [
      { kind: 'alloc', address: 16n, size: 100n, stack: ['f (f.c:3)'] },
      { kind: 'free', address: 16n },
      { kind: 'alloc', address: 16n, size: 60n, function: 'f', file: 'f.c', line: 3 },
      { kind: 'free', address: 16n },
    ],
    { threadRoot: false },
  )
  const { pps } = JSON.parse(Buffer.from(await written('dhat', profile)).toString()) as { pps: object[] }
  expect(pps).toMatchObject([{ tb: 160, tbk: 2, mb: 100, mbk: 1 }])
})

test('lifetimes are in block events where some traces have no times', async () => {
  const block = { address: 16n, size: 100n, stack: ['f'] }
  const timed: TraceEvent[] = [
    { kind: 'alloc', ...block, time: 0n },
    { kind: 'free', address: 16n, time: 200_000n },
  ]
  const timeless: TraceEvent[] = [
    { kind: 'alloc', ...block },
    { kind: 'free', address: 16n },
  ]
  const dhatOf = async (...traces: readonly TraceEvent[][]) => {
    const collector = new ProfileCollector()
    for (const [i, events] of traces.entries())
      for (const batch of inBatches(events, 9, { format: 'ndjson', ...(i === 0 && { timeUnit: 'us' }) }))
        collector.add(batch)
    return JSON.parse(Buffer.from(await written('dhat', collector.finish())).toString()) as object
  }
  expect(await dhatOf(timed)).toMatchObject({ tu: 'µs', te: 200_000, pps: [{ tbk: 1, tl: 200_000 }] })
  expect(await dhatOf(timed, timeless)).toMatchObject({ tu: 'events', te: 4, pps: [{ tbk: 2, tl: 2 }] })
})

test('has the command of the program where the trace has it', async () => {
  const cmd = async (layout?: { command: string }) => {
    const profile = profileOf([], {}, { format: 'recorder', ...(layout && { layout }) })
    return (JSON.parse((await written('dhat', profile, { name: 'app.hfrec' })).toString()) as { cmd: string }).cmd
  }
  expect(await cmd({ command: './app "x"' })).toBe('./app "x"')
  expect(await cmd()).toBe('app.hfrec')
})

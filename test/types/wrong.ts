/** Programs that must not compile: a line without an error is an error here. Type-checked by `npm run check`. */
import { createReadStream, createWriteStream } from 'node:fs'
import {
  compact,
  compose,
  events,
  filter,
  gzip,
  hatf,
  heaptrack,
  map,
  mtrc,
  ndjson,
  openTrace,
  parseRange,
  split,
  stats,
  verify,
  type TraceEvent,
} from 'heapflow'

export async function wrong(): Promise<unknown> {
  // @ts-expect-error batches have no such field
  for await (const batch of openTrace('app.mtrc')) batch.nonsense.foo()
  // @ts-expect-error neither do events
  for await (const event of events('app.mtrc')) event.nonsense.foo()
  // @ts-expect-error a mistyped option
  filter({ sizes: parseRange('1K..') })
  // @ts-expect-error a mistyped option
  map({ numberThread: true })
  // @ts-expect-error a mistyped option
  mtrc.decode({ reslove: false })
  // @ts-expect-error a mistyped option
  hatf.encode({ stirct: true })
  // @ts-expect-error a mistyped option
  heaptrack.decode({ lastLin: true })
  // @ts-expect-error a mistyped option
  compact.encode({ checkpiont: 4096 })
  // @ts-expect-error there are no options
  ndjson.decode({ lastLine: true })
  // @ts-expect-error there is no such kind of event
  filter({ kind: 'allocate' })
  // @ts-expect-error an address is a bigint
  const event: TraceEvent = { kind: 'free', address: 16 }
  // @ts-expect-error statistics come when all events have
  const allocated = stats().result.allocated
  // @ts-expect-error a decoder takes bytes, not batches
  mtrc.decode().pipe(hatf.decode())
  // @ts-expect-error an encoder takes events, not what another encoder made of them
  hatf.encode().pipe(filter({ kind: 'alloc' }))
  // @ts-expect-error findings are objects
  verify().on('finding', (text: string) => text.length)
  // @ts-expect-error what comes out of a decoder are batches
  for await (const batch of createReadStream('app.mtrc').pipe(mtrc.decode())) batch.nonsense.foo()
  // @ts-expect-error a file takes bytes, so an encoder is missing
  mtrc.decode().pipe(createWriteStream('app.hatf'))
  // @ts-expect-error gzip takes bytes, not events
  filter({ kind: 'alloc' }).pipe(gzip())
  // @ts-expect-error neither does it in a composed stream
  compose(mtrc.decode(), gzip())
  // @ts-expect-error a comment has no size
  const comment: TraceEvent = { kind: 'comment', size: 16n }
  // @ts-expect-error there is no such field
  const block: TraceEvent = { kind: 'alloc', sise: 16n }
  // @ts-expect-error a warning is a text
  mtrc.decode().on('warning', (count: number) => count.toFixed())
  // @ts-expect-error losses are a map
  hatf.encode().on('losses', (counts: string[]) => counts.length)
  // @ts-expect-error batches are no bytes
  for await (const chunk of compose(mtrc.decode(), filter({}))) chunk satisfies Buffer
  // @ts-expect-error there is no such way to divide
  split({ by: 'day' }, () => [])
  return [event, allocated, comment, block]
}

/** Programs that must not compile: a line without an error is an error here. Type-checked by `npm run check`. */
import { events, filter, hatf, map, mtrc, openTrace, parseRange, stats, verify, type TraceEvent } from 'heapflow'

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
  return [event, allocated]
}

import type { TraceEvent } from '../../../lib/event/batch.js'

const LINE = /^(\d+):\s*(\w+) (?:0x)?([0-9a-f]+)((?: \w+)*)$/

/** The events of a memory_replay text, times left out: enough of its grammar to drive a test. */
export function* replayEvents(text: string, limit = Infinity): Generator<TraceEvent> {
  let count = 0
  for (const line of text.split('\n')) {
    const match = LINE.exec(line)
    if (match === null || count++ >= limit) continue
    const [, tid, name, pointer, rest] = match as unknown as [string, string, string, string, string]
    const thread = BigInt(tid)
    const address = BigInt(`0x${pointer}`)
    const args = rest.trim().split(' ')
    if (name === 'malloc') yield { kind: 'alloc', thread, address, size: BigInt(args[0] as string) }
    else if (name === 'calloc') yield { kind: 'alloc', thread, address, size: BigInt(args[0] as string) * BigInt(args[1] as string) }
    else if (name === 'memalign') yield { kind: 'alloc', thread, address, size: BigInt(args[1] as string) }
    else if (name === 'free') yield { kind: 'free', thread, address }
    else if (name === 'realloc') yield { kind: 'realloc', thread, address, oldAddress: BigInt(args[0] as string), size: BigInt(args[1] as string) }
    else yield { kind: 'thread-destroy', thread }
  }
}

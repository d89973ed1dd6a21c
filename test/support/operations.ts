import { KIND_BITS, LOW_BITS, MAGIC, NONE, Op, TAIL_BYTES } from '../../lib/transforms/drive/layout.js'

/** One operation, with what belongs to it. */
export interface Operation {
  readonly op: keyof typeof Op
  readonly slot: number
  readonly size: number
  /** Of a realloc: the slot and the size of the old block. */
  readonly old?: number
  readonly oldSize?: number
  /** Of a memalign: the logarithm of the alignment. */
  readonly power?: number
  /** How many operations of the thread are executed when this one is. */
  readonly position: number
}

/** A file of operations, read as plainly as can be. */
export interface Operations {
  readonly slots: number
  readonly epochs: number
  readonly calls: number
  readonly peakBytes: number
  readonly peakBlocks: number
  readonly threads: readonly (readonly Operation[])[]
}

const NAMES = Object.keys(Op) as (keyof typeof Op)[]

/** Reads a file of operations. @throws Error where it is damaged */
export function readOperations(bytes: Uint8Array): Operations {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const u64 = (at: number) => Number(view.getBigUint64(at, true))
  const u32 = (at: number) => view.getUint32(at, true)
  const magic = (at: number) => [...bytes.subarray(at, at + 8)].join() === MAGIC.join()
  const tail = bytes.length - TAIL_BYTES
  if (!magic(0) || !magic(bytes.length - 8) || u32(8) !== 1) throw new Error('no file of operations')
  let sum = 0x811c_9dc5
  for (let at = 0; at < tail + 68; at += 4) sum = Math.imul(sum ^ u32(at), 0x0100_0193) >>> 0
  if (sum !== u32(tail + 68)) throw new Error('wrong checksum')
  const [threadsAt, chunksAt] = [u64(tail), u64(tail + 8)]
  const threads = Array.from({ length: u32(tail + 56) }, (_, t) => {
    const at = threadsAt + 32 * t
    const operations: Operation[] = []
    const [first, chunks, ops, calls] = [u64(at), u64(at + 8), u64(at + 16), u64(at + 24)]
    let position = 0
    for (let c = first; c < first + chunks; c++) {
      const [offset, n] = [u64(chunksAt + 16 * c), u64(chunksAt + 16 * c + 8)]
      let more = 0
      let power = 0
      let opened: Operation | undefined
      for (let k = 0; k < n; k++) {
        const word = u32(offset + 8 * k)
        const slot = u32(offset + 8 * k + 4)
        const low = word >>> KIND_BITS
        const op = NAMES[word & 15] as keyof typeof Op
        position++
        if (op === 'more') {
          more = low
          power = slot
          continue
        }
        // The higher bits of a position are left out: no test has that many operations.
        const size = op === 'wait' || op === 'time' ? low : more * 2 ** LOW_BITS + low
        if (op === 'realloc') opened = { op, slot: NONE, size, old: slot, position }
        else if (op === 'to') operations.push({ ...(opened as Operation), slot, oldSize: size, position })
        else operations.push({ op, slot, size, position, ...(op === 'memalign' && { power }) })
        more = power = 0
      }
      if (u32(offset + 8 * n) !== 0) throw new Error('a chunk has no end')
    }
    if (position !== ops) throw new Error('another number of operations')
    if (operations.filter(isCall).length !== calls) throw new Error('another number of calls')
    return operations
  })
  const calls = threads.flat().filter(isCall).length
  if (calls !== u64(tail + 32)) throw new Error('another number of calls')
  return {
    threads,
    calls,
    epochs: u64(tail + 24),
    peakBytes: u64(tail + 40),
    peakBlocks: u64(tail + 48),
    slots: u32(tail + 60),
  }
}

/** Whether an operation calls the allocator. */
export function isCall({ op }: Operation): boolean {
  return op === 'malloc' || op === 'calloc' || op === 'memalign' || op === 'realloc' || op === 'free'
}

/**
 * Executes operations in an order that they admit, chosen at random.
 * @param call is given each call
 * @throws Error when no thread can go on
 */
export function schedule(
  { threads, epochs }: Operations,
  random: (n: number) => number,
  call: (thread: number, operation: Operation) => void,
): void {
  const next = threads.map(() => 0)
  const positions = threads.map(() => 0)
  const entered = threads.map(() => -1)
  const left = Array.from({ length: epochs }, () => 0)
  for (const list of threads) for (const { op, slot } of list) if (op === 'epoch' && slot !== NONE) left[slot]!++
  let frontier = 0
  const alive = [0]
  const isReady = (t: number) => {
    const operation = threads[t]![next[t]!]!
    if (operation.op === 'wait') return positions[operation.size]! >= operation.slot
    return true
  }
  // An epoch is left as soon as its operation is reached, and entered when it may be.
  const leave = (t: number) => {
    const operation = threads[t]![next[t]!]
    if (operation?.op !== 'epoch' || entered[t] === operation.slot || entered[t]! < 0) return
    left[entered[t]!]!--
    entered[t] = -1
    while (frontier < epochs && left[frontier] === 0) frontier++
  }
  for (;;) {
    for (const t of alive) leave(t)
    const ready = alive.filter((t) => {
      const operation = threads[t]![next[t]!]
      if (operation === undefined) return false
      if (operation.op === 'epoch') return operation.slot === NONE || operation.slot <= frontier
      return isReady(t)
    })
    if (ready.length === 0) break
    const t = ready[random(ready.length)]!
    // A thread runs for a while, as threads do.
    for (let steps = 1 + random(20); steps > 0; steps--) {
      const operation = threads[t]![next[t]!]
      if (operation === undefined) break
      if (operation.op === 'epoch') {
        leave(t)
        if (operation.slot !== NONE && operation.slot > frontier) break
        entered[t] = operation.slot === NONE ? -1 : operation.slot
      } else if (!isReady(t)) break
      if (operation.op === 'spawn') alive.push(operation.slot)
      if (isCall(operation)) call(t, operation)
      next[t]!++
      positions[t] = operation.position
    }
  }
  const stuck = threads.findIndex((list, t) => next[t] !== list.length)
  if (stuck >= 0) throw new Error(`thread ${stuck} cannot go on at ${JSON.stringify(threads[stuck]![next[stuck]!])}`)
}

/**
 * The process of each block, so that finding the blocks of a process that ends costs only as much as their number. A
 * trace of one process needs none of this: nothing is kept before `watch` is called.
 *
 * The numbers of blocks that a process began are in a list. A number stays there when its block is freed, until another
 * process begins a block with it, or its process ends: so a free costs nothing, and an allocation rarely.
 */
import { GROWING, GrowingTable } from '../shared/grow'
import { takeZeros } from './room'
import { finishIf, isIndexIn, keyIn, live, numberIn, numbers, slotCount } from './set'

/** The layout of 20 bytes for each number: the key, the process from 1 (0: in no list), and its neighbours there. */
const KEY: usize = 0
const OWNER: usize = 8
const NEXT: usize = 12
const BEFORE: usize = 16
const BYTES: usize = 20
/** A bit of the owner: the key is an index. */
const INDEX: u32 = 1 << 31
/** In place of the neighbour of a live block that has no owner yet. */
const IS_ADDRESS: u32 = 1
const IS_INDEX: u32 = 2

/** An address space has the number of its process in these bits: lib/blocks/address-spaces.ts. */
const PROCESS_SHIFT: u32 = 16
const LAST_PROCESS: u32 = 0x7fff
/** The first number in the list of each process, by its owner. */
const HEADS_LOG: u32 = 18

const table = changetype<GrowingTable>(memory.data(GROWING))
let heads: usize = 0
/** Whether blocks have owners. */
export let isWatched: bool = false

/** For each block that ended with its process, in order: the row of the end, and the number of the block. */
export const gone = changetype<GrowingTable>(memory.data(GROWING))
export let goneCount: u32 = 0
/** The number of them that `nextGone` has returned. */
let goneSeen: u32 = 0

/** The owner of the blocks of an address space. */
function ownerOf(space: u32): u32 {
  return ((space >> PROCESS_SHIFT) & LAST_PROCESS) + 1
}

function at(number: u32): usize {
  return table.at + <usize>number * BYTES
}

function headOf(owner: u32): usize {
  return heads + ((<usize>owner) << 2)
}

/** Forgets all blocks. */
export function clearOwners(): void {
  beginGone()
  if (!isWatched) return
  isWatched = false
  table.drop()
  memory.fill(heads, 0, (<usize>1) << HEADS_LOG)
}

/** Begins a batch, in which no process has ended yet. */
export function beginGone(): void {
  goneCount = 0
  goneSeen = 0
}

/** The next block that ended with the process that ends in a row, 0 after the last one. Rows are asked for in order. */
export function nextGone(row: u32): u32 {
  if (goneSeen == goneCount) return 0
  const one = gone.at + ((<usize>goneSeen) << 3)
  if (load<u32>(one) != row) return 0
  goneSeen++
  return load<u32>(one, 4)
}

/**
 * Gives blocks owners from now on. The blocks that are already live belong to events without a process.
 * @returns whether there is memory
 */
export function watch(): bool {
  if (isWatched) return true
  if (heads == 0) heads = takeZeros(HEADS_LOG)
  if (heads == 0 || !makeOwners(numbers)) return false
  isWatched = true
  const slots = slotCount()
  for (let slot: u32 = 0; slot < slots; slot++) {
    const number = numberIn(slot)
    if (number == 0) continue
    store<u64>(at(number), keyIn(slot), KEY)
    store<u32>(at(number), isIndexIn(slot) ? IS_INDEX : IS_ADDRESS, NEXT)
  }
  // Blocks are in the order of their numbers, because the order of the slots depends on a random number.
  for (let number: u32 = 1; number <= numbers; number++) {
    const sort = load<u32>(at(number), NEXT)
    if (sort != 0) own(number, load<u64>(at(number), KEY), sort == IS_INDEX, 0)
  }
  return true
}

/** Makes room for the blocks up to a number. */
// @ts-ignore: decorator
@inline
function makeOwners(most: u32): bool {
  return table.reserve((<u64>most + 1) * BYTES)
}

/** Begins a block of the process of an address space. @returns whether there is memory */
export function owns(number: u32, key: u64, isIndex: bool, space: u32): bool {
  if (!makeOwners(number)) return false
  own(number, key, isIndex, space)
  return true
}

function own(number: u32, key: u64, isIndex: bool, space: u32): void {
  const block = at(number)
  const owner = ownerOf(space)
  const before = load<u32>(block, OWNER) & ~INDEX
  store<u64>(block, key, KEY)
  store<u32>(block, isIndex ? owner | INDEX : owner, OWNER)
  if (before == owner) return
  if (before != 0) {
    const next = load<u32>(block, NEXT)
    const last = load<u32>(block, BEFORE)
    if (last != 0) store<u32>(at(last), next, NEXT)
    else store<u32>(headOf(before), next)
    if (next != 0) store<u32>(at(next), last, BEFORE)
  }
  const first = load<u32>(headOf(owner))
  store<u32>(block, first, NEXT)
  store<u32>(block, 0, BEFORE)
  if (first != 0) store<u32>(at(first), number, BEFORE)
  store<u32>(headOf(owner), number)
}

/** Ends the process of an address space, and with it its live blocks. @returns whether there is memory */
export function leaves(row: u32, space: u32): bool {
  const list = headOf(ownerOf(space))
  if (!gone.extend((<u64>goneCount + <u64>live + 1) << 3)) return false
  let number = load<u32>(list)
  store<u32>(list, 0)
  while (number != 0) {
    const block = at(number)
    const isIndex = (load<u32>(block, OWNER) & INDEX) != 0
    store<u32>(block, 0, OWNER)
    if (finishIf(load<u64>(block, KEY), isIndex, number)) {
      const place = gone.at + ((<usize>goneCount) << 3)
      goneCount++
      store<u32>(place, row)
      store<u32>(place, number, 4)
    }
    number = load<u32>(block, NEXT)
  }
  return true
}

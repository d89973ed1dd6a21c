/** Numbers from 0 for the threads of a trace, which are known by any 64 bits. */
import { giveRoom, takeRoom } from '../live/room'
import { hashOf } from './hash'

/** A slot: an identity, and its number + 1; 0 for an empty one. */
const NUMBER: usize = 8
const SLOT: u32 = 4
const FEWEST: u32 = 8
/** The maximum number of threads; further ones share the last number. */
const MOST: u32 = (1 << 20) - 1
/** The maximum length of a search. The table grows if one needs more, unless its load is too low. */
const LONG: u32 = 256
const THINNEST: u32 = 6

let table: usize = 0
let log: u32 = 0
let last: u32 = 0
let count: u32 = 0
let lastIdentity: u64 = 0
let lastNumber: i32 = -1

/** Forgets all threads. @returns false if memory is exhausted */
export function clearIdentities(): bool {
  if (table != 0) giveRoom(table, log + SLOT)
  table = 0
  count = 0
  lastNumber = -1
  return makeTable(FEWEST)
}

function makeTable(slots: u32): bool {
  const made = takeRoom(slots + SLOT)
  if (made == 0) return false
  memory.fill(made, 0, (<usize>1) << (slots + SLOT))
  table = made
  log = slots
  last = ((<u32>1) << slots) - 1
  return true
}

// @ts-ignore: decorator
@inline
function slot(i: u32): usize {
  return table + ((<usize>i) << SLOT)
}

/** The number of a thread. */
export function numberOf(identity: u64): i32 {
  if (identity == lastIdentity && lastNumber >= 0) return lastNumber
  lastIdentity = identity
  lastNumber = find(identity)
  return lastNumber
}

function find(identity: u64): i32 {
  let i = hashOf(identity) & last
  for (let steps: u32 = 0; steps < LONG; steps++) {
    const number = load<u32>(slot(i), NUMBER)
    if (number == 0) return add(i, identity)
    if (load<u64>(slot(i)) == identity) return <i32>number - 1
    i = (i + 1) & last
  }
  if (count < (last + 1) >> THINNEST || !grow()) return <i32>count
  return find(identity)
}

function add(i: u32, identity: u64): i32 {
  if (count >= MOST) return <i32>MOST
  if (count >= (last + 1) / 2) {
    if (!grow()) return <i32>count
    return find(identity)
  }
  store<u64>(slot(i), identity)
  store<u32>(slot(i), ++count, NUMBER)
  return <i32>count - 1
}

function grow(): bool {
  const from = table
  const fromLog = log
  if (!makeTable(log + 1)) return false
  const end = from + ((<usize>1) << (fromLog + SLOT))
  for (let at = from; at < end; at += 1 << SLOT) {
    if (load<u32>(at, NUMBER) == 0) continue
    let i = hashOf(load<u64>(at)) & last
    while (load<u32>(slot(i), NUMBER) != 0) i = (i + 1) & last
    store<u64>(slot(i), load<u64>(at))
    store<u64>(slot(i), load<u64>(at, NUMBER), NUMBER)
  }
  giveRoom(from, fromLog + SLOT)
  return true
}

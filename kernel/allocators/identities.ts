/** Numbers the threads of a trace from 0. A trace identifies a thread by an arbitrary value of 64 bits. */
import { HashTable, TABLE, VALUE } from '../shared/hash-table'

/** The maximum number of threads; further ones share the last number. */
const MOST: u32 = (1 << 20) - 1

/** The number of each thread, plus 1. */
const numbers = changetype<HashTable>(memory.data(TABLE))
let lastIdentity: u64 = 0
let lastNumber: i32 = -1

/** Forgets all threads. @returns false if memory is exhausted */
export function clearIdentities(): bool {
  lastNumber = -1
  return numbers.restart()
}

/** The number of a thread. Without memory, new threads share a number. */
export function numberOf(identity: u64): i32 {
  if (identity == lastIdentity && lastNumber >= 0) return lastNumber
  lastIdentity = identity
  lastNumber = find(identity)
  return lastNumber
}

function find(identity: u64): i32 {
  const known = load<u32>(numbers.slotOf(identity), VALUE)
  if (known != 0) return <i32>known - 1
  const count = numbers.used
  const slot = count == MOST ? <usize>0 : numbers.add(identity)
  if (slot != 0) store<u64>(slot, <u64>(count + 1), VALUE)
  return <i32>count
}

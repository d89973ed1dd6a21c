/**
 * Compact traces: events to bytes and back, by a model of what comes next. See lib/formats/compact. An instance belongs
 * to one decoder or one encoder: it keeps the model from block to block.
 */

import { BATCH_STRING_BYTES } from '../lib/event/limits'
import { DAMAGED, FINE, NO_MEMORY } from '../lib/kernel/layouts/compact'
import { seed as seedAllocators } from './allocators/hash'
import { byteCount, listedCount, clear, reserve } from './compact/batch-strings'
import { resetAddresses } from './compact/best/addresses'
import { resetMixer } from './compact/best/mixer'
import { resetMixedNumbers } from './compact/best/numbers'
import { resetBestSymbols } from './compact/best/symbols'
import { resetTargets } from './compact/best/targets'
import { resetBlocks } from './compact/blocks'
import { resetCaches } from './compact/caches'
import { crcBytes, initChecksum } from './compact/checksum'
import * as Coder from './compact/coder'
import { resetDescriptorCodes } from './compact/descriptor-codes'
import { forgetDescriptors, resetDescriptors } from './compact/descriptors'
import { codeCheckpoint } from './compact/checkpoint'
import { beginEvents, checksum, codeEvent } from './compact/event'
import { forgetEnded, resetEnds } from './compact/ends'
import { resetExtras } from './compact/extras'
import { resetHistory } from './compact/history'
import { BEST } from './compact/level'
import { beginBlock, newBytes, resetNameCodes } from './compact/name-codes'
import { beginBatch, beginOutput, isCrowded, resetNames } from './compact/names'
import { resetNumbers } from './compact/numbers'
import { stopSimulation } from './compact/simulation'
import { resetSymbols } from './compact/symbols'
import { resetThreads } from './compact/threads'
import { MASK } from './shared/columns'
import { GROWING, GrowingTable } from './shared/grow'

export { byteCount, BYTES, listCount, LISTED, listedCount, LISTS, STARTS, stringCount } from './compact/batch-strings'
export { endWriting, payloadStart } from './compact/coder'
export { hasEnds } from './compact/ends'
export { isSimulating, startSimulation } from './compact/simulation'
export * from './shared/columns'

/** The reason why `encode` or `decode` stopped early: a fault of kernel/compact/event.ts, or 0 if there is none. */
export let fault: u32 = 0
/** The union of the fields of the decoded events. */
export let fields: u32 = 0

/** A block is complete when it has this many bytes of new names, or of payload. */
const BLOCK_NAMES: u32 = 1_048_576
const BLOCK_PAYLOAD: u32 = 1_048_576
/** A decoded batch gets no more events when the lists of its events have this number of items. */
const BATCH_LISTED: u32 = 1_048_576

/** @param value a random number, so that no trace can contain keys or names chosen to collide */
export function seed(value: u32): void {
  seedAllocators(value, ~value)
  initChecksum()
}

/** Forgets everything. */
export function reset(): void {
  Coder.resetCoder()
  resetNumbers()
  resetThreads()
  resetHistory()
  resetBlocks()
  resetEnds()
  resetCaches()
  resetDescriptors()
  resetDescriptorCodes()
  resetNames()
  resetNameCodes()
  resetSymbols()
  resetExtras()
  stopSimulation()
  if (BEST) resetBest()
}

function resetBest(): void {
  resetMixer()
  resetMixedNumbers()
  resetBestSymbols()
  resetTargets()
  resetAddresses()
}

/** Forgets all names, and the descriptors that have them. */
function forgetNames(): void {
  resetNames()
  resetNameCodes()
  forgetDescriptors()
}

/**
 * Makes room for the strings of a batch that is encoded: bytes, strings, ids in lists, and lists. The caller writes
 * them to the tables `BYTES`, `STARTS`, `LISTED` and `LISTS`.
 * @returns false if memory is exhausted
 */
export function reserveStrings(bytes: u32, strings: u32, listed: u32, lists: u32): bool {
  // Hashes read words.
  return reserve(bytes + 16, strings, listed, lists) && beginBatch(strings, lists)
}

export function beginEncoding(): void {
  Coder.beginWriting()
  beginBlock()
  beginEvents(true)
}

/**
 * Encodes the events of the columns from one row to another.
 * @returns the row before which it stopped: the last one, or an earlier one if the block is complete, or on a `fault`
 */
export function encode(from: u32, to: u32): u32 {
  fault = FINE
  while (from < to) {
    if (isFull()) return from
    if (isCrowded()) forgetNames()
    fault = codeEvent(from)
    if (Coder.isOutOfRoom) fault = NO_MEMORY
    if (fault != FINE) return from
    from++
  }
  return from
}

/** Whether the block is complete, however few events it has. */
function isFull(): bool {
  return newBytes >= BLOCK_NAMES || Coder.payloadLength() >= BLOCK_PAYLOAD
}

/** The checksum of the block's events so far. */
export function eventsChecksum(): u32 {
  return ~checksum
}

const payload = changetype<GrowingTable>(memory.data(GROWING))

/** Makes room for a payload. @returns its address, or 0 if memory is exhausted */
export function reservePayload(length: u32): usize {
  return payload.extend(max<u32>(2, length)) ? payload.at : 0
}

export function bytesChecksum(from: usize, length: u32): u32 {
  return ~crcBytes(u32.MAX_VALUE, from, length)
}

/**
 * Begins to decode a block, whose payload is at this distance from the result of `reservePayload`.
 * @param ends whether blocks end with their process
 */
export function beginDecoding(from: u32, length: u32, ends: bool): void {
  Coder.beginReading(payload.at + from, length)
  beginBlock()
  beginEvents(ends)
}

/**
 * Decodes up to this many events, at most the number of rows, and their strings.
 * @returns their number; fewer if there are many strings, or on a `fault`
 */
export function decode(count: u32): u32 {
  fault = clear() ? FINE : NO_MEMORY
  if (fault != FINE) return 0
  beginOutput()
  fields = 0
  let row: u32 = 0
  while (row < count && byteCount < BATCH_STRING_BYTES && listedCount < BATCH_LISTED) {
    // The encoder ends a block before such an event.
    fault = newBytes >= BLOCK_NAMES ? DAMAGED : FINE
    if (fault != FINE) return row
    if (isCrowded()) forgetNames()
    fault = codeEvent(row)
    if (fault != FINE) return row
    fields |= load<u32>(MASK + ((<usize>row) << 2))
    row++
  }
  return row
}

/**
 * Writes the payload of a checkpoint: the state that is kept. The caller must then make the model forget the rest.
 * @returns its length; 0 if it cannot be written
 */
export function save(): u32 {
  forgetEnded()
  Coder.resetCoder()
  resetNumbers()
  Coder.beginWriting()
  const isFine = codeCheckpoint(0) && !Coder.isOutOfRoom
  const length = Coder.endWriting()
  return isFine ? length : 0
}

/**
 * Adds the state of a checkpoint to a model that is empty otherwise. The payload is at this distance from the result of
 * `reservePayload`.
 * @returns false if it is damaged, or memory is exhausted
 */
export function restore(from: u32, length: u32): bool {
  Coder.beginReading(payload.at + from, length)
  const isFine = codeCheckpoint(length)
  Coder.resetCoder()
  resetNumbers()
  return isFine
}

/** Whether the payload ended together with its events. */
export function isWhole(): bool {
  return Coder.overrun <= 4
}

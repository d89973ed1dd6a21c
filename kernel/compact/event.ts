/** The coding of one event, in the same order by the same code for writing and reading. */

import { DAMAGED, FINE, NO_MEMORY } from '../../lib/kernel/layouts/compact'
import { ADDRESS, KIND, MASK, OLD_ADDRESS, OUTCOME, PROCESS, SIZE, THREAD } from '../shared/columns'
import * as Event from '../shared/event'
import { addBlock, findBlock, removeBlock } from './blocks'
import { blockAt, mixOf } from './block'
import { codeByCaches, codeDifference, codeSame, noteFree } from './caches'
import { crcWord } from './checksum'
import { isEncoding, isOver, mixed } from './coder'
import { codeDescriptor } from './descriptor-codes'
import * as Descriptors from './descriptors'
import { beginEnds, endProcess } from './ends'
import { codeExtras, EXTRA, extraName } from './extras'
import { F_SIZE, LIST, NAME, setValue, sortOf, valueOf } from '../shared/fields'
import { nextEvent, noteBirth, remember, sequence } from './history'
import { isExhausted, isStale, outList, outName, wordOfList, wordOfName } from './names'
import { isWrong as isNameWrong } from './name-codes'
import { isSimulated, isSimulating, notePlain, release, settle, simulate } from './simulation'
import { BEST } from './level'
import { codeSurprise } from './best/addresses'
import { learnDescriptor } from './best/symbols'
import { noteFreed } from './best/targets'
import { codeSymbol, free, isWrong as isSymbolWrong, SURPRISE, target } from './symbols'
import { NEW_DESCRIPTOR } from './candidates'
import { codeThread, current, threadAt } from './threads'
import { Thread } from './thread'

/** The checksum of the block's events so far, before its bits are inverted. */
export let checksum: u32 = 0

/** Whether blocks end with their process. */
let endsProcesses = false

/** Begins a block of events. @param ends whether blocks end with their process */
export function beginEvents(ends: bool): void {
  checksum = u32.MAX_VALUE
  endsProcesses = ends
  beginEnds()
}

/** The event's thread and addresses. */
let threadId: u64 = 0
let process: u64 = 0
let address: u64 = 0
let oldAddress: u64 = 0
/** The address that the simulation expects. */
let expected: u64 = 0
/** The live block that the event concerns, for the encoder. */
let subject: u32 = 0

function keyOf(x: u64): u64 {
  return x ^ mixOf(process)
}

/** Reads an event to encode, and creates the draft of its descriptor. @returns the fields that identify the thread */
function readRow(row: u32): u32 {
  const mask = load<u32>(MASK + ((<usize>row) << 2))
  const wide = (<usize>row) << 3
  threadId = (mask & Event.HAS_THREAD) != 0 ? load<u64>(THREAD + wide) : 0
  process = (mask & Event.HAS_PROCESS) != 0 ? load<u64>(PROCESS + wide) : 0
  address = (mask & Event.HAS_ADDRESS) != 0 ? load<u64>(ADDRESS + wide) : 0
  oldAddress = (mask & Event.HAS_OLD_ADDRESS) != 0 ? load<u64>(OLD_ADDRESS + wide) : 0
  subject = 0
  const kind = load<u8>(KIND + row)
  let flags: u32 = (mask & Event.HAS_ADDRESS) != 0 && address == 0 ? Descriptors.NULL_ADDRESS : 0
  if ((mask & Event.HAS_OLD_ADDRESS) != 0 && oldAddress == 0) flags |= Descriptors.NULL_OLD
  let form = Descriptors.PLAIN
  if (kind == Event.KIND_ALLOC || kind == Event.KIND_EXISTING)
    form = address != 0 ? Descriptors.MAKES : Descriptors.PLAIN
  else if (kind == Event.KIND_FREE) {
    if (address != 0) subject = findBlock(keyOf(address))
    if (subject != 0) {
      form = Descriptors.ENDS
      if ((mask & Event.HAS_SIZE) != 0 && load<u64>(SIZE + wide) == blockAt(subject).size)
        flags |= Descriptors.SAME_SIZE
    }
  } else if (kind == Event.KIND_REALLOC) {
    if (oldAddress != 0) subject = findBlock(keyOf(oldAddress))
    if (subject == 0) form = address != 0 ? Descriptors.MAKES : Descriptors.PLAIN
    else if (address != 0) form = Descriptors.MOVES
    else {
      const isFreed = (mask & Event.HAS_OUTCOME) != 0 && load<u8>(OUTCOME + row) == Event.OUTCOME_FREED
      form =
        isFreed || (mask & Event.HAS_SIZE) == 0 || load<u64>(SIZE + wide) == 0 ? Descriptors.DROPS : Descriptors.KEEPS
    }
  }
  Descriptors.draftEvent(row, kind, form, flags, mask)
  return mask & Descriptors.THREAD_FIELDS
}

/** Codes an event. @returns a fault, or `FINE` */
export function codeEvent(row: u32): u32 {
  const fields = isEncoding ? readRow(row) : 0
  if (!codeThread(fields, threadId, process)) return NO_MEMORY
  const t = threadAt(current)
  process = t.process
  nextEvent()
  const n = isEncoding ? Descriptors.findDraft() : 0
  const end: u32 = subject != 0 ? blockAt(subject).class * 2 + 1 : 0
  const isEnd = Descriptors.draft().form == Descriptors.ENDS
  // The simulated address is known before the event is coded, so at the fast level only a deviation is coded.
  expected = 0
  let isSurprise = false
  if (!BEST && isEncoding && isSimulated(Descriptors.draft())) {
    expected = simulate(Descriptors.draft(), current, subject != 0 ? blockAt(subject).handle : 0)
    isSurprise = expected != address
    if (isSurprise) codeSymbol(t, SURPRISE, 0, 0, 0, false)
  }
  let symbol = codeSymbol(t, n == 0 ? NEW_DESCRIPTOR : isEnd ? end : n * 2, subject, n, 0, false)
  if (isSymbolWrong) return DAMAGED
  if (!BEST && symbol == SURPRISE) {
    isSurprise = true
    symbol = codeSymbol(t, 0, 0, 0, 0, false)
    if (isSymbolWrong) return DAMAGED
  }
  if (symbol == NEW_DESCRIPTOR) {
    const added = codeDescriptor()
    if (added == 0 || isNameWrong || isExhausted) return isExhausted ? NO_MEMORY : DAMAGED
    symbol = added * 2
    if (Descriptors.descriptorAt(added).form == Descriptors.ENDS) {
      symbol = codeSymbol(t, end, subject, added, added, false)
      if (isSymbolWrong || (symbol & 1) == 0) return DAMAGED
    } else if (BEST) learnDescriptor(t, symbol)
  }
  if (symbol == SURPRISE || ((symbol & 1) == 0 && Descriptors.descriptorAt(symbol >> 1).form == Descriptors.ENDS))
    return DAMAGED
  return (symbol & 1) != 0 ? codeEnd(row, t, symbol) : codeOther(row, t, symbol, isSurprise)
}

/** Codes an event that ends the block `target`, by the descriptor `free`. */
function codeEnd(row: u32, t: Thread, symbol: u32): u32 {
  const d = Descriptors.descriptorAt(free)
  const block = blockAt(target)
  const age = sequence - block.made
  address = keyOf(block.key)
  const size = block.size
  if (!isEncoding) {
    writeRow(row, t, d)
    if (isStale) return DAMAGED
  }
  if ((d.flags & Descriptors.SAME_SIZE) != 0) setValue(F_SIZE, row, size)
  if ((d.mask & Event.HAS_OLD_ADDRESS) != 0) codeOld(t, d)
  if ((d.mask & EXTRA) != 0) codeExtras(row, d.mask, t, free, true, block.index)
  endBlock(size, address, block.handle)
  end(t, target)
  remember(t, symbol, free, age)
  return finish(row, t, d)
}

function end(t: Thread, n: u32): void {
  if (BEST) noteFreed(t, n)
  else t.freed = blockAt(n).birth
  removeBlock(n)
}

function codeOld(t: Thread, d: Descriptors.Descriptor): void {
  oldAddress = (d.flags & Descriptors.NULL_OLD) != 0 ? 0 : codeDifference(oldAddress, t.address, 0)
}

/** Codes an event that begins a block, concerns no block, or is a realloc. */
function codeOther(row: u32, t: Thread, symbol: u32, isSurprise: bool): u32 {
  const n = symbol >> 1
  const d = Descriptors.descriptorAt(n)
  if (!isEncoding) {
    writeRow(row, t, d)
    if (isStale) return DAMAGED
  }
  const size = Descriptors.described(d, F_SIZE)
  newHandle = 0
  let age: u32 = 0
  let hasBlock = false
  let ofBlock: u64 = 0
  if (d.form >= Descriptors.MOVES) {
    if (!BEST) {
      remember(t, symbol, 0, 0)
      nextEvent()
    }
    const second = codeSymbol(t, subject != 0 ? blockAt(subject).class * 2 + 1 : 0, subject, 0, 0, true)
    if (isSymbolWrong || (second & 1) == 0) return DAMAGED
    const block = blockAt(target)
    age = sequence - block.made
    oldAddress = keyOf(block.key)
    hasBlock = true
    ofBlock = block.index
    const oldSize = block.size
    const handle = block.handle
    if (d.form != Descriptors.KEEPS) end(t, target)
    if (!BEST) remember(t, second, 0, age)
    if (d.form == Descriptors.MOVES) {
      if (!BEST) nextEvent()
      if (isSimulated(d)) codeSimulated(t, d, n, handle, isSurprise)
      else if (codeSame(oldSize, size, address == oldAddress)) address = oldAddress
      else {
        address = codeByCaches(current, size, address)
        endBlock(oldSize, oldAddress, handle)
      }
    } else if (d.form == Descriptors.DROPS) endBlock(oldSize, oldAddress, handle)
    if (d.form != Descriptors.MOVES) address = 0
  } else {
    if ((d.mask & Event.HAS_OLD_ADDRESS) != 0) codeOld(t, d)
    if (d.form == Descriptors.MAKES) {
      if (isSimulated(d)) codeSimulated(t, d, n, 0, isSurprise)
      else address = codeByCaches(current, size, address)
    } else if ((d.mask & Event.HAS_ADDRESS) != 0 && (d.flags & Descriptors.NULL_ADDRESS) == 0)
      address = codeDifference(address, t.address, 1)
    else address = 0
  }
  if (address != 0) t.address = address
  const index = (d.mask & EXTRA) != 0 ? codeExtras(row, d.mask, t, n, hasBlock, ofBlock) : 0
  if (d.form == Descriptors.MAKES || d.form == Descriptors.MOVES) {
    const made = addBlock(keyOf(address), size, n, BEST ? mixed(mixed(n, t.s1), t.s2) : 0)
    if (made == 0) return NO_MEMORY
    blockAt(made).index = index
    blockAt(made).handle = newHandle
    noteBirth(made)
  }
  if (d.form == Descriptors.PLAIN) {
    notePlain(d, current)
    if (endsProcesses && d.kind == Event.KIND_PROCESS_END) endProcess(process)
  }
  if (BEST) remember(t, symbol, 0, age)
  else if (d.form <= Descriptors.MOVES) remember(t, symbol, 0, 0)
  return finish(row, t, d)
}

/** The handle of the new block. */
let newHandle: u32 = 0

/** Codes the address of a new block that the simulation may know. */
function codeSimulated(t: Thread, d: Descriptors.Descriptor, n: u32, old: u32, isSurprise: bool): void {
  if (BEST || !isEncoding) expected = simulate(d, current, old)
  if (BEST) isSurprise = codeSurprise(address != expected ? 1 : 0, t, n, Descriptors.described(d, F_SIZE)) != 0
  address = isSurprise ? codeDifference(address, t.address, 2) : expected
  newHandle = settle(expected, address)
}

/** Frees a block. */
function endBlock(size: u64, at: u64, handle: u32): void {
  if (isSimulating) release(current, handle)
  else noteFree(current, size, at)
}

/** Writes a decoded event, from its descriptor and its thread. */
function writeRow(row: u32, t: Thread, d: Descriptors.Descriptor): void {
  store<u32>(MASK + ((<usize>row) << 2), d.mask | t.fields)
  store<u8>(KIND + row, d.kind)
  store<u64>(THREAD + ((<usize>row) << 3), t.id)
  store<u64>(PROCESS + ((<usize>row) << 3), t.process)
  let i: u32 = 0
  for (let left = Descriptors.fieldsOf(d); left != 0; left &= left - 1) {
    const field = <u32>ctz(left)
    const value = Descriptors.valueAt(d, i++)
    const sort = sortOf(field)
    setValue(field, row, sort == NAME ? outName(<u32>value) : sort == LIST ? outList(<u32>value) : value)
  }
}

/** Completes an event: its addresses if it is decoded, and the checksum. */
function finish(row: u32, t: Thread, d: Descriptors.Descriptor): u32 {
  if (!isEncoding) {
    store<u64>(ADDRESS + ((<usize>row) << 3), address)
    store<u64>(OLD_ADDRESS + ((<usize>row) << 3), oldAddress)
  }
  const mask = d.mask | t.fields
  const inDescriptor = Descriptors.fieldsOf(d)
  let crc = crcWord(checksum, ((<u64>d.kind) << 32) | mask)
  let i: u32 = 0
  for (let left = mask; left != 0; left &= left - 1) {
    const field = <u32>ctz(left)
    const sort = sortOf(field)
    let word: u64
    if (((inDescriptor >> field) & 1) != 0) {
      word = Descriptors.valueAt(d, i++)
      if (sort == NAME) word = wordOfName(<u32>word)
      else if (sort == LIST) word = wordOfList(<u32>word)
    } else word = sort == NAME ? wordOfName(extraName(field)) : valueOf(field, row)
    crc = crcWord(crc, word)
  }
  if (isExhausted) return NO_MEMORY
  if (isNameWrong || isOver()) return DAMAGED
  checksum = crc
  return FINE
}

/** The live blocks and the threads of a checkpoint. */

import { MALLOC, PTMALLOC } from '../../lib/kernel/layouts/allocators'
import { HAS_ADDRESS, HAS_PROCESS, HAS_SIZE, HAS_THREAD, KIND_EXISTING } from '../shared/event'
import { HashTable, TABLE, VALUE } from '../shared/hash-table'
import { addBlock, newestBlock } from './blocks'
import { Block, blockAt, mixOf } from './block'
import { simCall, simHandle, simKind, simSettle } from '../allocators/simulator'
import { isEncoding, isOver } from './coder'
import { addDraft, draft, MAKES, setValueAt } from './descriptors'
import { addWord, clearWords, countThing, keptNear, keptNumber, wordAt, Words } from './kept-numbers'
import { isSimulating } from './simulation'
import { current, restoreThread, setCurrent, threadAt, threadCount } from './threads'

/** The kinds of numbers, which choose contexts. */
const THREADS: u32 = 1
const THREAD: u32 = 2
const PROCESS: u32 = 3
const HAS: u32 = 4
const COUNT: u32 = 5
const PROCESS_OF: u32 = 6
const CLASS: u32 = 7
const SIZE: u32 = 8
const INDEX: u32 = 9
const ADDRESS: u32 = 10

/** Up to this number of sizes, each size has its own class; all other sizes share one class. */
const MOST_CLASSES: u32 = 4096
/** The maximum number of processes in which a block is searched. */
const MOST_PROCESSES: u32 = 64

const WORDS: usize = memory.data(36)
/** The descriptor of each class; the first thread of each process; the blocks without a chunk. */
const classes = changetype<Words>(WORDS)
const processes = changetype<Words>(WORDS + 12)
const others = changetype<Words>(WORDS + 24)
/** The size of each class, and, for the encoder, the class of each size plus 1. */
const SIZES: usize = memory.data(32_768)
const classBySize = changetype<HashTable>(memory.data(TABLE))

let lastProcess: u32 = 0
let lastClass: u32 = 0
let lastIndex: u64 = 0

/** Begins a checkpoint. */
export function beginKeptBlocks(): void {
  endKeptBlocks()
  lastProcess = lastClass = 0
  lastIndex = 0
}

/** Frees the memory. */
export function endKeptBlocks(): void {
  classBySize.clear()
  clearWords(classes)
  clearWords(processes)
  clearWords(others)
}

/** Codes the threads. @returns false if the payload is damaged, or memory is exhausted */
export function codeThreads(): bool {
  const count = <u32>keptNumber(threadCount, THREADS, 0)
  if (count > 65_536) return false
  const now = <u32>keptNumber(current, THREADS, 1)
  let id: u64 = 0
  let process: u64 = 0
  for (let n: u32 = 0; n < count; n++) {
    let has: u32 = 0
    if (isEncoding) {
      const t = threadAt(n)
      has = ((t.fields & HAS_THREAD) != 0 ? 1 : 0) | ((t.fields & HAS_PROCESS) != 0 ? 2 : 0)
    }
    has = <u32>keptNumber(has, HAS, 0)
    if ((has & 1) != 0) id = keptNear(isEncoding ? threadAt(n).id : 0, id, THREAD, 0)
    const before = process
    process = (has & 2) != 0 ? keptNear(isEncoding ? threadAt(n).process : 0, process, PROCESS, 0) : 0
    if (!isEncoding) {
      const fields = ((has & 1) != 0 ? HAS_THREAD : 0) | ((has & 2) != 0 ? HAS_PROCESS : 0)
      if (has > 3 || isOver() || !restoreThread(fields, (has & 1) != 0 ? id : 0, process)) return false
    }
    if ((n == 0 || process != before) && !addProcess(n)) return false
  }
  if (now >= max<u32>(1, count)) return false
  setCurrent(now)
  return true
}

/** Adds a process, whose threads begin here. */
function addProcess(thread: u32): bool {
  if (processes.count == MOST_PROCESSES) return true
  const process = threadAt(thread).process
  for (let i: u32 = 0; i < processes.count; i++) if (threadAt(wordAt(processes, i)).process == process) return true
  return addWord(processes, thread)
}

function mixAt(i: u32): u64 {
  return i < processes.count ? mixOf(threadAt(wordAt(processes, i)).process) : 0
}

/** Whether a block may be at an address. */
export function isBlockAt(n: u32, address: u64): bool {
  const key = blockAt(n).key
  for (let i: u32 = 0; i < processes.count; i++) if ((key ^ mixAt(i)) == address) return true
  return false
}

/** The likely process of a block: the one in which its key decodes to a plausible address. */
function likelyProcess(n: u32): u32 {
  const key = blockAt(n).key
  for (let i: u32 = 0; i < processes.count; i++) {
    const top = (key ^ mixAt(i)) >> 47
    if (top == 0 || top == 0x1_ffff) return i
  }
  return 0
}

/**
 * Codes a block at an address, which both sides know.
 * @param n its number, for the encoder
 * @param context a context for its size
 * @param handle of its chunk, for the decoder
 * @returns false if the payload is damaged, or memory is exhausted
 */
export function codeBlock(n: u32, address: u64, context: u32, handle: u32): bool {
  let process: u32 = 0
  if (isEncoding) {
    const key = blockAt(n).key
    while (process < processes.count && (key ^ mixAt(process)) != address) process++
  }
  process = <u32>keptNumber(process, PROCESS_OF, lastProcess)
  lastProcess = process
  return codeRest(n, address ^ mixAt(process), context, handle)
}

function codeRest(n: u32, key: u64, context: u32, handle: u32): bool {
  const block = isEncoding ? blockAt(n) : changetype<Block>(0)
  let size: u64 = isEncoding ? block.size : 0
  const c = <u32>keptNumber(isEncoding ? classOf(size) : 0, CLASS, context == 0 ? lastClass + 0x1000_0000 : context)
  // All further sizes have the class after the last one, which there is if no more classes can be made.
  if (c > (classes.count == MOST_CLASSES ? MOST_CLASSES + 1 : classes.count)) return false
  lastClass = c
  if (c == 0 || c == MOST_CLASSES + 1) size = keptNumber(size, SIZE, c)
  if (c == 0 && !addClass(size)) return false
  const index = keptNear(isEncoding ? block.index : 0, lastIndex, INDEX, 0)
  lastIndex = index
  if (isEncoding) return true
  if (!countThing()) return false
  if (c != 0 && c <= classes.count && c <= MOST_CLASSES) size = load<u64>(SIZES + ((<usize>(c - 1)) << 3))
  const descriptor = wordAt(classes, c == 0 ? classes.count - 1 : min<u32>(c, classes.count) - 1)
  const made = addBlock(key, size, descriptor, 0)
  if (made == 0) return false
  blockAt(made).index = index
  blockAt(made).handle = handle
  return true
}

/** The number of a size's class, from 1; 0 if it needs a new class. */
function classOf(size: u64): u32 {
  const c: u32 = classBySize.log == 0 ? 0 : load<u32>(classBySize.slotOf(size), VALUE)
  if (c == 0) return classes.count < MOST_CLASSES ? 0 : MOST_CLASSES + 1
  return c
}

/** A class of blocks of one size. The last class also has all further sizes. */
function addClass(size: u64): bool {
  const c = classes.count
  if (c == MOST_CLASSES) return false
  store<u64>(SIZES + ((<usize>c) << 3), size)
  if (!classBySize.reserve(1)) return false
  store<u64>(classBySize.add(size), <u64>c + 1, VALUE)
  if (isEncoding) return addWord(classes, 0)
  const d = draft()
  d.kind = KIND_EXISTING
  d.form = MAKES
  d.flags = 0
  d.mask = HAS_ADDRESS | HAS_SIZE
  d.count = 1
  setValueAt(d, 0, size)
  return addWord(classes, addDraft())
}

/** Adds a block to those that are coded with their addresses. @returns false if memory is exhausted */
export function leaveBlock(n: u32): bool {
  return addWord(others, n)
}

/** Codes the remaining blocks, in the order of their addresses. */
export function codeOtherBlocks(): bool {
  if (isEncoding) sortOthers()
  const count = keptNumber(others.count, COUNT, 0)
  let last: u64 = 0
  for (let i: u64 = 0; i < count; i++) {
    const n: u32 = isEncoding ? wordAt(others, <u32>i) : 0
    const process = <u32>keptNumber(isEncoding ? likelyProcess(n) : 0, PROCESS_OF, lastProcess)
    lastProcess = process
    const mix = mixAt(process)
    last = keptNear(isEncoding ? blockAt(n).key ^ mix : 0, last, ADDRESS, lastClass)
    if (!codeRest(n, last ^ mix, 0, 0)) return false
    if (!isEncoding && isSimulating && simKind != PTMALLOC) makeAgain(last)
  }
  return true
}

/** A simulation that begins again gets the address of the last block. */
function makeAgain(address: u64): void {
  const block = blockAt(newestBlock())
  if (simCall(MALLOC, 0, 0, 0, block.size) != address) simSettle(address)
  block.handle = simHandle
}

/** Whether one block comes before another one. */
function isBefore(a: u32, b: u32): bool {
  const p = likelyProcess(a)
  const q = likelyProcess(b)
  if (p != q) return p < q
  return (blockAt(a).key ^ mixAt(p)) < (blockAt(b).key ^ mixAt(q))
}

/** Heap sort. */
function sortOthers(): void {
  const count = others.count
  for (let i = count >> 1; i > 0; i--) sift(i - 1, count)
  for (let end = count; end > 1; end--) {
    swap(0, end - 1)
    sift(0, end - 1)
  }
}

function sift(from: u32, end: u32): void {
  let i = from
  while (true) {
    let largest: u32 = 2 * i + 1
    if (largest >= end) return
    if (largest + 1 < end && isBefore(wordAt(others, largest), wordAt(others, largest + 1))) largest++
    if (!isBefore(wordAt(others, i), wordAt(others, largest))) return
    swap(i, largest)
    i = largest
  }
}

function swap(i: u32, j: u32): void {
  const a = others.at + ((<usize>i) << 2)
  const b = others.at + ((<usize>j) << 2)
  const word = load<u32>(a)
  store<u32>(a, load<u32>(b))
  store<u32>(b, word)
}

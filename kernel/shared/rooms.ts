/**
 * Rooms: the pieces of memory that a kernel may access. Checked kernels assert that each access is in rooms. Memory
 * between two rooms belongs to none, and begins with guard words. Release kernels do not contain this module;
 * scripts/checked-kernels.mjs says what calls it.
 */
import { giveRoom as give, takeRoom as take } from '../live/room'

/** The bytes between two rooms, and how many of them are guard words. */
export const BETWEEN: usize = 64
const GUARD: usize = 16
const GUARD_WORD: u64 = 0x5afe_c0de_5afe_c0de
const PATTERN: u8 = 0xa5

/** For every eight bytes of memory, a bit: whether they are in a room. */
const IN_ROOM: usize = memory.data(1 << 26, 64)

/** The ends of the rooms that never move. */
const ENDS: usize = memory.data(4096 * 4)
let ends: u32 = 0

/** Opens memory: it is in a room from now on. */
export function open(at: usize, bytes: usize): void {
  mark(at, bytes, 0xff)
}

/** Closes memory: it is in no room from now on. */
export function close(at: usize, bytes: usize): void {
  mark(at, bytes, 0)
}

/** Opens a room that never moves, and whose memory is `BETWEEN` bytes longer. */
export function openStatic(at: usize, bytes: usize): void {
  open(at, bytes)
  guard(at + bytes)
  store<u32>(ENDS + ((<usize>ends) << 2), <u32>(at + bytes))
  ends++
}

/** The same as `takeRoom`, of twice as much memory. The room is filled with a pattern. */
export function takeRoom(log: u32): usize {
  const at = take(log + 1)
  if (at == 0) return 0
  const bytes = (<usize>1) << log
  memory.fill(at, PATTERN, bytes)
  open(at, bytes)
  guard(at + bytes)
  return at
}

/** The same as `takeZeros`. */
export function takeZeros(log: u32): usize {
  const at = takeRoom(log)
  if (at != 0) zeroNew(at, (<usize>1) << log)
  return at
}

/** The same as `zeroNew`, where new memory is not zeros. */
export function zeroNew(at: usize, bytes: usize): void {
  memory.fill(at, 0, bytes)
}

export function giveRoom(at: usize, log: u32): void {
  const bytes = (<usize>1) << log
  if (!isOpen(at)) abort('a room is given back that was not taken')
  if (!isGuarded(at + bytes)) abort('a room of another size is given back, or its end was overwritten')
  close(at, bytes)
  store<u64>(at + bytes, 0)
  give(at, log + 1)
}

/** Asserts that the rooms that never move end in guard words. Call this when another function has returned. */
export function checkRooms(): void {
  for (let n: u32 = 0; n < ends; n++)
    if (!isGuarded(load<u32>(ENDS + ((<usize>n) << 2)))) abort('what is behind a room was overwritten')
}

function guard(at: usize): void {
  store<u64>(at, GUARD_WORD ^ at)
  store<u64>(at, ~(GUARD_WORD ^ at), 8)
}

function isGuarded(at: usize): bool {
  return load<u64>(at) == (GUARD_WORD ^ at) && load<u64>(at, 8) == ~(GUARD_WORD ^ at)
}

/** Sets the bits of a piece of memory. @param bits all ones, or all zeros */
function mark(at: usize, bytes: usize, bits: u8): void {
  if (bytes == 0) return
  const last = (at + bytes - 1) >> 3
  let n = at >> 3
  while (n <= last) {
    const byte = IN_ROOM + (n >> 3)
    if ((n & 7) == 0 && n + 7 <= last) {
      const whole = (last + 1 - n) >> 3
      memory.fill(byte, bits, whole)
      n += whole << 3
    } else {
      const shift = <u8>(n & 7)
      const mask: u8 = 1 << shift
      store<u8>(byte, (load<u8>(byte) & ~mask) | (bits & mask))
      n++
    }
  }
}

// @ts-ignore: decorator
@inline
function isOpen(at: usize): bool {
  return ((load<u8>(IN_ROOM + (at >> 6)) >> (<u8>((at >> 3) & 7))) & 1) != 0
}

/** Asserts that an access is in a room. @returns its address */
export function inRoom(at: usize, offset: usize, bytes: usize, file: string, line: i32): usize {
  const from = <u64>at + offset
  if (from + bytes > 1 << 32 || !isOpen(<usize>from) || !isOpen(<usize>from + bytes - 1))
    abort('an access is not in a room', file, line)
  return at
}

/** Asserts that an object is in a room or does not exist. @returns its address */
export function objectInRoom(at: usize, bytes: usize, file: string, line: i32): usize {
  return at == 0 ? 0 : inRoom(at, 0, bytes, file, line)
}

/** Asserts that all of a piece of memory is in rooms. */
function allInRoom(at: usize, bytes: usize, file: string, line: i32): void {
  if (bytes == 0) return
  inRoom(at, 0, bytes, file, line)
  for (let n = at >> 3; n <= (at + bytes - 1) >> 3; n++) {
    if ((n & 7) == 0) while (n + 8 <= (at + bytes - 1) >> 3 && load<u8>(IN_ROOM + (n >> 3)) == 0xff) n += 8
    if (!isOpen(n << 3)) abort('an access is not in a room', file, line)
  }
}

export function copy(to: usize, from: usize, bytes: usize, file: string, line: i32): void {
  allInRoom(to, bytes, file, line)
  allInRoom(from, bytes, file, line)
  memory.copy(to, from, bytes)
}

export function fill(to: usize, byte: u8, bytes: usize, file: string, line: i32): void {
  allInRoom(to, bytes, file, line)
  memory.fill(to, byte, bytes)
}

export function compare(a: usize, b: usize, bytes: usize, file: string, line: i32): i32 {
  allInRoom(a, bytes, file, line)
  allInRoom(b, bytes, file, line)
  return memory.compare(a, b, bytes)
}

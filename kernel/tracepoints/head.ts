/** The start of a line: command, thread, process, CPU and time. */

import { NO_STYLE, SECONDS, TICKS } from '../../lib/kernel/layouts/tracepoints'
import { CPU, THREAD, TIME } from '../shared/columns'
import { HAS_CPU, HAS_THREAD, HAS_TIME } from '../shared/event'
import { findLast } from '../shared/lines'
import { decimal } from '../shared/numbers'
import * as Scan from './scan'

/**
 * The widths of what perf script writes without one of command and thread: commands in 16 columns, or threads in 5, of
 * newer versions 7. With both, there is more.
 */
const COMMAND_WIDTH: usize = 16
const THREAD_WIDTH: usize = 7

/** The form of times: as in earlier lines, or as in the first line with a time. */
export let style: u32 = NO_STYLE
/** The command that the thread ran; length 0 if unknown. */
export let command: usize = 0
export let commandLength: u32 = 0
/** The process's number as written; length 0 if unknown. */
export let processAt: usize = 0
export let processLength: u32 = 0

export function setStyle(known: u32): void {
  style = known
}

/**
 * Reads `123.456789` as nanoseconds, or `123` unchanged.
 * @returns the style of the time, `NO_STYLE` if it is not a time
 */
function readTime(p: usize, end: usize, to: usize): u32 {
  const after = decimal(p, Scan.NUMBER)
  if (after == 0) return NO_STYLE
  const whole = load<u64>(Scan.NUMBER)
  if (after == end) {
    store<u64>(to, whole)
    return TICKS
  }
  const digits = end - after - 1
  if (load<u8>(after) != Scan.DOT || digits > 9 || whole > 18_446_744_072) return NO_STYLE
  if (decimal(after + 1, Scan.NUMBER) != end) return NO_STYLE
  let fraction = load<u64>(Scan.NUMBER)
  for (let n = digits; n < 9; n++) fraction *= 10
  store<u64>(to, whole * 1_000_000_000 + fraction)
  return SECONDS
}

/** Whether flags begin, `d.h2.` or trace-cmd's `-0x1`, and no other number follows. */
function isFlag(p: usize): bool {
  const c = load<u8>(p)
  return c != Scan.SLASH && (c != Scan.DASH || load<u16>(p + 1) == 0x7830)
}

/** Notes the position of a process number. @returns whether it is one */
function setProcess(p: usize, end: usize): bool {
  if (decimal(p, Scan.NUMBER) != end || (load<u8>(p) == 0x30 && end > p + 1)) return false
  processAt = p
  processLength = <u32>(end - p)
  return true
}

/**
 * Whether a dash is the sign of -1, the number of a thread that is gone for perf script, after its command `:-1`. In
 * other places it is between a command, which may end with a space or a slash, and the number.
 */
function isMinus(p: usize, start: usize): bool {
  if (p <= Scan.skipSpaces(start) || load<u16>(p) != 0x312d || Scan.isDigit(load<u8>(p + 2))) return false
  const before = load<u8>(p - 1)
  return before == Scan.SPACE || before == Scan.SLASH
}

/** Reads a CPU's number. @returns whether it is one */
export function readCpu(p: usize, end: usize, i: u32): bool {
  if (decimal(p, Scan.NUMBER) != end || load<u64>(Scan.NUMBER) > 0x7fff_ffff) return false
  store<u32>(CPU + ((<usize>i) << 2), load<u32>(Scan.NUMBER))
  return true
}

/**
 * Reads what comes before the event's name: command, thread, CPU and time, each of which but the time may be missing.
 * @param end the colon after the time
 * @returns the set of fields, or 0 if the text is something else, or does not show whether a number is a thread
 */
export function readHead(start: usize, end: usize, i: u32): u32 {
  const wide = (<usize>i) << 3
  let set: u32 = 0
  processLength = 0
  commandLength = 0
  end = Scan.skipSpacesBack(end, start)
  // 123us+: the mark shows how long it took since the previous event.
  if (end - start > 3 && load<u16>(end - 3) == 0x7375 && load<u8>(end - 1) < 0x41) end--
  let p = Scan.wordBegin(end, start)
  // 123us: since the trace began.
  const isMicros = end - p > 2 && load<u16>(end - 2) == 0x7375
  const written = readTime(p, isMicros ? end - 2 : end, TIME + wide)
  if (written == NO_STYLE) return 0
  const timeStyle = isMicros ? SECONDS : written
  if (isMicros) {
    if (written != TICKS || load<u64>(TIME + wide) > 18_446_744_073_709_551) return 0
    store<u64>(TIME + wide, load<u64>(TIME + wide) * 1000)
  }
  if (style == NO_STYLE) style = timeStyle
  if (style == timeStyle) set |= HAS_TIME

  end = Scan.skipSpacesBack(p, start)
  p = Scan.wordBegin(end, start)
  if (p == end) return set
  if (load<u8>(end - 1) != Scan.CLOSING_BRACKET) {
    // Flags, with the CPU before them in the same word or in a separate word; or, without a CPU, the thread.
    const after = decimal(p, Scan.NUMBER)
    const before = Scan.skipSpacesBack(p, start)
    const bracket = findLast(p, end, Scan.CLOSING_BRACKET)
    if (bracket != 0) {
      end = bracket + 1
    } else if (before > start && load<u8>(before - 1) == Scan.CLOSING_BRACKET) {
      end = before
      p = Scan.wordBegin(end, start)
    } else if (before > start && after != 0 && after < end && isFlag(after)) {
      if (readCpu(p, after, i)) set |= HAS_CPU
      end = before
    }
  }
  if (end > start && load<u8>(end - 1) == Scan.CLOSING_BRACKET) {
    p = Scan.wordBegin(end, start)
    if (load<u8>(p) != Scan.BRACKET || !readCpu(p + 1, end - 1, i)) return 0
    set |= HAS_CPU
    end = Scan.skipSpacesBack(p, start)
  }
  if (end > start && load<u8>(end - 1) == Scan.CLOSE) {
    // The process, if it is known: (  123) or (-------).
    p = end - 1
    while (p > start && load<u8>(p) != Scan.OPEN) p--
    setProcess(Scan.skipSpaces(p + 1), end - 1)
    end = Scan.skipSpacesBack(p, start)
  }
  if (end == start) return set
  p = end
  while (p > start && Scan.isDigit(load<u8>(p - 1))) p--
  if (end - start == COMMAND_WIDTH && load<u8>(start) == Scan.SPACE) {
    // A command without a thread, unless its last word may be a thread.
    const isWord = p < end && load<u8>(p - 1) == Scan.SPACE
    if (isWord && Scan.skipSpaces(start) < p) return 0
    return setCommand(start, end) ? set : 0
  }
  if (p == end || decimal(p, THREAD + wide) != end) return 0
  set |= HAS_THREAD
  if (Scan.skipSpaces(start) == p) return p == start || end - start <= THREAD_WIDTH ? set : 0
  if (isMinus(p - 1, start)) {
    store<u64>(THREAD + wide, u64.MAX_VALUE)
    p--
  }
  const mark = load<u8>(p - 1)
  if (mark == Scan.SLASH) {
    end = p - 1
    p = end
    while (p > start && Scan.isDigit(load<u8>(p - 1))) p--
    if (isMinus(p - 1, start)) p--
    else if (!setProcess(p, end)) return 0
    end = p
  } else if (mark == Scan.DASH) {
    end = p - 1
    // trace-cmd writes the name of the file, or of the instance, before the columns of the command if several.
    if (end - start > COMMAND_WIDTH) start = end - COMMAND_WIDTH
  } else if (mark == Scan.SPACE) end = p
  else return 0
  setCommand(start, end)
  return set
}

/** Notes the position of the command's name. @returns whether there is one */
function setCommand(start: usize, end: usize): bool {
  const p = Scan.skipSpaces(start)
  end = Scan.skipSpacesBack(end, start)
  command = p
  commandLength = end > p ? <u32>(end - p) : 0
  // <...>: the kernel no longer knew it.
  if (commandLength == 5 && load<u32>(p) == 0x2e2e_2e3c) commandLength = 0
  return end > p
}

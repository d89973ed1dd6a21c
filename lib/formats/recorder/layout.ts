import { fieldSet } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import type { Carried } from '../../event/losses.js'
import { info } from './info.js'

/** The format's name in folders, commands, headers and messages. */
export const NAME = info.name

/** The versions of the format, which follow the magic number. The first one has no ends of processes and threads. */
export const OLD_VERSION = 1
export const VERSION = 2

/** Longer command lines, paths and build ids are refused, in bytes. */
export const MAX_STRING = 65_536
/** Most modules of one trace. */
export const MAX_MODULES = 65_536

/** The tags of records. `SAME_STACK` may be added to the tags of allocations. */
export const Tag = {
  process: 1,
  module: 2,
  frame: 3,
  node: 4,
  thread: 5,
  lost: 6,
  end: 7,
  malloc: 8,
  calloc: 9,
  aligned: 10,
  /** A realloc of the null pointer, or of a block that was already given as `released`. */
  newRealloc: 11,
  realloc: 12,
  free: 13,
  /** The old block of a realloc. */
  released: 14,
  /** A `released` block that the realloc, which failed, did not free after all. */
  kept: 15,
  /** Another process begins, whose events follow. */
  child: 16,
  /** The process of the events that follow. */
  switch: 17,
  /** A module that is no longer loaded. */
  unloaded: 18,
  /** The name of the current thread. */
  name: 19,
  /** A block that a forked process has from its parent, and ends now. */
  existing: 20,
  /** A free with a stack. */
  freeStack: 21,
  /** The resident size of the process. */
  resident: 22,
  /** The current process has ended, or an exec has replaced its program. */
  processEnd: 23,
  /** The current thread ends. */
  threadEnd: 24,
  /** The current process ran already when its recording began. */
  attached: 25,
} as const

/** This bit of the tag of an event with a stack says that it has the stack of the one before it. */
export const SAME_STACK = 0x80

/**
 * The number of numbers in each record, by tag; for an allocation, this includes the number of its stack. 0 for records
 * with strings.
 */
export const NUMBERS: readonly number[] = [0, 0, 0, 2, 2, 1, 1, 3, 5, 6, 6, 5, 6, 2, 2, 2, 0, 1, 1, 0, 3, 3, 2, 1, 1, 1]

/** The origin of a process, by its code in the record of the process: the words before the parent's number. */
export const ORIGINS: readonly string[] = ['forked by', 'in place of', 'started by']

/** The code of an event that says how much of a process is resident, as in heaptrack's files. */
export const RESIDENT = 0x52

/** How a program ended, in the end mark. */
export const EXITED = 0
/** A signal ended the program. */
export const SIGNALLED = 1
/** It was still running when the recording ended. */
export const RUNS_ON = 2

/** The names of Linux's signals on x86-64 and arm64, by number. */
export const SIGNALS: readonly string[] = (
  '? HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG ' +
  'XCPU XFSZ VTALRM PROF WINCH IO PWR SYS'
).split(' ')

export function headerOf(version: number, process?: number, command?: string): TraceHeader {
  return {
    format: NAME,
    timeUnit: 'ns',
    layout: {
      version,
      ...(process !== undefined && { process }),
      ...(command !== undefined && command !== '' && { command }),
    },
  }
}

const EVENT = ['api', 'process', 'thread', 'time', 'address'] as const

/** The fields that events have. */
export const CARRIED: Carried = {
  alloc: fieldSet(...EVENT, 'size', 'count', 'alignment', 'usable', 'stack'),
  existing: fieldSet('process', 'thread', 'time', 'address', 'size'),
  realloc: fieldSet(...EVENT, 'oldAddress', 'size', 'usable', 'stack'),
  free: fieldSet(...EVENT, 'stack'),
  lost: fieldSet('process', 'thread', 'time', 'count'),
  other: fieldSet('process', 'time', 'code', 'present'),
  comment: fieldSet('process', 'thread', 'text'),
  'thread-destroy': fieldSet('process', 'thread', 'time'),
  'process-end': fieldSet('process', 'time'),
}

import { plural } from '../../event/message-text.js'
import { plus } from '../../transforms/statistics/amounts.js'
import type { Amount, MpatrolStatistics } from '../../transforms/statistics/result.js'

/** The statistics exactly as mpatrol's trace reader prints them. */
export function mpatrolText(statistics: MpatrolStatistics): string {
  const { allocated, reserved, internal } = statistics
  const title = 'memory allocation tracing statistics'
  return [
    title,
    '-'.repeat(title.length),
    `allocated: ${amount(allocated)}`,
    `freed:     ${amount(statistics.freed)}`,
    `unfreed:   ${amount(statistics.unfreed)}`,
    `peak:      ${amount(statistics.peak)}`,
    `reserved:  ${amount(reserved)}`,
    `internal:  ${amount(internal)}`,
    `total:     ${amount(plus(reserved, internal))}`,
    '',
    `smallest size: ${plural(statistics.smallest, 'byte')}`,
    `largest size:  ${plural(statistics.largest, 'byte')}`,
    `average size:  ${plural(roundedMean(allocated), 'byte')}`,
    '',
  ].join('\n')
}

/** The warning if there are more traces than the one that mpatrol's reader would show. */
export function moreTraces(traces: number): string {
  return otherTraces(traces, ", as mpatrol's reader has it")
}

/** The warning that a report covers only the first of several traces. @param why it is, after a comma */
export function otherTraces(traces: number, why = ''): string {
  return `the input has ${traces} traces, and this is the first alone${why}: choose with --trace`
}

/** The mean number of bytes, rounded to the nearest integer, halves to the even one; 0 for no blocks. */
export function roundedMean({ blocks, bytes }: Amount): bigint {
  if (blocks === 0) return 0n
  const n = BigInt(blocks)
  const quotient = bytes / n
  const twice = 2n * (bytes % n)
  return twice < n || (twice === n && quotient % 2n === 0n) ? quotient : quotient + 1n
}

function amount({ blocks, bytes }: Amount): string {
  return `${blocks} (${plural(bytes, 'byte')})`
}

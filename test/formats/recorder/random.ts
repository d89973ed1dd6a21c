import fc from 'fast-check'
import { difference as d, end, number as n, PROCESS, record as r, recording, string } from './bytes.js'

/** What a record is to be, and what it refers to. */
export type RecordChoice = readonly [what: number, first: number, second: number]
export const recordChoices = fc.array(fc.tuple(fc.nat(30), fc.nat(20), fc.nat(19)), { maxLength: 200 })

/** A recording of allocations with stacks that grow into a tree, of frees, and of processes that have begun. */
export function recordingOf(choices: readonly RecordChoice[]): Uint8Array {
  const records: number[][] = [PROCESS, r('module', n(0x1000), n(0), string('/bin/app'))]
  let [frames, nodes, node, events, processes] = [0, 0, 0, 0, 1]
  const allocate = (to: number, address: number, size: number) => {
    records.push(r('malloc', n(1), d(address), n(size), n(0), d(to - node)), r('free', n(1), d(0)))
    node = to
    events += 2
  }
  for (const [what, first, second] of choices) {
    if (what < 4 || frames === 0) {
      records.push(r('frame', n(second % 8 === 0 ? 0 : 1), d(frames === 0 ? 0x1100 : 16 * (second - 9))))
      frames++
    } else if (what < 12) {
      const distance = 1 + (first % (nodes + 1))
      records.push(r('node', n(second % (frames + 1)), n(distance)))
      nodes++
    } else if (what === 12 && processes < 3) {
      records.push(r('child', n(50), n(1), n(0), string('./app')))
      processes++
    } else if (what < 24) allocate(first % (nodes + 1), second - 9, 1 + second)
    else {
      records.push(r('resident', n(2), n(4096 * second)))
      events++
    }
  }
  return recording(...records, end(events))
}

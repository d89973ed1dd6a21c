/**
 * The fates of a trace's blocks, for views that follow blocks but count nothing: which blocks were temporary, and which
 * events reach a new maximum of live bytes. The same code decides as for the statistics: live/fates.ts and
 * statistics/totals.ts.
 */
import { BEGAN, DONE, HIGHEST, REUSED } from '../../lib/kernel/layouts/live'
import { FATES, judge, judgeProcessEnd, makeCallers, THREADS } from '../live/fates'
import { BEGUN, EFFECTS, ENDED, nextGone, numbers } from '../live/follow'
import { KIND, MASK, SIZE } from '../shared/columns'
import { HAS_SIZE, KIND_EXISTING, KIND_PROCESS_END } from '../shared/event'
import { GROWING, GrowingTable } from '../shared/grow'
import { allocates, endsUnfreed, frees, overlaps } from '../statistics/totals'

/** The layout of a live block: its size, and the row of the thread that allocated or resized it last. */
const B_SIZE: usize = 0
const B_THREAD: usize = 8
const BLOCK_LOG: usize = 4
/** A bit of the thread: no event of the trace allocated or resized the block, which existed before. */
const UNALLOCATED: u32 = 1 << 31

const table = changetype<GrowingTable>(memory.data(GROWING))

// @ts-ignore: decorator
@inline
function blockAt(number: u32): usize {
  return table.at + ((<usize>number) << BLOCK_LOG)
}

/**
 * Judges the rows from 0 on, which the live set has followed.
 * @param threads the number of their rows
 * @param isLeveled whether to look for maxima of live bytes
 * @returns whether there was memory
 */
export function judgeRows(rows: u32, threads: u32, isLeveled: bool): bool {
  if (!table.reserve((<u64>numbers + 1) << BLOCK_LOG) || !makeCallers(threads)) return false
  for (let row: usize = 0; row < <usize>rows; row++) {
    const kind = load<u8>(KIND + row)
    if (kind > KIND_EXISTING) {
      if (kind == KIND_PROCESS_END) endProcess(row, isLeveled)
      continue
    }
    const effect = <u32>load<u8>(EFFECTS + row)
    const ended = load<u32>(ENDED + (row << 2))
    const begun = load<u32>(BEGUN + (row << 2))
    const from = blockAt(ended)
    const owner = load<u32>(from, B_THREAD)
    let fate = judge(row, kind, effect, ended, begun, owner & ~UNALLOCATED, (owner & UNALLOCATED) == 0)
    if (isLeveled && (effect & DONE) != 0) frees(load<u64>(from, B_SIZE))
    if ((effect & BEGAN) != 0) {
      const block = blockAt(begun)
      if (isLeveled) {
        if ((effect & REUSED) != 0) overlaps(load<u64>(block, B_SIZE))
        const size = (load<u32>(MASK + (row << 2)) & HAS_SIZE) != 0 ? load<u64>(SIZE + (row << 3)) : 0
        if (allocates(size, 0, 0, 0)) fate |= HIGHEST
        store<u64>(block, size, B_SIZE)
      }
      const thread = load<u32>(THREADS + (row << 2))
      store<u32>(block, kind == KIND_EXISTING ? thread | UNALLOCATED : thread, B_THREAD)
    }
    store<u8>(FATES + row, <u8>fate)
  }
  return true
}

function endProcess(row: usize, isLeveled: bool): void {
  judgeProcessEnd(row)
  if (!isLeveled) return
  for (let number = nextGone(<u32>row); number != 0; number = nextGone(<u32>row))
    endsUnfreed(load<u64>(blockAt(number), B_SIZE))
}

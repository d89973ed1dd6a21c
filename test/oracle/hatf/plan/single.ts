import * as Code from '../../../../lib/kernel/layouts/hatf.js'
import { HI, LO } from '../../../../lib/bytes/u64.js'
import type { FieldStates } from '../fields.js'
import { widthOf, type Plan, type Planner } from '../plan.js'
import { Given, type Records } from '../records.js'

/**
 * Lays out thread or heap without looking ahead: the first value is the default, and takes no bytes, until the first
 * record with another one. From there on values are stored as they are.
 */
export class SinglePlanner implements Planner {
  /** @param field the code of thread or heap */
  constructor(private readonly field: number) {}

  plan(records: Records, fields: FieldStates, plan: Plan): void {
    const { field } = this
    const { count, tag, given } = records
    const isThread = field === Code.F_THREAD
    const words = isThread ? records.thread : records.heap
    const bit = isThread ? Given.thread : Given.heap
    const lastTag = isThread ? Code.TAG_DESTROY_THREAD : Code.TAG_DESTROY_HEAP
    let isLaidOut = ((fields.touched >>> field) & 1) === 1
    let isSingle = fields.interpretation[field] === Code.DEFAULT && fields.width[field] === 0
    let width = fields.width[field]
    let lo = fields.reference[2 * field + LO]
    let hi = fields.reference[2 * field + HI]
    let r = 0
    if (!isLaidOut) while (r < count && (given[r] & bit) === 0) r++
    else if (isSingle) while (r < count && words[2 * r + LO] === lo && words[2 * r + HI] === hi) r++
    for (; r < count; r++) {
      if (tag[r] > lastTag) continue
      const valueLo = words[2 * r + LO]
      const valueHi = words[2 * r + HI]
      if (!isLaidOut) {
        if ((given[r] & bit) === 0) continue
        plan.setInterpretation(r, field, Code.DEFAULT, valueLo, valueHi)
        isLaidOut = true
        lo = valueLo
        hi = valueHi
      } else if (!isSingle || valueLo !== lo || valueHi !== hi) {
        let needed = widthOf(valueLo, valueHi)
        if (isSingle) {
          plan.setInterpretation(r, field, Code.NONE)
          // The first value is likely to come again.
          needed = Math.max(needed, widthOf(lo, hi))
          isSingle = false
        }
        if (needed <= width) continue
        plan.setWidth(r, field, needed)
        width = needed
      }
    }
  }
}

import { Doubts } from './doubts.js'
import { EARLY_END_NOTE } from './early-end.js'
import { passOn } from './pass-on.js'
import type { BatchTransform } from './stage.js'
import { weightNote } from './weights.js'

/** A note about a trace from which events were removed. */
const FILTERED =
  'events were removed from the trace, so blocks that seem to be live may have been freed; use --lifetimes with ' +
  'hf-filter and hf-split'

/**
 * Passes batches on, and warns at the end of causes of wrong results: events that the recorder lost, events that were
 * removed, sampled events, and a trace that ends before the program.
 */
export function caveats(): BatchTransform {
  const doubts = new Doubts()
  const warnings: string[] = []
  const end = () => {
    const { lost, isFiltered, endsEarly, weighted } = doubts
    warnings.push(...lost.warnings())
    if (isFiltered) warnings.push(FILTERED)
    if (endsEarly) warnings.push(EARLY_END_NOTE)
    if (weighted > 0) warnings.push(weightNote(weighted))
  }
  return passOn((batch) => doubts.add(batch), { warnings, end, endTruncated: end })
}

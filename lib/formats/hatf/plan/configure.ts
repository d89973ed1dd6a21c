import * as Code from '../../../kernel/layouts/hatf.js'
import type { HatfKernel } from '../kernel.js'
import { FIELD_COUNT, FIELD_NAMES } from '../layout.js'
import { PLAIN, SINGLE, strategyOf, type Strategies } from './strategies.js'

/** Whether any field has layouts to choose from, so that a whole window of records is considered together. */
export function looksAhead(strategies: Strategies): boolean {
  return FIELD_NAMES.some((name) => typeof strategyOf(name, strategies[name]) !== 'string')
}

/**
 * Sets the strategies in the kernel's state at the start of a stream.
 * @throws RangeError on an unknown strategy
 */
export function configure(run: HatfKernel, strategies: Strategies): void {
  const bytes = (address: number, length: number) => new Uint8Array(run.memory.buffer, address, length)
  const codes = bytes(run.STRATEGIES.value, FIELD_COUNT)
  const plainWidths = bytes(run.PLAIN_WIDTHS.value, FIELD_COUNT)
  const layouts = bytes(run.LAYOUTS.value, FIELD_COUNT * Code.LAYOUTS_BYTES)
  FIELD_NAMES.forEach((name, field) => {
    const strategy = strategyOf(name, strategies[name])
    codes[field] = strategy === PLAIN ? Code.PLAIN : strategy === SINGLE ? Code.SINGLE : Code.CHOICE
    plainWidths[field] = field === Code.F_ATTRIBUTES ? Code.V1 : field <= Code.F_ADDRESS ? 4 : 1
    if (typeof strategy === 'string') return
    layouts.set(
      [strategy.length, ...strategy.flatMap(({ interpretation, width }) => [interpretation, width])],
      Code.LAYOUTS_BYTES * field,
    )
  })
  run.watchAll()
}

import * as Code from '../../../kernel/layouts/hatf.js'
import { type FIELD_NAMES } from '../layout.js'
import { asIs, baseOffset, constant, delta, stride, type Layout } from './layouts.js'

/** Stored unchanged, without lookahead. */
export const PLAIN = 'plain'
/** A default until the value first changes, without lookahead. */
export const SINGLE = 'single'

/** The layouts from which a field's layout is chosen, or a strategy that needs no choice. */
type Strategy = typeof PLAIN | typeof SINGLE | readonly Layout[]

const ANY_WIDTH = asIs(1, 2, 4, 8)
/** The layouts of plain storing. */
const WIDE = asIs(4, 8)
const BASES = baseOffset(1, 2, 4)
const THREADS = { plain: PLAIN, single: SINGLE, runs: [...asIs(0), ...ANY_WIDTH, constant] } as const

/** The strategies of each field, by name: the layouts that each run may use. */
const STRATEGIES = {
  size: { naive: PLAIN, small: ANY_WIDTH, same: [...WIDE, constant], combined: [...ANY_WIDTH, constant] },
  address: {
    none: PLAIN,
    base1: [...WIDE, ...baseOffset(1)],
    base2: [...WIDE, ...baseOffset(2)],
    base4: [...WIDE, ...baseOffset(4)],
    base: [...WIDE, ...BASES],
    stride: [...WIDE, stride],
    delta: [...WIDE, ...delta(1, 2, 4)],
    best: [...WIDE, ...delta(1, 2), ...baseOffset(4), stride],
  },
  thread: THREADS,
  heap: THREADS,
  time: { plain: PLAIN, delta: [...ANY_WIDTH, constant, ...delta(1, 2, 4)] },
  attributes: { plain: PLAIN, fitted: asIs(0, 1, 2, 4, 8, Code.V1, Code.V2) },
} as const satisfies Record<(typeof FIELD_NAMES)[number], Record<string, Strategy>>

/** The names of a field's strategies. */
export type StrategyName<F extends keyof typeof STRATEGIES> = keyof (typeof STRATEGIES)[F] & string

/** A strategy for each field. */
export type Strategies = { readonly [F in keyof typeof STRATEGIES]: StrategyName<F> }

/** Named sets of strategies. */
export const PRESETS = {
  naive: { size: 'naive', address: 'none', thread: 'single', heap: 'single', time: 'plain', attributes: 'plain' },
  best: { size: 'combined', address: 'best', thread: 'runs', heap: 'runs', time: 'delta', attributes: 'fitted' },
} as const satisfies Record<string, Strategies>

/** Options of `strategiesOf`: a preset, and other strategies for single fields. */
export interface StrategyOptions {
  /** `best`, the default, takes the fewest bytes; `naive` stores values as they are, without lookahead. */
  preset?: keyof typeof PRESETS
  sizeEncoding?: StrategyName<'size'>
  addressEncoding?: StrategyName<'address'>
  threadEncoding?: StrategyName<'thread'>
  heapEncoding?: StrategyName<'heap'>
  timeEncoding?: StrategyName<'time'>
  attributesEncoding?: StrategyName<'attributes'>
}

export const DEFAULT_PRESET = 'best'

/** The strategy of each field. @throws RangeError on an unknown preset */
export function strategiesOf(options: StrategyOptions): Strategies {
  const { preset = DEFAULT_PRESET } = options
  if (!Object.hasOwn(PRESETS, preset)) {
    throw new RangeError(`there is no preset ${JSON.stringify(preset)}: there are ${Object.keys(PRESETS).join(', ')}`)
  }
  const { size, address, thread, heap, time, attributes } = PRESETS[preset]
  return {
    size: options.sizeEncoding ?? size,
    address: options.addressEncoding ?? address,
    thread: options.threadEncoding ?? thread,
    heap: options.heapEncoding ?? heap,
    time: options.timeEncoding ?? time,
    attributes: options.attributesEncoding ?? attributes,
  }
}

export function strategyNames(field: keyof Strategies): string[] {
  return Object.keys(STRATEGIES[field])
}

/** The strategy of a field with this name. @throws RangeError on an unknown name */
export function strategyOf(field: keyof Strategies, name: string): Strategy {
  const strategies: Readonly<Record<string, Strategy>> = STRATEGIES[field]
  const strategy = Object.hasOwn(strategies, name) ? strategies[name] : undefined
  if (strategy === undefined) {
    const names = strategyNames(field).join(', ')
    throw new RangeError(`there is no way ${JSON.stringify(name)} to encode ${field}: there are ${names}`)
  }
  return strategy
}

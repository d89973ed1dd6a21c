import { shared, type Kernel } from '../../kernel/instance.js'
import * as Code from '../../kernel/layouts/hatf.js'
import type { Globals, KernelExports } from '../../kernel/load.js'
import { FIELD_NAMES } from './layout.js'

/** The exports of kernel/hatf.ts, which documents them. */
export interface HatfKernel
  extends
    KernelExports,
    Globals<'STATE' | 'STATE_BYTES' | 'position' | 'events' | 'fields' | 'dataFrom' | 'dataTo' | 'faultValue'>,
    Globals<'faultField' | 'STRATEGIES' | 'PLAIN_WIDTHS' | 'LAYOUTS' | 'RECORDS' | 'RECORD_BYTES' | 'MAX_RECORDS'>,
    Globals<'R_DATA_END' | 'records' | 'recordsBefore' | 'todo' | 'rest' | 'without' | 'DATA' | 'DATA_BYTES'>,
    Globals<'written' | 'blocked'> {
  reset(): void

  decode(from: number, end: number, count: number, fields: number, fold: boolean): number
  settle(count: number, fields: number): number
  firstHeld(count: number): number

  watchAll(): void
  toRecords(from: number, to: number, count: number, full: number, dataEnd: number, keep: boolean): number
  addComment(count: number, dataEnd: number): number
  plan(count: number): void
  write(from: number, to: number, dataFrom: number, dataTo: number): number
  stream(from: number, to: number, keep: boolean): number
}

export const hatfKernel = shared<HatfKernel>('hatf')

/** The text for a fault of a record. */
export function faultOf({ faultValue, faultField }: HatfKernel, stop: number): string {
  const value = faultValue.value
  const field = faultField.value
  const name = FIELD_NAMES[field]
  if (stop === Code.UNKNOWN_TAG) return `unknown tag ${value}`
  if (stop === Code.UNKNOWN_OPERATION) return `unknown metadata operation ${value}`
  if (stop === Code.UNKNOWN_FIELD) return `metadata for the unknown field ${field}`
  if (stop === Code.UNKNOWN_WIDTH) return `unknown width ${value} for ${name}`
  if (stop === Code.WIDTH_OF_ATTRIBUTES)
    return `a width of v${value - Code.V1 + 1} for ${name}: only attributes can have that`
  if (stop === Code.UNKNOWN_INTERPRETATION) return `unknown interpretation ${value} for ${name}`
  if (stop === Code.NUMERIC_ATTRIBUTES)
    return 'attributes are bytes, not numbers: they can be stored as they are (none) or empty (default 0)'
  throw new RangeError(`the kernel returned an unknown fault ${stop}`)
}

/** A decoder's or encoder's copy of the kernel's state, kept while others use the kernel. */
export class KernelState {
  private readonly bytes: Uint8Array
  private readonly own: Uint8Array

  /**
   * The state at the start of a stream.
   * @param configure sets the values of the kernel's state that differ from the default
   */
  constructor({ run }: Kernel<HatfKernel>, configure?: (run: HatfKernel) => void) {
    this.bytes = new Uint8Array(run.memory.buffer, run.STATE.value, run.STATE_BYTES.value)
    run.reset()
    configure?.(run)
    this.own = this.bytes.slice()
  }

  /** Copies it to the kernel. */
  put(): void {
    this.bytes.set(this.own)
  }

  /** Copies it from the kernel. */
  take(): void {
    this.own.set(this.bytes)
  }
}

import { shared } from '../../kernel/instance.js'
import { BIG, NARROW, TIMED } from '../../kernel/layouts/kmemtrace.js'
import type { Globals, KernelExports } from '../../kernel/load.js'
import type { KmemtraceLayout } from './layout.js'

/** The exports of kernel/kmemtrace.ts, which documents them. */
interface KmemtraceKernel extends KernelExports, Globals<'position' | 'written' | 'sequence'> {
  decode(form: number, from: number, end: number, row: number, rows: number, shared: number): number

  encode(
    form: number,
    row: number,
    rows: number,
    out: number,
    end: number,
    sequence: number,
    cpu: number,
    watched: number,
    micros: boolean,
    onlyWhole: boolean,
  ): number
}

export const kmemtraceKernel = shared<KmemtraceKernel>('kmemtrace')

/** The kernel's number for a layout. */
export function formOf({ byteOrder, layout, wordSize }: KmemtraceLayout): number {
  return (byteOrder === 'big' ? BIG : 0) | (layout === 'ftrace' ? TIMED : 0) | (wordSize === 4 ? NARROW : 0)
}

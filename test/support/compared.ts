import { parentsOf, stackOfNode } from '../../lib/transforms/report/compared.js'
import type { ReportData } from '../../lib/transforms/report/result.js'

/** The frames of the rows of a comparison as text, the innermost first. */
export function comparedRows({ comparison, frames }: Pick<ReportData, 'comparison' | 'frames'>): string[][] {
  const { changes } = comparison!
  const parents = parentsOf(changes)
  return changes.node.map((node) => stackOfNode(parents, changes, node).map((id) => frames[id]!.name))
}

/** A trace with this number of stacks, of which every other is freed. @param step changes sizes */
export function manyStacks(count: number, step: number): string {
  return Array.from({ length: count }, (_, n) => {
    const address = `0x${(4096 + 64 * n).toString(16)}`
    const stack = ['malloc', `leaf${n % 7}`, `caller${n}`, 'main']
    const alloc = JSON.stringify({ kind: 'alloc', address, size: 1 + ((n * step) % 50), stack })
    return n % 2 === 0 ? `${alloc}\n` : `${alloc}\n${JSON.stringify({ kind: 'free', address })}\n`
  }).join('')
}

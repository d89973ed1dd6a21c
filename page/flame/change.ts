import { topDown, type FlameTree } from './tree.js'

/** A tree whose widths are amounts of change: growth and shrinkage below a node add up, whatever their signs. */
export interface ChangeTree extends FlameTree {
  /** The net change of each node and all nodes below it. */
  readonly net: Float64Array
}

/**
 * @param parents of the nodes, which have lower numbers; -1 for node 0
 * @param changes by node: the signed changes of the sites that end there
 */
export function changeTree(
  parents: ArrayLike<number>,
  frames: ArrayLike<number>,
  changes: Iterable<readonly [node: number, change: number]>,
): ChangeTree {
  const own = new Float64Array(parents.length)
  const net = new Float64Array(parents.length)
  for (const [node, change] of changes) {
    own[node] = own[node] + Math.abs(change)
    net[node] = net[node] + change
  }
  return treeOfChanges(parents, frames, own, net)
}

/**
 * @param own growth and shrinkage of what ends at each node
 * @param net the signed sums of the same, to which those of callees are added
 */
export function treeOfChanges(
  parents: ArrayLike<number>,
  frames: ArrayLike<number>,
  own: Float64Array,
  net: Float64Array,
): ChangeTree {
  for (let node = net.length - 1; node > 0; node--) net[parents[node]] = net[parents[node]] + net[node]
  return { ...topDown(parents, frames, own), net }
}

/** The colour of a change: red for growth, blue for shrinkage, grey for both in equal parts. */
export function changeColour(net: number, total: number, isDark: boolean): string {
  const part = total === 0 ? 0 : Math.min(1, Math.abs(net) / total)
  if (part < 0.02) return isDark ? 'hsl(0 0% 32%)' : 'hsl(0 0% 86%)'
  const hue = net > 0 ? 8 : 215
  return isDark
    ? `hsl(${hue} ${25 + 40 * part}% ${30 + 8 * part}%)`
    : `hsl(${hue} ${50 + 40 * part}% ${88 - 16 * part}%)`
}

/** A change with its sign, and a mark that does not need colours. */
export function signedText(change: number, text: (value: number) => string): string {
  return change > 0 ? `▲ +${text(change)}` : change < 0 ? `▼ −${text(-change)}` : `= ${text(0)}`
}

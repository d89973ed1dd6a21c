import { comparedFrameText } from '../../names/named-frame.js'
import { lineText } from '../../exports/collapsed.js'
import { textBytes } from '../../event/strings.js'
import {
  isEqual,
  type ComparedFigures,
  type ComparedStack,
  type ProfileDifference,
} from '../../transforms/profile/difference.js'
import { TEMPORARY_BY, titleBy } from '../../transforms/option-values.js'
import { plus } from '../../transforms/statistics/amounts.js'
import type { Amount } from '../../transforms/statistics/result.js'
import { descending } from '../../transforms/statistics/site-table.js'
import type { DIFF_ORDERS } from '../defaults.js'
import { byOwnFrame, CallerTree, type FrameGroup } from './caller-tree.js'
import { absolute, grouped, labelledLines, signed, tableLines, wrapped } from './columns.js'
import { jsonPieces } from './json.js'
import { UNKNOWN_FIGURE, unknownFigures } from './identity.js'
import { siteLabels, type SiteNames } from './names.js'

/** A figure that is compared, by its flag. */
export type DiffOrder = (typeof DIFF_ORDERS)[number]

interface Figure {
  title: string
  /** The header of its differences. */
  head: string
  of: (figures: ComparedFigures) => Amount
}

const FIGURES: Readonly<Record<DiffOrder, Figure>> = {
  leaked: { title: 'live at the end', head: 'at end', of: ({ leaked }) => leaked },
  peak: { title: 'live at the peak', head: 'at peak', of: ({ atPeak }) => atPeak },
  allocated: { title: 'allocated', head: 'allocated', of: ({ allocated }) => allocated },
  temporary: { title: 'temporary', head: 'temporary', of: ({ temporary }) => temporary },
}

/** The figures that are known of both traces. */
function known({ identified }: ProfileDifference): DiffOrder[] {
  return (Object.keys(FIGURES) as DiffOrder[]).filter((figure) => identified || figure !== 'temporary')
}

/** The stacks that differ, the largest difference of some figure first, and of the other figures after that. */
export function differing(difference: ProfileDifference, order: DiffOrder): ComparedStack[] {
  const figures = [order, ...known(difference).filter((one) => one !== order)].map((one) => FIGURES[one].of)
  const changes = (one: ComparedStack) =>
    figures.flatMap((of) => {
      const [before, after] = [of(one.old), of(one.new)]
      return [absolute(after.bytes - before.bytes), BigInt(Math.abs(after.blocks - before.blocks))]
    })
  return difference.stacks
    .filter((one) => !isEqual(one))
    .map((one) => ({ one, by: changes(one) }))
    .toSorted((a, b) => a.by.reduce((found, value, i) => found || descending(value, b.by[i]), 0))
    .map(({ one }) => one)
}

/** The difference as text; one sentence if there is none. @param top the number of stacks to show */
export function differenceText(difference: ProfileDifference, order: DiffOrder, top: number, names: SiteNames): string {
  const stacksThatDiffer = differing(difference, order)
  const tree = names.tree === true && difference.by !== 'size' ? treeOf(stacksThatDiffer, order, names) : undefined
  const all = tree?.rows ?? stacksThatDiffer
  const paragraph = (text: string) => `${wrapped(text, names.columns).join('\n')}\n`
  if (all.length === 0 && isEqual(difference))
    return paragraph(
      `Nothing differs: ${difference.by === 'size' ? 'blocks of all sizes' : 'all sites'} ` +
        'have the same figures in both.',
    )
  const cells = ({ old, new: next }: Pick<ComparedStack, 'old' | 'new'>, figure: DiffOrder) => {
    const [before, after] = [FIGURES[figure].of(old), FIGURES[figure].of(next)]
    return [
      grouped(before.bytes),
      grouped(after.bytes),
      signed(after.bytes - before.bytes),
      ratio(before.bytes, after.bytes),
      signed(BigInt(after.blocks - before.blocks)),
    ]
  }
  const heads = ['old bytes', 'new bytes', 'difference', 'ratio', 'diff. blocks']
  const whole = tableLines(
    {
      title: 'In all',
      heads: [' ', ...heads],
      rows: known(difference).map((figure) => [
        titleBy(FIGURES[figure].title, figure, difference.temporaryBy),
        ...cells(difference, figure),
      ]),
    },
    names.columns,
  )
  const others = known(difference).filter((figure) => figure !== order)
  const bySize = difference.by === 'size'
  const change = ({ old, new: next }: ComparedStack, figure: DiffOrder) => {
    const [before, after] = [FIGURES[figure].of(old), FIGURES[figure].of(next)]
    return signed(after.bytes - before.bytes)
  }
  const shown = all.slice(0, top)
  // Rows of trees have texts of frames already.
  const stacks = shown.map((one) => ({ stack: tree === undefined ? one.stack().map(comparedFrameText) : one.stack() }))
  const by = difference.temporaryBy
  const orderTitle = titleBy(FIGURES[order].title, order, by)
  const rows = labelledLines(
    {
      title: `${bySize ? 'Sizes' : 'Sites'} by the difference in bytes ${orderTitle} (${grouped(all.length)} differ)`,
      heads: [...heads.slice(0, -1), 'blocks', ...others.map((figure) => titleBy(FIGURES[figure].head, figure, by))],
      rows: shown.map((one) => [...cells(one, order), ...others.map((figure) => change(one, figure))]),
    },
    bySize ? 'size' : 'site',
    names.columns,
    (width) => siteLabels(stacks, names, width),
    tree && ((row, width) => tree.below(shown[row], width)),
  )
  const none = bySize ? 'No size differs.' : 'No site differs.'
  const full = `Too many distinct ${bySize ? 'sizes' : 'stacks'} for a row each: those that came last are [others].`
  const note = difference.full ? `\n${paragraph(full)}` : ''
  return `${[...whole, '', ...(all.length > 0 && top > 0 ? rows : [none])].join('\n')}\n${note}`
}

/** Stacks that differ, added up by the program's own innermost frame, and the lines of their callers. */
function treeOf(stacks: readonly ComparedStack[], order: DiffOrder, names: SiteNames) {
  const { of } = FIGURES[order]
  const items = stacks.map(({ old, new: next, stack }) => ({ old, new: next, stack: stack().map(comparedFrameText) }))
  const tree = new CallerTree(items, {
    own: names.own,
    full: names.full ?? false,
    stackOf: ({ stack }) => stack,
    amountOf: ({ old, new: next }) => ({
      blocks: of(next).blocks - of(old).blocks,
      bytes: of(next).bytes - of(old).bytes,
    }),
    show: ({ blocks, bytes }) => `${signedCount(bytes, 'byte')}, ${signedCount(BigInt(blocks), 'block')}`,
    // Stacks that differ in other figures alone lead to no change of this one. Changes that cancel each other remain.
    isShown: ({ old, new: next }) => of(next).blocks !== of(old).blocks || of(next).bytes !== of(old).bytes,
  })
  const groups = new Map(
    byOwnFrame(items, ({ stack }) => stack, names.own).map((group) => {
      const { frame } = group
      const [first, ...others] = group.items as [(typeof items)[number], ...typeof items]
      const row: ComparedStack = {
        old: others.reduce((all, one) => sum(all, one.old), first.old),
        new: others.reduce((all, one) => sum(all, one.new), first.new),
        stack: () => (frame === undefined ? first.stack : [frame]),
      }
      return [row, group] as const
    }),
  )
  const change = ({ old, new: next }: ComparedStack) => absolute(of(next).bytes - of(old).bytes)
  return {
    rows: [...groups.keys()].toSorted((a, b) => descending(change(a), change(b))),
    below: (row: ComparedStack, width: number) =>
      tree.lines(groups.get(row) as FrameGroup<(typeof items)[number]>, width),
  }
}

/** The difference as JSON, in pieces. @param top how many stacks; all of them if undefined */
export function differenceJson(difference: ProfileDifference, order: DiffOrder, top?: number): Iterable<string> {
  const both = ({ old, new: next }: Pick<ComparedStack, 'old' | 'new'>) => ({
    old,
    new: next,
    difference: Object.fromEntries(
      Object.entries(old).map(([figure, { blocks, bytes }]: [string, Amount]) => {
        const after = next[figure as keyof ComparedFigures]
        return [figure, { blocks: after.blocks - blocks, bytes: after.bytes - bytes }]
      }),
    ),
    ratio: Object.fromEntries(
      Object.entries(old).map(([figure, { bytes }]: [string, Amount]) => [
        figure,
        bytes === 0n ? null : Number(next[figure as keyof ComparedFigures].bytes) / Number(bytes),
      ]),
    ),
  })
  const sites = differing(difference, order)
    .slice(0, top)
    .map((one) => ({
      get stack() {
        return one.stack()
      },
      ...both(one),
    }))
  const { by, temporaryBy, identified, full } = difference
  const definition = temporaryBy === TEMPORARY_BY ? {} : { temporaryBy }
  return jsonPieces({ ...both(difference), by, ...definition, identified, full, sites }, unknownFigures(identified))
}

/**
 * Collapsed stacks with two counts, the old one and the new one, as flamegraph.pl draws differences. Stacks that have
 * neither are left out.
 */
export function differenceStacks({ stacks }: ProfileDifference, order: DiffOrder): Iterable<Uint8Array> {
  const { of } = FIGURES[order]
  function* lines(): Generator<string> {
    for (const { old, new: next, stack } of stacks) {
      const [before, after] = [of(old).bytes, of(next).bytes]
      if (before === 0n && after === 0n) continue
      yield `${stack().toReversed().map(lineText).join(';')} ${before} ${after}\n`
    }
  }
  return textBytes(lines())
}

function sum(one: ComparedFigures, other: ComparedFigures): ComparedFigures {
  return {
    allocated: plus(one.allocated, other.allocated),
    atPeak: plus(one.atPeak, other.atPeak),
    leaked: plus(one.leaked, other.leaked),
    temporary: plus(one.temporary, other.temporary),
  }
}

/** `+1 block`, `-5 blocks` */
function signedCount(n: bigint, what: string): string {
  return `${signed(n)} ${what}${absolute(n) === 1n ? '' : 's'}`
}

/** How many times as much there is now: `1.50`; `new` or `gone` where one of them is nothing, `-` where both are. */
function ratio(before: bigint, after: bigint): string {
  if (before === 0n && after === 0n) return UNKNOWN_FIGURE
  if (before === after) return '1.00'
  if (before === 0n) return 'new'
  return after === 0n ? 'gone' : (Number(after) / Number(before)).toFixed(2)
}

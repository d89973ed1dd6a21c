import type { Moment } from '../fates/moment.js'
import type { TemporaryDefinition } from '../option-values.js'
import type { Amount, Site, Statistics } from '../statistics/result.js'
import type { SiteFigures } from '../statistics/site-table.js'

/** A place in the program: a frame of a stack, or a substitute for one. */
export interface Frame {
  /** The function; or the file, the call site or other known parts; or a description in brackets. */
  readonly name: string
  readonly file?: string
  /** Counted from 1. */
  readonly line?: number
  /** The program or library. */
  readonly module?: string
  /** The address of a frame whose function is unknown. */
  readonly address?: bigint
  /** Whether `address` is the distance from the start of the module, which is the same in every run. */
  readonly isOffset?: true
}

/** The stacks of a profile as a tree. Node 0 is its root, which has no frame. */
export interface StackTree {
  /** The parent of each node, which has a lower number; -1 for the root. */
  readonly parents: Int32Array
  /** The frame of each node, an index into `Profile.frames`; -1 for the root. A parent is the caller. */
  readonly frames: Int32Array
}

/** The figures of one stack. Two samples may have the same node. */
export interface Sample extends SiteFigures {
  /** The innermost frame of the stack: a node of the tree. */
  readonly node: number
  /** What was live at the requested moment. */
  readonly live: Amount
  /** The known data of the place, as in statistics. The names of frames may stand for unknown data. */
  site(): Site
}

/** The origin of a trace's memory, and its fate. */
export interface Profile {
  /**
   * Everything except the list of sites, which is empty: the samples have the sites. Sizes are listed only if no event
   * has a site.
   */
  readonly statistics: Statistics
  /** The command line of the program, if the trace has it; of several traces, the first one's. */
  readonly command?: string
  /** The moment of `Sample.live`. */
  readonly at: ProfileMoment
  /** The definition of temporary allocations, for outputs with only one. */
  readonly temporaryBy: TemporaryDefinition
  /**
   * The time from the beginning until a moment of the statistics that has a time, where several traces come one after
   * the other: at most `statistics.time.span`.
   */
  elapsed(moment: { readonly event: number; readonly time: bigint }): bigint
  readonly frames: readonly Frame[]
  readonly tree: StackTree
  /**
   * Every stack with its figures, in the order of first use. The sum of each figure equals the figure in the
   * statistics. Samples are created while they are read, so even many stacks take little memory.
   */
  samples(): Iterable<Sample>
}

/** The moment of the live figures: the end of the trace, its peak, or a moment in it. */
export type ProfileMoment = Moment | 'end'

export interface ProfileOptions {
  /** The moment of the live figures; the end of the trace if absent. */
  readonly at?: ProfileMoment
  /** The thread that allocated the blocks is the outermost frame. */
  readonly threadRoot?: boolean
  /** The definition of temporary allocations, for outputs with only one; heaptrack's if absent. */
  readonly temporaryBy?: TemporaryDefinition
  /** The number of distinct stacks: at most, and by default, 250,000. Further ones are combined as `[others]`. */
  readonly stacks?: number
}

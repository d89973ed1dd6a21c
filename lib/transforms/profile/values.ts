import type { PROFILE_VALUES } from '../option-values.js'
import type { Sample } from './profile.js'

/** A figure of a stack. */
export type ProfileValue = (typeof PROFILE_VALUES)[number]

/** What one of the figures is. */
interface ValueSpec {
  /** For people. */
  readonly title: string
  readonly unit: 'bytes' | 'blocks'
  of(sample: Sample): number | bigint
}

/** The figures by their names. */
export const VALUES: Readonly<Record<ProfileValue, ValueSpec>> = {
  'allocated-bytes': { title: 'allocated bytes', unit: 'bytes', of: ({ allocated }) => allocated.bytes },
  'allocated-blocks': { title: 'allocations', unit: 'blocks', of: ({ allocated }) => allocated.blocks },
  'peak-bytes': { title: 'live bytes at the peak', unit: 'bytes', of: ({ atPeak }) => atPeak.bytes },
  'peak-blocks': { title: 'live blocks at the peak', unit: 'blocks', of: ({ atPeak }) => atPeak.blocks },
  'live-bytes': { title: 'live bytes', unit: 'bytes', of: ({ live }) => live.bytes },
  'live-blocks': { title: 'live blocks', unit: 'blocks', of: ({ live }) => live.blocks },
  'temporary-bytes': {
    title: 'bytes of temporary allocations',
    unit: 'bytes',
    of: ({ temporary }) => temporary.heaptrack.bytes,
  },
  'temporary-blocks': {
    title: 'temporary allocations',
    unit: 'blocks',
    of: ({ temporary }) => temporary.heaptrack.blocks,
  },
  'foreign-frees': { title: 'blocks freed by another thread', unit: 'blocks', of: ({ foreignFrees }) => foreignFrees },
}

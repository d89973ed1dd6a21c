import { UNKNOWN_TEMPORARY } from '../../event/header.js'
import { PROFILE_VALUES, type TemporaryDefinition } from '../option-values.js'
import type { Profile, Sample } from './profile.js'

/** A figure of a stack. */
export type ProfileValue = (typeof PROFILE_VALUES)[number]

/** The description of a figure. */
export interface ValueSpec {
  /** The title for readers. */
  readonly title: string
  readonly unit: 'bytes' | 'blocks'
  /** Whether it is known only if the trace says which block is freed: see `Statistics.identified`. */
  readonly needsIdentity?: true
  /** @param by the definition of temporary allocations, as the profile has it */
  of(sample: Sample, by: TemporaryDefinition): number | bigint
}

/**
 * The figures by their names.
 * @see knownValue for figures that only some traces have
 */
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
    needsIdentity: true,
    of: ({ temporary }, by) => temporary[by].bytes,
  },
  'temporary-blocks': {
    title: 'temporary allocations',
    unit: 'blocks',
    needsIdentity: true,
    of: ({ temporary }, by) => temporary[by].blocks,
  },
  'foreign-frees': { title: 'blocks freed by another thread', unit: 'blocks', of: ({ foreignFrees }) => foreignFrees },
}

/**
 * A figure of a profile.
 * @throws RangeError when it cannot be known
 */
export function knownValue(profile: Profile, value: ProfileValue): ValueSpec {
  if (!knownValues(profile).includes(value)) throw new RangeError(UNKNOWN_TEMPORARY)
  return VALUES[value]
}

/** The names of the known figures of a profile. */
export function knownValues({ statistics: { identified } }: Profile): readonly ProfileValue[] {
  return PROFILE_VALUES.filter((value) => identified || VALUES[value].needsIdentity !== true)
}

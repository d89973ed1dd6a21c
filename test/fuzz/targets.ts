import { CHECKPOINT_TARGET } from './checkpoints.js'
import { isWritable } from '../../lib/event/format.js'
import { FORMATS } from '../support/formats.js'
import { ALLOCATOR_TARGETS } from './allocators.js'
import { decoderTarget, encoderTarget } from './codecs.js'
import { COMPRESSED_TARGETS } from './compressed.js'
import { DWARF_TARGETS } from './dwarf.js'
import { INPUT_TARGETS } from './inputs.js'
import { METATF_TARGETS } from './metatf.js'
import { Mutator } from './mutate.js'
import { PARQUET_TARGETS } from './parquet.js'
import { seedsOf, TOKENS } from './seeds.js'
import type { Target } from './target.js'
import { TRANSFORM_TARGETS } from './transforms.js'

/** Everything that is fuzzed. */
export const TARGETS: readonly Target[] = [
  ...FORMATS.map((format) => decoderTarget(format, new Mutator(seedsOf(format), TOKENS))),
  ...FORMATS.filter(isWritable).map(encoderTarget),
  ...PARQUET_TARGETS,
  ...TRANSFORM_TARGETS,
  ...ALLOCATOR_TARGETS,
  ...COMPRESSED_TARGETS,
  ...METATF_TARGETS,
  ...INPUT_TARGETS,
  CHECKPOINT_TARGET,
  ...DWARF_TARGETS,
]

/** The targets of a name: all of a format's with the format's name. */
export function targetsNamed(name: string): readonly Target[] {
  return TARGETS.filter((target) => name === '' || target.name === name || target.name === `${name}-events`)
}

import { PTMALLOC_RANGE } from '../../allocators/settings.js'
import { checkNeededOptions, whole, type OptionNames } from '../../event/options.js'
import { showValue } from '../../event/message-text.js'
import { didYouMean } from '../../event/suggest.js'
import { classesOf } from './classes.js'
import { LifetimePredictor } from './lifetimes/predictor.js'
import type { PredictionSettings, SimulateOptions, SimulateSettings } from './policies.js'
import * as Policies from './policies.js'

const OPTIONS: OptionNames<SimulateOptions> = {
  policy: 'string',
  list: 'string',
  coalescing: 'string',
  header: 'number',
  alignment: 'number',
  smallest: 'number',
  page: 'number',
  trim: 'number',
  classes: true,
  glibc: 'string',
  jemalloc: 'string',
  bits: 'number',
  tcache: 'string',
  predict: true,
  general: 'string',
  arenas: 'number',
  arenaSize: 'number',
}

/** Limits of the options. */
const MOST_HEADER = 4096
const MOST_SMALLEST = 1 << 20
const MOST_TRIM = 2 ** 45
const MOST_CLASSES = 256
const MOST_CLASS = 2 ** 40
const MOST_ARENAS = 1024
const LEAST_ARENA = 64
const MOST_ARENA = 1 << 20
/** The first minor version of glibc whose threads have caches. */
const FIRST_WITH_CACHES = 26

/**
 * The options with their defaults. @throws RangeError for options that are unknown, out of range, or of another policy
 */
export function settingsOf(options: SimulateOptions): SimulateSettings {
  checkNeededOptions(options, OPTIONS, 'simulate()')
  const policy = oneOf('policy', options.policy, Policies.POLICIES)
  const prediction = predictionOf(options)
  // With arenas, the rest of the heap belongs to the general policy.
  const heap = prediction?.general ?? policy
  const isFit = Policies.FITS.includes(heap)
  const only = (name: keyof SimulateOptions, isAllowed: boolean, owners: string) => {
    if (options[name] !== undefined && !isAllowed)
      throw new RangeError(`${name} is an option of ${owners}, not ${policy}`)
  }
  only('list', heap === 'first-fit', 'first-fit')
  only('coalescing', isFit, Policies.FITS.join(', '))
  only('trim', isFit, Policies.FITS.join(', '))
  only('classes', policy === 'segregated', 'segregated')
  only('glibc', policy === 'ptmalloc', 'ptmalloc')
  const isJemalloc = policy === 'jemalloc'
  for (const name of ['jemalloc', 'bits'] as const) only(name, isJemalloc, 'jemalloc')
  only('tcache', Policies.WHOLE.includes(policy), Policies.WHOLE.join(', '))
  const glibc = policy === 'ptmalloc' ? versionOf(options.glibc ?? Policies.GLIBC) : null
  const hasCaches = isJemalloc || (glibc !== null && minorOf(glibc) >= FIRST_WITH_CACHES)
  if (options.tcache === 'on' && !hasCaches) throw new RangeError(`threads of glibc ${glibc} have no caches`)
  const isFixed = policy === 'ideal' || Policies.WHOLE.includes(policy)
  for (const name of ['header', 'alignment', 'smallest'] as const) only(name, !isFixed, 'other policies')
  const alignment = power('alignment', options.alignment ?? 16, 8, 4096)
  const page = power('page', options.page ?? 4096, 1024, 2 ** 24)
  const isIdeal = policy === 'ideal'
  const hasHeader = isFit || policy === 'ptmalloc'
  return {
    policy,
    list: heap === 'first-fit' ? oneOf('list', options.list ?? 'address', Policies.LIST_ORDERS) : null,
    coalescing: isFit ? oneOf('coalescing', options.coalescing ?? 'immediate', Policies.COALESCING) : null,
    header: isIdeal ? 0 : whole('header', options.header ?? (hasHeader ? 8 : 0), 0, MOST_HEADER),
    alignment: isIdeal ? 1 : isJemalloc ? 8 : alignment,
    smallest: isIdeal ? 0 : isJemalloc ? 8 : smallestOf(options, hasHeader, alignment),
    page,
    trim: options.trim === undefined ? null : whole('trim', options.trim, 0, MOST_TRIM),
    classes: policy === 'segregated' ? classSizes(options.classes ?? 'jemalloc', alignment) : null,
    glibc,
    jemalloc: isJemalloc ? oneOf('jemalloc', options.jemalloc ?? Policies.JEMALLOC, Policies.JEMALLOCS) : null,
    bits: isJemalloc ? bitsOf(options) : null,
    tcache: hasCaches ? oneOf('tcache', options.tcache ?? 'on', Policies.TCACHE) : null,
    prediction,
  }
}

/** The bits of a word; jemalloc 5 is simulated for 64. */
function bitsOf({ bits = 64, jemalloc = Policies.JEMALLOC }: SimulateOptions): number {
  if (bits === 64 || (bits === 32 && jemalloc !== '5')) return bits
  throw new RangeError(`bits must be ${jemalloc === '5' ? '64 for jemalloc 5' : '32 or 64'}, not ${showValue(bits)}`)
}

/** The options of arenas. @throws RangeError for policies without arenas, and without a predictor */
function predictionOf(options: SimulateOptions): PredictionSettings | null {
  const { policy, predict, general = 'first-fit', arenas = Policies.ARENAS, arenaSize = Policies.ARENA_SIZE } = options
  if (predict === undefined) {
    const needless = (['general', 'arenas', 'arenaSize'] as const).find((name) => options[name] !== undefined)
    if (needless !== undefined) throw new RangeError(`${needless} is an option of bump with predict`)
    return null
  }
  if (policy !== 'bump') throw new RangeError(`predict is an option of bump, not ${policy}`)
  if (!(predict instanceof LifetimePredictor))
    throw new RangeError(`predict must be what lifetimes() found, not ${showValue(predict)}`)
  return {
    general: oneOf('general', general, Policies.GENERAL),
    threshold: predict.threshold,
    frames: predict.frames,
    arenas: whole('arenas', arenas, 1, MOST_ARENAS),
    arenaSize: whole('arenaSize', arenaSize, LEAST_ARENA, MOST_ARENA),
  }
}

/** A multiple of the alignment; in a buddy system, a power of two. */
function smallestOf({ policy, smallest }: SimulateOptions, hasHeader: boolean, alignment: number): number {
  const least = whole('smallest', smallest ?? (hasHeader ? 32 : 16), 1, MOST_SMALLEST)
  const rounded = Math.ceil(least / alignment) * alignment
  return policy.endsWith('buddy') ? 2 ** Math.ceil(Math.log2(rounded)) : rounded
}

/** A version of glibc that is simulated. */
function versionOf(version: string): string {
  const minor = minorOf(version)
  const [first, last] = PTMALLOC_RANGE
  if (minor >= first && minor <= last) return version
  throw new RangeError(`glibc must be a version from 2.${first} to 2.${last}, not ${showValue(version)}`)
}

/** The minor version: 36 for `2.36`; NaN for anything that is not a version. */
export function minorOf(version: string): number {
  return Number(/^2\.(\d\d)$/.exec(version)?.[1])
}

/** The classes that the alignment admits. */
function classSizes(classes: NonNullable<SimulateOptions['classes']>, alignment: number): readonly number[] {
  if (typeof classes === 'string') return aligned(classesOf(oneOf('classes', classes, Policies.CLASS_RULES)), alignment)
  if (!Array.isArray(classes))
    throw new RangeError(`classes must be a rule or an array of sizes, not ${showValue(classes)}`)
  for (const size of classes as readonly number[]) whole('classes: each', size, 1, MOST_CLASS)
  const sizes = aligned(
    [...new Set(classes as readonly number[])].toSorted((a, b) => a - b),
    alignment,
  )
  if (sizes.length === 0) throw new RangeError(`classes: none is a multiple of the alignment, ${alignment}`)
  if (sizes.length > MOST_CLASSES) throw new RangeError(`classes: there can be ${MOST_CLASSES}, not ${sizes.length}`)
  return sizes
}

function aligned(sizes: readonly number[], alignment: number): readonly number[] {
  return sizes.filter((size) => size % alignment === 0)
}

function oneOf<Name extends string>(name: string, value: Name, values: readonly Name[]): Name {
  if (values.includes(value)) return value
  const hint = typeof value === 'string' ? didYouMean(value, values) : ''
  throw new RangeError(`${name} must be one of ${values.join(', ')}, not ${showValue(value)}${hint}`)
}

function power(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(Math.log2(whole(name, value, least, most)))) return value
  throw new RangeError(`${name} must be a power of two, not ${value}`)
}

import { scopedNames, type DebugSections } from '../../lib/symbols/dwarf-names.js'
import { debugSections, type DebugShape } from '../symbols/dwarf-bytes.js'
import { Budget } from './budget.js'
import { Failure } from './failure.js'
import { Mutator } from './mutate.js'
import type { Target } from './target.js'

const VERSIONS: readonly DebugShape['version'][] = [2, 3, 4, 5]
const SHAPES: readonly DebugShape[] = VERSIONS.flatMap((version) =>
  [true, false].flatMap((little) => [true, false].map((is64) => ({ version, little, is64 }))),
)
const PARTS = ['info', 'abbrev', 'str', 'lineStr'] as const

/** Forms, tags and attributes, with what ends a table. */
const TOKENS = [
  [0],
  [0, 0, 0],
  [0x2e, 0],
  [0x39, 1],
  [3, 8],
  [3, 0x0e],
  [0x16],
  [0x21, 0x7f],
  [0x3c],
  [0xff, 0xff, 0xff, 0xff],
]

function partsTarget(): Target {
  const shapes = SHAPES.map(debugSections)
  const mutators = PARTS.map(
    (part) =>
      new Mutator(
        shapes.map((one) => one[part]),
        TOKENS.map((token) => Uint8Array.from(token)),
      ),
  )
  return {
    name: 'dwarf',
    weight: 2,
    make(random) {
      // Mostly one part is damaged, the others fit each other.
      const whole = random.pick(shapes)
      const damaged = random.oneIn(8) ? PARTS : [random.pick(PARTS.slice(0, random.oneIn(4) ? 4 : 2))]
      const sections: DebugSections = {
        ...whole,
        ...Object.fromEntries(damaged.map((part) => [part, mutators[PARTS.indexOf(part)]!.make(random)])),
      }
      return { extension: '.dwarf', bytes: () => joined(sections), check: () => checkNames(sections) }
    },
  }
}

/** The sections, each after its length. */
function joined(sections: DebugSections): Uint8Array {
  const parts = PARTS.map((part) => sections[part])
  return Buffer.concat(parts.flatMap((part) => [Buffer.from(Uint32Array.of(part.length).buffer), part]))
}

function checkNames(sections: DebugSections): void {
  const budget = new Budget()
  const parts = PARTS.map((part) => sections[part])
  for (const part of parts) budget.add(part)
  const copies = parts.map((part) => part.slice())
  const names = scopedNames(sections)
  // Each function is an entry of a byte at least.
  if (names.size > sections.info.length) throw new Failure(`${names.size} names`)
  for (const [name, full] of names) {
    if (!name.includes('<') || (full !== name && !full.endsWith(`::${name}`))) throw new Failure(`${name} is ${full}`)
  }
  if (parts.some((part, i) => Buffer.compare(part, copies[i]!) !== 0)) throw new Failure('changes its input')
  budget.check()
}

/** The reader of debug information. */
export const DWARF_TARGETS: readonly Target[] = [partsTarget()]

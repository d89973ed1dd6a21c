import type { EventBatch } from '../event/batch.js'
import { chain } from '../event/chain.js'
import { FieldBit, Kind } from '../event/fields.js'
import type { TraceHeader } from '../event/header.js'
import { passOn } from '../event/pass-on.js'
import type { Suppression } from '../names/suppression.js'
import { parseSuppressions } from '../names/suppressions.js'
import type { TraceInput } from './input.js'

/**
 * A line of heaptrack with a rule, which is a comment in its traces. From version 3 on, a string has its length before
 * it.
 */
const LINE = /^S (.*)$/s
const SIZED = /^S [0-9a-f]+ (.*)$/s
const SIZED_VERSION = 3
/** The maximum number of rules of a trace. */
const MOST = 1000
const HAS_TEXT = FieldBit.text

/**
 * An input whose trace adds the rules that the program had built in, as `__lsan_default_suppressions()`, to others.
 * heaptrack notes them before the first allocation.
 */
export function withEmbedded(input: TraceInput, rules: Suppression[]): TraceInput {
  return {
    ...input,
    read: (bytes, emitter, through) => {
      const embedded = new EmbeddedRules(rules)
      const { countsInfos } = through
      return input.read(
        bytes,
        emitter,
        chain(
          passOn((batch) => embedded.look(batch), { countsInfos }),
          through,
        ),
      )
    },
  }
}

/** Finds the rules in the events that pass. */
class EmbeddedRules {
  private header: TraceHeader | undefined
  private isBefore = false
  private found = 0

  constructor(private readonly rules: Suppression[]) {}

  look(batch: EventBatch): void {
    if (batch.header !== this.header) {
      this.header = batch.header
      this.isBefore = batch.header.format === 'heaptrack'
    }
    for (let i = 0; this.isBefore && i < batch.count; i++) {
      if (batch.kind[i] !== Kind.comment) this.isBefore = false
      else if ((batch.mask[i] & HAS_TEXT) !== 0) this.take(batch.strings.text(batch.text[i]))
    }
  }

  private take(text: string): void {
    const version = this.header?.layout?.['version']
    const line = (typeof version === 'number' && version >= SIZED_VERSION ? SIZED : LINE).exec(text)?.[1]
    if (line === undefined || this.found === MOST) return
    try {
      const [rule] = parseSuppressions(line)
      if (rule === undefined) return
      this.found++
      this.rules.push(rule)
    } catch {
      // It is no rule: the program may say anything there.
    }
  }
}

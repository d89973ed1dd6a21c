import fc from 'fast-check'
import { compact } from '../../lib/formats/compact/index.js'
import { glibcMtrace } from '../../lib/formats/glibc-mtrace/index.js'
import { hatf } from '../../lib/formats/hatf/index.js'
import { hatfAscii } from '../../lib/metatf/hatf-ascii/index.js'
import { heapmon } from '../../lib/formats/heapmon/index.js'
import { heaptrack } from '../../lib/formats/heaptrack/index.js'
import { kmemtrace } from '../../lib/formats/kmemtrace/index.js'
import { mtrc } from '../../lib/formats/mtrc/index.js'
import { tracepoints } from '../../lib/formats/tracepoints/index.js'
import { valgrind } from '../../lib/formats/valgrind/index.js'
import { ltrace } from '../../lib/formats/ltrace/index.js'
import { recorder } from '../../lib/formats/recorder/index.js'
import { replay } from '../../lib/formats/replay/index.js'
import { arrow } from '../../lib/formats/arrow/index.js'
import { ndjson } from '../../lib/formats/ndjson/index.js'
import { conformance } from '../support/conformance.js'
import { anyEvent } from '../support/random-event.js'
import { PLAIN } from './hatf/bytes.js'
import { random as randomCompact } from './compact/random.js'
import { random as randomMtrace } from './glibc-mtrace/random.js'
import { random as randomHatf } from './hatf/random.js'
import { random as randomHatfAscii } from './hatf-ascii/random.js'
import { random as randomHeapmon } from './heapmon/random.js'
import { random as randomHeaptrack } from './heaptrack/random.js'
import { random as randomKmemtrace } from './kmemtrace/random.js'
import { random as randomMtrc } from './mtrc/random.js'
import { random as randomReplay } from './replay/random.js'

conformance(mtrc, { random: randomMtrc() })
conformance(replay, { random: randomReplay() })
conformance(glibcMtrace, { random: randomMtrace() })
conformance(heaptrack, { random: randomHeaptrack() })
conformance(tracepoints, {})
conformance(valgrind, {})
conformance(ltrace, {})
conformance(recorder, {})
conformance(heapmon, { random: randomHeapmon() })
conformance(hatfAscii, { random: randomHatfAscii() })
conformance(hatf, {
  raw: { fold: false },
  random: randomHatf(),
  encode: { 'records.hatf': PLAIN },
  lookedAhead: ['best.hatf'],
})
const fast = { fast: true }
conformance(compact, {
  random: randomCompact(),
  encode: { 'every-field.hfc': fast, 'raw.hfc': fast, 'two-traces.hfc': fast },
})
conformance(kmemtrace, { random: randomKmemtrace() })
const anything = fc.record({ header: fc.constant({ format: 'any' }), events: fc.array(anyEvent, { maxLength: 20 }) })
conformance(ndjson, { random: anything })
conformance(arrow, { random: anything })

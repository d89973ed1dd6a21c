import { mappingOf } from '../mapping.js'
import { parseDtd } from '../index.js'

/**
 * The records of HATF 1.0 as mpatrol numbers them, in Meta-TF 1.2. Times, threads, heaps and attributes are `default`,
 * because lines cannot represent them.
 */
export const HATF_12 = parseDtd(
  `\
## DTDname: HATF 1.0 in ASCII
## MetaTF: 1.2

int size = none;
int address = none;
int time = default 0;
int thread = default 0;
int heap = default 0;
string attributes = default "";

section heap 1 {
  alloc : { tag, size, address, time, thread, heap, attributes } { tag = 1; }
  free : { tag, address, time, thread, heap, attributes } { tag = 2; }

  // Of the two addresses the first is the old one.
  reallocNoAlloc : { tag, size, address, address, time, thread, heap, attributes } { tag = 3; }
  reallocAllocFree : { tag, size, address, address, time, thread, heap, attributes } { tag = 4; }
  reallocAlloc : { tag, size, address, address, time, thread, heap, attributes } { tag = 5; }
  reallocFree : { tag, size, address, address, time, thread, heap, attributes } { tag = 6; }

  createHeap : { tag, thread, heap, attributes } { tag = 7; }
  destroyHeap : { tag, thread, heap, attributes } { tag = 8; }
  createThread : { tag, thread, attributes } { tag = 9; }
  destroyThread : { tag, thread, attributes } { tag = 10; }
}
`,
  'hatf.dtd',
)

/** The first lines of a trace that was not read from this format. */
export const HEAD = ['DTDURL: hatf.dtd', 'Description: Converted to HATF by heapflow.'] as const

/** The fields that the format can represent. */
export const { carried: CARRIED, writtenAs: WRITTEN_AS } = mappingOf(HATF_12)

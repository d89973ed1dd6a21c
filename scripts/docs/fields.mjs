import { APIS, EVERY_FIELD, GROUPS, KINDS, OUTCOMES } from '../../dist/lib/event/fields.js'
import { kindsWith, LIMITED } from './carried.mjs'
import { code, table } from './markdown.mjs'

/** What each field means, with its unit. A field that is missing here is an error. */
export const MEANINGS = {
  api: 'the function that was called',
  process: 'process id',
  thread: "thread id; a negative one as 64-bit two's complement",
  cpu: 'number of the CPU',
  node: "NUMA node or, in kmemtrace, target CPU; -1 is the CPU's own node",
  sequence: 'sequence number, which wraps from 2147483647 to -2147483648',
  time: "when the call was made, in the header's `timeUnit`",
  endTime: "when the call returned, in the header's `timeUnit`",
  heap: 'the heap that the block is in',
  index: "mpatrol's allocation index of the block",
  address: 'address of the block; of a realloc the new one',
  oldAddress: 'address of the block that a realloc was given',
  size: 'bytes requested in all',
  count: "calloc's number of elements, or the number of pages, of `size / count` bytes each",
  elementSize:
    "calloc's bytes per element, only if `size / count` does not give it: `count` is 0, or the product overflowed",
  alignment: 'alignment asked for, in bytes',
  usable: 'bytes really allocated',
  present: 'resident bytes of the block when it was freed or reallocated; in heaptrack those of the process',
  gfpFlags: "the kernel's allocation flags",
  callSite: 'address of the caller, or its offset in `module` where the format counts from there',
  outcome: 'what a realloc did: the block stayed (`none`), `moved`, is new (`allocated`), or was only `freed`',
  function: 'name of the calling function',
  file: 'name of its source file',
  line: 'line in that file; mpatrol writes 0 where it knows none',
  type: "type of the block; of a kernel's object the name of its cache; `internal` on mpatrol's own reservations",
  stack:
    'the frames of the stack, the innermost first: names of functions, or texts such as `parse at a.c:12 in ' +
    '/usr/bin/app [0x55d0]`',
  text: 'text of a comment',
  attributes: "HATF's attributes, or other bytes carried along",
  code: "the format's own number for the sort of event, where the model has no name for it",
  fields: "values that the model has no field for, by their names in the format's own definition",
  module: 'program or library that the call came from',
  weight: 'how many events like it a sampled event stands for; without the field, for itself alone',
  device: 'number of the GPU; -1 is the host',
  stream: 'stream of the GPU in whose order the memory is used and freed',
  arena: 'name of the allocator that has the block, or of its arena, pool or zone',
}

const FORMS = {
  u64: 'integer, 64 bits unsigned',
  address: 'string, hex',
  u32: 'integer, 32 bits unsigned',
  i32: 'integer, 32 bits signed',
  api: `one of ${APIS.map(code).join(', ')}`,
  outcome: `one of ${OUTCOMES.map(code).join(', ')}`,
  string: 'string',
  bytes: 'string, base64',
  list: 'array of strings',
  json: 'object of integers, strings, lists and objects of these',
}

/** What each group is for. */
const GROUP_MEANINGS = {
  sampling: 'sampled recordings, in which an event stands for several; statistics count the events that were recorded',
  gpu: 'allocators of GPUs',
  arena: 'programs with several allocators, arenas, pools or zones',
  usable: 'what an allocator reserves for a block',
  kernel: 'allocations of a kernel',
  resident: 'samples of resident memory',
  results: 'when calls return, and what a realloc did',
}

/** The table of groups of fields. */
export function groupTable() {
  return table(
    ['group', 'fields', 'for'],
    Object.entries(GROUPS).map(([name, fields]) => {
      if (GROUP_MEANINGS[name] === undefined) throw new Error(`the group ${name} has no meaning in scripts/docs`)
      return [name, fields.map(code).join(', '), GROUP_MEANINGS[name]]
    }),
  )
}

/** The table of all fields of an event, in canonical order. */
export function fieldTable() {
  const rows = EVERY_FIELD.map(({ name, type }) => {
    if (MEANINGS[name] === undefined) throw new Error(`the field ${name} has no meaning in scripts/docs/fields.mjs`)
    const formats = LIMITED.filter(
      (format) => kindsWith(format, name).length > 0 || format.sometimes?.fields.includes(name),
    ).map((format) => format.name)
    return [code(name), FORMS[type], MEANINGS[name], formats.join(', ') || 'none yet']
  })
  return table(
    ['field', 'JSON', 'meaning', 'formats'],
    [[code('kind'), `one of ${KINDS.map(code).join(', ')}`, 'what happened; in every event', 'all'], ...rows],
  )
}

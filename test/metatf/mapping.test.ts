import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { APIS, FIELDS, fieldNames, FieldBit, KINDS, OUTCOMES } from '../../lib/event/fields.js'
import { HATF_12 } from '../../lib/metatf/hatf-ascii/layout.js'
import { parseDtd } from '../../lib/metatf/index.js'
import { mappingOf, type RecordMapping } from '../../lib/metatf/mapping.js'

/** A mapping as text: what each record is, and each of its leaves. */
function show({ record, kind, outcome, api, given, section, leaves }: RecordMapping): string {
  const what = [KINDS[kind], OUTCOMES[outcome], APIS[api]].filter(Boolean).join('/')
  const more = [fieldNames(given & (FieldBit.code | FieldBit.type)).join('+'), section ?? '']
    .filter(Boolean)
    .join(' in ')
  const parts = leaves.slice(1).map(({ leaf, field, role, silent }) => {
    const name = FIELDS[field]?.name ?? (role === 'value' ? '' : role)
    return `${leaf.name}${name === leaf.name ? '' : `=${name || 'fields'}`}${silent ? '?' : ''}`
  })
  return `${record.name}: ${what}${more === '' ? '' : ` (${more})`} ${parts.join(' ')}`.trim()
}

/**
 * The records of a DTD of 1.2 whose fields are all integers, except for those whose names begin with `text`, `type` and
 * `file`.
 */
function mapped(records: string, properties = ''): string[] {
  const names = new Set(records.match(/\{[^{}]*\}\s*\{/g)?.flatMap((list) => list.match(/\w+/g) ?? []))
  const types = [...names]
    .filter((name) => name !== 'tag')
    .map((name) => `${/^(?:text|type|file|s\d)/.test(name) ? 'string' : 'int'} ${name} = none;`)
  return mappingOf(parseDtd(`${types.join('\n')}\n${properties}\n${records}`)).records.map(show)
}

describe('the mapping of records to events', () => {
  it('maps HATF as mpatrol numbers it', () => {
    const tail = 'time? thread? heap? attributes?'
    expect(mappingOf(HATF_12).records.map(show)).toEqual([
      `alloc: alloc size address ${tail}`,
      `free: free address ${tail}`,
      `reallocNoAlloc: realloc/none size address=oldAddress address ${tail}`,
      `reallocAllocFree: realloc/moved size address=oldAddress address ${tail}`,
      `reallocAlloc: realloc/allocated size address=oldAddress address ${tail}`,
      `reallocFree: realloc/freed size address=oldAddress address ${tail}`,
      'createHeap: heap-create thread? heap? attributes?',
      'destroyHeap: heap-destroy thread? heap? attributes?',
      'createThread: thread-create thread? attributes?',
      'destroyThread: thread-destroy thread? attributes?',
    ])
    const { carried, writtenAs } = mappingOf(HATF_12)
    expect(Object.fromEntries(Object.entries(carried).map(([kind, set]) => [kind, fieldNames(set)]))).toEqual({
      alloc: ['address', 'size'],
      existing: ['address', 'size'],
      free: ['address'],
      realloc: ['address', 'oldAddress', 'size', 'outcome'],
      'heap-create': [],
      'heap-destroy': [],
      'thread-create': [],
      'thread-destroy': [],
    })
    expect(writtenAs).toEqual({ existing: ['alloc'] })
  })

  it('maps HATF as the paper defines it, with metadata that can give every field a place', () => {
    const dtd = parseDtd(readFileSync(new URL('../../examples/hatf10.dtd', import.meta.url)))
    const { records, carried } = mappingOf(dtd)
    expect(records.map(show)).toEqual([
      'comment: comment length=counted data=text',
      'alloc: alloc size address time? thread? heap? length=counted data=attributes',
      'realloc: realloc address=oldAddress address time? thread? heap? length=counted data=attributes',
      'free: free address time? thread? heap? length=counted data=attributes',
      'createHeap: heap-create thread? heap? length=counted data=attributes',
      'destroyHeap: heap-destroy thread? heap? length=counted data=attributes',
      'createThread: thread-create thread? length=counted data=attributes',
      'destroyThread: thread-destroy thread? length=counted data=attributes',
    ])
    expect(fieldNames(carried.free as number)).toEqual(['thread', 'time', 'heap', 'address', 'attributes', 'fields'])
  })

  it('compares names without case and underscores, and knows synonyms', () => {
    expect(
      mapped(`
      MALLOC : {tag, Bytes, ptr, thread_id, call_site} { tag = 1; }
      calloc : {tag, nmemb, size, addr} { tag = 2; }
      deallocate : {tag, Pointer, TIMESTAMP, cpu} { tag = 3; }
      delete : {tag, address, type_name, file, lineNumber} { tag = 4; }
      re_alloc : {tag, size, new_ptr, ptr} { tag = 5; }
      remark : {tag, s1} { tag = 6; }
    `),
    ).toEqual([
      'MALLOC: alloc/malloc Bytes=size ptr=address thread_id=thread call_site=callSite',
      'calloc: alloc/calloc nmemb=count size addr=address',
      'deallocate: free Pointer=address TIMESTAMP=time cpu',
      'delete: free/delete address type_name=type file lineNumber=line',
      're_alloc: realloc size new_ptr=address ptr=oldAddress',
      'remark: comment s1=text',
    ])
  })

  it("takes a realloc's addresses in the order old, new, unless their names say otherwise", () => {
    expect(
      mapped(`
      realloc : {tag, address, address, address} { tag = 1; }
      reallocFree : {tag, address} { tag = 2; }
      reallocMoved : {tag, newAddress, oldAddress} { tag = 3; }
      reallocNone : {tag, old, ptr} { tag = 4; }
    `),
    ).toEqual([
      'realloc: realloc address=oldAddress address address=fields',
      'reallocFree: realloc/freed address',
      'reallocMoved: realloc/moved newAddress=address oldAddress',
      'reallocNone: realloc/none old=oldAddress ptr=address',
    ])
  })

  it('leaves in `fields` what has no field, another type, or is repeated, and whole records that are no events', () => {
    expect(
      mapped(
        `
      alloc : {tag, address, weight, type, size, size, thread*time} { tag = 1; }
      free : {tag, weight} { tag = 2; }
      comment2 : {tag, text, thread, time} { tag = 3; }
      lost : {tag, weight} { tag = 4; }
    `,
        'int unused = none;',
      ),
    ).toEqual([
      'alloc: alloc address weight=fields type size size=fields thread=counted time=fields',
      'free: other (type+code) weight=fields',
      'comment2: other (type+code) text=fields thread=fields time=fields',
      'lost: lost weight=fields',
    ])
    const dtd = parseDtd(
      'int type = none; string size = none; int address = none; alloc : {tag, address, type, size} { tag = 1; }',
    )
    expect(mappingOf(dtd).records.map(show)).toEqual(['alloc: alloc address type=fields size=fields'])
  })

  it('tells records that mean the same by their tags, and by their sections if need be', () => {
    expect(
      mapped(`
      section first 1 {
        alloc : {tag, address} { tag = 1; }
        allocate : {tag, address} { tag = 2; }
        x : {tag, size} { tag = 3; }
      }
      section second 2 {
        alloc : {tag, address} { tag = 2; }
        x : {tag, size} { tag = 3; }
        y : {tag, size} { tag = 4; }
      }
    `),
    ).toEqual([
      'alloc: alloc address',
      'allocate: alloc (code in first) address',
      'x: other (type+code in first) size=fields',
      'alloc: alloc (code in second) address',
      'x: other (type+code in second) size=fields',
      'y: other (type+code) size=fields',
    ])
  })

  it('does not take the elements of tables for events', () => {
    expect(
      mapped(`
      section table 1 { element : {tag, address} { tag = 1; } }
      section main 2 { alloc : {tag, pointer, size} { tag = 2; int pointer = sectionStride 1 1; } }
    `),
    ).toEqual(['alloc: alloc pointer=address size'])
  })

  it('gives each value in `fields` a name of its own', () => {
    const dtd = parseDtd(`
      int a = none; int n = none; int m = none; int k = none; int j = none; int a_2 = none;
      pair : {a, n*{a, a}} {}
      x : {tag, a, a, a_2, {a}, pair, other : pair, m, m*a, k*{a, j*a}} { tag = 1; }`)
    const [x] = mappingOf(dtd).records
    expect([...(x as RecordMapping).keys].map(([field, key]) => `${field.kind} ${key}`)).toEqual([
      'leaf a',
      'leaf a_2',
      'leaf a_2_2',
      'composite ',
      'leaf a_3',
      'composite pair',
      'leaf a',
      'repetition n',
      'leaf a',
      'leaf a_2',
      'composite other',
      'leaf a',
      'repetition n',
      'leaf a',
      'leaf a_2',
      'repetition a_4',
      'repetition k',
      'leaf a',
      'repetition a_2',
    ])
  })
})

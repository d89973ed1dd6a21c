import * as Code from '../../../lib/kernel/layouts/hatf.js'
import type { Sink } from '../../../lib/bytes/sink.js'
import { writeField, type FieldStates } from './fields.js'
import { HEAD, metadataLength } from '../../../lib/formats/hatf/layout.js'
import type { Plan } from './plan.js'
import type { Records } from './records.js'

const {
  F_SIZE: SIZE,
  F_ADDRESS: ADDRESS,
  F_TIME: TIME,
  F_THREAD: THREAD,
  F_HEAP: HEAP,
  F_ATTRIBUTES: ATTRIBUTES,
} = Code

/** Writes records and the planned metadata between them; `fields` follows the metadata. */
export function writeRecords(records: Records, plan: Plan, fields: FieldStates, out: Sink): void {
  const { count, tag: tags, size, address, oldAddress, thread, heap, time, dataEnd } = records
  const { bytes: data } = records.data
  const { lengths, width } = fields
  let touched = fields.touched
  let planned = 0
  let planAt = 0
  let next = plan.count > 0 ? plan.before[0] : count
  let dataAt = 0
  for (let r = 0; r < count; r++) {
    while (next === r) {
      const length = metadataLength(plan.sink.bytes, planAt)
      out.append(plan.sink.bytes.subarray(planAt, planAt + length))
      fields.apply(plan.sink.bytes, planAt)
      planAt += length
      touched = fields.touched
      next = ++planned < plan.count ? plan.before[planned] : count
    }
    const tag = tags[r]
    const dataTo = dataEnd[r]
    if (tag === Code.TAG_COMMENT) {
      writeComment(out, data.subarray(dataAt, dataTo))
      dataAt = dataTo
      continue
    }
    out.reserve(lengths[tag] + dataTo - dataAt)
    const { bytes } = out
    let at = out.pos
    bytes[at++] = tag
    if (tag <= Code.TAG_REALLOC_FREED) {
      if (tag !== Code.TAG_FREE) {
        writeField(fields, SIZE, bytes, at, size, 2 * r)
        at += width[SIZE]
        if (tag !== Code.TAG_ALLOC) {
          writeField(fields, ADDRESS, bytes, at, oldAddress, 2 * r)
          at += width[ADDRESS]
        }
      }
      writeField(fields, ADDRESS, bytes, at, address, 2 * r)
      at += width[ADDRESS]
    }
    if ((touched & (1 << THREAD)) !== 0) {
      writeField(fields, THREAD, bytes, at, thread, 2 * r)
      at += width[THREAD]
    }
    if ((touched & (1 << HEAP)) !== 0 && tag < Code.TAG_CREATE_THREAD) {
      writeField(fields, HEAP, bytes, at, heap, 2 * r)
      at += width[HEAP]
    }
    if ((touched & (1 << TIME)) !== 0) {
      writeField(fields, TIME, bytes, at, time, 2 * r)
      at += width[TIME]
    }
    if (width[ATTRIBUTES] !== 0) {
      if (width[ATTRIBUTES] === Code.V2) bytes[at++] = (dataTo - dataAt) >>> 8
      if (width[ATTRIBUTES] >= Code.V1) bytes[at++] = dataTo - dataAt
      while (dataAt < dataTo) bytes[at++] = data[dataAt++]
    }
    out.pos = at
  }
}

/** Writes a comment record. */
export function writeComment(out: Sink, text: Uint8Array): void {
  out.reserve(HEAD)
  out.bytes[out.pos++] = Code.TAG_COMMENT
  out.bytes[out.pos++] = 0
  out.bytes[out.pos++] = text.length >>> 8
  out.bytes[out.pos++] = text.length
  out.append(text)
}

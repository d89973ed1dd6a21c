/** The JSON text of an event's `fields`. */

import { escape, isPlain } from '../shared/json'
import { intern } from '../shared/strings'
import { command, commandLength, processAt, processLength } from './head'
import { oldName, oldNameLength } from './name'
import { accounted, flagsAt, flagsLength, hasMigrateType, migrateType, offsetAt, offsetLength } from './values'

const JSON_TEXT: usize = memory.data(65_600)

/** Appends a text and its closing quotation mark. @returns one past it */
// @ts-ignore: decorator
@inline
function appendText(out: usize, from: usize, length: u32): usize {
  if (isPlain(from, length)) {
    for (let n: usize = 0; n < length; n += 16) v128.store(out + n, v128.load(from + n))
    out += length
  } else {
    out = escape(from, length, out)
  }
  store<u8>(out, 0x22)
  return out + 1
}

const COMMAND_KEY: usize = memory.data<u8>([0x2c, 0x22, 0x63, 0x6f, 0x6d, 0x6d, 0x22, 0x3a, 0x22, 0, 0, 0, 0, 0, 0, 0])
/** `,"tgid":` */
const PROCESS_KEY: usize = memory.data<u8>([0x2c, 0x22, 0x74, 0x67, 0x69, 0x64, 0x22, 0x3a, 0, 0, 0, 0, 0, 0, 0, 0])
const OFFSET_KEY: usize = memory.data<u8>([
  0x2c, 0x22, 0x6f, 0x66, 0x66, 0x73, 0x65, 0x74, 0x22, 0x3a, 0x22, 0, 0, 0, 0, 0,
])
const FLAGS_KEY: usize = memory.data<u8>([
  0x2c, 0x22, 0x67, 0x66, 0x70, 0x5f, 0x66, 0x6c, 0x61, 0x67, 0x73, 0x22, 0x3a, 0x22, 0, 0,
])
const ACCOUNTED_KEY: usize = memory.data<u8>([
  0x2c, 0x22, 0x61, 0x63, 0x63, 0x6f, 0x75, 0x6e, 0x74, 0x65, 0x64, 0x22, 0x3a, 0, 0, 0,
])
const MIGRATE_KEY: usize = memory.data<u8>([
  0x2c, 0x22, 0x6d, 0x69, 0x67, 0x72, 0x61, 0x74, 0x65, 0x74, 0x79, 0x70, 0x65, 0x22, 0x3a, 0,
])
const EVENT_KEY: usize = memory.data<u8>([0x2c, 0x22, 0x65, 0x76, 0x65, 0x6e, 0x74, 0x22, 0x3a, 0x22, 0, 0, 0, 0, 0, 0])

/** The id of the text of `fields`, or -1 if there are none. */
export function fieldsText(): i32 {
  // The first comma is overwritten by the opening brace.
  let out = JSON_TEXT
  if (commandLength != 0) {
    v128.store(out, v128.load(COMMAND_KEY))
    out = appendText(out + 9, command, commandLength)
  }
  if (processLength != 0) {
    v128.store(out, v128.load(PROCESS_KEY))
    memory.copy(out + 8, processAt, processLength)
    out += 8 + processLength
  }
  if (oldName != 0) {
    v128.store(out, v128.load(EVENT_KEY))
    out = appendText(out + 10, oldName, oldNameLength)
  }
  if (offsetLength != 0) {
    v128.store(out, v128.load(OFFSET_KEY))
    out = appendText(out + 11, offsetAt, offsetLength)
  }
  if (flagsLength != 0) {
    v128.store(out, v128.load(FLAGS_KEY))
    out = appendText(out + 14, flagsAt, flagsLength)
  }
  if (accounted != 2) {
    v128.store(out, v128.load(ACCOUNTED_KEY))
    store<u8>(out + 13, <u8>(0x30 + accounted))
    out += 14
  }
  if (hasMigrateType) {
    v128.store(out, v128.load(MIGRATE_KEY))
    out += 15
    let divisor: u64 = 1
    while (migrateType / divisor >= 10) divisor *= 10
    for (; divisor > 0; divisor /= 10) store<u8>(out++, <u8>(0x30 + ((migrateType / divisor) % 10)))
  }
  if (out == JSON_TEXT) return -1
  store<u8>(JSON_TEXT, 0x7b)
  store<u8>(out, 0x7d)
  return <i32>intern(JSON_TEXT, <u32>(out + 1 - JSON_TEXT))
}

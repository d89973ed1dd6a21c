/** The name of a function that was called, where the model's names of functions do not tell it. */

import { intern } from './strings'

/** `{"call":"` and what is behind it. */
const JSON_TEXT: usize = memory.data<u8>([0x7b, 0x22, 0x63, 0x61, 0x6c, 0x6c, 0x22, 0x3a, 0x22])
const ROOM: usize = memory.data(320)

/** The id of `{"call":"NAME"}`. The name has up to 255 bytes, none of which needs an escape. */
export function calledText(name: usize, length: u32): u32 {
  memory.copy(ROOM, JSON_TEXT, 9)
  memory.copy(ROOM + 9, name, length)
  store<u16>(ROOM + 9 + length, 0x7d22)
  return intern(ROOM, length + 11)
}

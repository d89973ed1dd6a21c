import type { CallSource } from '../event-writer.js'
import type { Random } from '../random.js'
import { Larson } from './larson.js'
import { Mstress } from './mstress.js'
import type { ModelName } from './names.js'
import { RandomCalls } from './random.js'
import { Sh6bench } from './sh6bench.js'
import { Xmalloc } from './xmalloc.js'

const SOURCES: Readonly<Record<ModelName, new (random: Random, threads: number, scale: number) => CallSource>> = {
  mstress: Mstress,
  larson: Larson,
  random: RandomCalls,
  sh6bench: Sh6bench,
  xmalloc: Xmalloc,
}

/** The calls of a benchmark. @param scale multiplies the live set */
export function callsOf(model: ModelName, random: Random, threads: number, scale: number): CallSource {
  return new SOURCES[model](random, threads, scale)
}

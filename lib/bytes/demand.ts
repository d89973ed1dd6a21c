/**
 * What a stage asks of the source of its chunks. The source states it with each chunk (`state`). A stage finds it by
 * the chunk, so nothing between them has to know of it, and chunks that were made of others, such as inflated ones,
 * have none.
 */
export class Demand {
  /**
   * Where the next bytes belong, if the stage knows how many it needs before it can give anything: so a message is not
   * made of many chunks, each of which has to pass through everything between source and stage, and is not copied once
   * more. The source may wait until all of it is filled, and gives what it filled as the next chunk; it clears this.
   * Its memory is not that of a whole chunk of `newChunk`, which could be recycled.
   */
  target: Uint8Array<ArrayBuffer> | undefined
}

const demands = new WeakMap<Uint8Array, Demand>()

/** Lets the stage that receives a chunk say what it needs next. */
export function state(chunk: Uint8Array, demand: Demand): Uint8Array {
  demands.set(chunk, demand)
  return chunk
}

/** The demand of the source of a chunk, if it has one. */
export function demandOf(chunk: Uint8Array): Demand | undefined {
  return demands.get(chunk)
}

import { Records, type Block, type LiveBlocks, type NewBlock } from '../classes.js'

/** Blocks in the order of their births, and the place of the one that ended last. */
export class Row {
  readonly blocks: Block[] = []
  place = 0

  get newest(): Block | undefined {
    return this.blocks.at(-1)
  }

  /** The next younger and the next older block from the place. */
  get younger(): Block | undefined {
    return this.blocks[this.place]
  }

  get older(): Block | undefined {
    return this.blocks[this.place - 1]
  }

  remove(block: Block): void {
    this.place = this.blocks.indexOf(block)
    this.blocks.splice(this.place, 1)
  }
}

/** The live blocks: by address, by birth, by class and by site. */
export class BestBlocks implements LiveBlocks {
  readonly #byKey = new Map<bigint, Block>()
  readonly #byNumber = new Map<number, Block>()
  readonly #classes = new Map<number, Row>()
  readonly #sites = new Map<number, Row>()
  readonly records = new Records()
  births = 0

  /** The blocks of a class; of class 0, all. */
  class(number: number): Row {
    return rowOf(this.#classes, number)
  }

  /** The blocks of the sites with these lower bits. */
  site(site: number): Row {
    return rowOf(this.#sites, site & 0xffff)
  }

  /** The live block of a record. */
  ofRecord(record: number | undefined): Block | undefined {
    return record === undefined ? undefined : this.records.blocks[record]
  }

  /** The live block that an event's number made. */
  madeBy(number: number): Block | undefined {
    return this.#byNumber.get(number)
  }

  #rows(block: Block): Row[] {
    return [this.class(0), this.class(block.class), this.site(block.site)]
  }

  add(block: NewBlock): Block {
    const before = this.#byKey.get(block.key)
    if (before !== undefined) this.end(before)
    const record = this.records.next()
    const added: Block = { ...block, birth: ++this.births, position: 0, record }
    this.records.blocks[record] = added
    this.#byKey.set(block.key, added)
    this.#byNumber.set(block.made, added)
    this.#rows(added).forEach((row) => row.blocks.push(added))
    return added
  }

  end(block: Block): void {
    this.#byKey.delete(block.key)
    this.#byNumber.delete(block.made)
    this.records.end(block)
    this.#rows(block).forEach((row) => row.remove(block))
  }
}

function rowOf(rows: Map<number, Row>, number: number): Row {
  let row = rows.get(number)
  if (row === undefined) rows.set(number, (row = new Row()))
  return row
}

import type { EventBatch } from '../event/batch.js'
import { unencodable } from '../event/error.js'
import { Api, FieldBit } from '../event/fields.js'
import type { Carried } from '../event/losses.js'
import { Losses } from '../kernel/losses.js'
import { Collisions } from './collisions.js'

const { process: HAS_PROCESS, api: HAS_API } = FieldBit
const { kmalloc: KMALLOC, pages: PAGES } = Api

/**
 * The losses of a format that identifies blocks by their addresses. If it cannot represent processes, blocks of two
 * processes at one address would become one block, and so would a kernel's pages and an object in them. So the first
 * event that a reader would assign to another block is an error, even without strict mode.
 */
export class AddressedLosses extends Losses {
  private readonly collisions: Collisions
  private collision = -1

  /**
   * @param told the set of the fields `process` and `api` by which the format separates address spaces
   * @param rest as for `Losses`
   */
  constructor(told: number, ...rest: ConstructorParameters<typeof Losses>) {
    super(...rest)
    this.collisions = new Collisions(told)
  }

  override beginBatch(batch: EventBatch): number {
    const collision = this.collisions.find(batch)
    this.collision = collision < batch.count ? collision : -1
    return Math.min(collision, super.beginBatch(batch))
  }

  override dispose(): void {
    this.collisions.dispose()
  }

  override errorFor(batch: EventBatch, i: number): Error {
    if (i !== this.collision) return super.errorFor(batch, i)
    const { unclear } = this.collisions
    if (unclear !== undefined) return unclear.at(this.position(i))
    const what = isOfProcess(batch, i)
      ? 'the format has no processes, and another has a block at this address: use hf-split --by process first'
      : 'the format has no api, and this address has pages and an object in them: ' +
        'use hf-split --by api --lifetimes first'
    return unencodable(what, this.position(i))
  }
}

/** The set of `process` and `api`, if a format carries these on all events of blocks. */
export function spacesTold(carried: Carried): number {
  const { alloc = 0, free = 0 } = carried
  return alloc & free & (HAS_PROCESS | HAS_API)
}

/** Whether event i collides with a block of another process, not with one of the kernel. */
function isOfProcess({ mask, api }: EventBatch, i: number): boolean {
  const fields = mask[i]
  if ((fields & HAS_API) === 0 || api[i] < KMALLOC) return true
  return (fields & HAS_PROCESS) !== 0 && api[i] !== PAGES
}

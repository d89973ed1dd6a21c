/** A thread. */
@unmanaged
export class Thread {
  id: u64
  process: u64
  /** Which of the fields thread and process its events have, as bits of a mask. */
  fields: u32
  /** The last six symbols, the newest first, and hashes of the newest two, three and six. */
  s1: u32
  s2: u32
  s3: u32
  s4: u32
  s5: u32
  s6: u32
  h2: u32
  h3: u32
  h6: u32
  /** The expected next event, the one that followed the same symbols earlier (the match); 0 if there is none. */
  match: u32
  /** The number of consecutive correct symbols of the match, and the correctness of the newest ones, as bits. */
  matched: u32
  misses: u32
  /** The thread's last event, and whether the event after the match was of another thread. */
  last: u32
  isSwitch: u32
  /** The birth number of the block that it freed last. */
  freed: u32
  address: u64
  cpu: u32
  /**
   * From here on, for the best level: hashes of its newest four and five symbols, and the number of consecutive frees.
   */
  h4: u32
  h5: u32
  frees: u32
  /**
   * The candidates that were recently right, five bits each, and whether the match was wrong about a block, as bits.
   */
  winners: u32
  wrongBlocks: u32
  /** Of the block that it freed last: its class, the event that allocated it, and its neighbours at that time. */
  freedClass: u32
  freedMade: u32
  freedYounger: u32
  freedOlder: u32
  freedSiteYounger: u32
  /** The distance between the births of the last two blocks that it freed, and of the two before. */
  step: u32
  stepBefore: u32
}

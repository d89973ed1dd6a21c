/** How comments of heapflow's recorder begin that concern the whole recording. */
export const ENDED_BY = 'ended by '
export const ATTACHED = 'attached to a process that had run for '

/** What such a comment tells readers of the recording; undefined for other comments. */
export function recordingNote(comment: string): string | undefined {
  if (comment.startsWith(ENDED_BY)) return `the program was ${comment}`
  if (!comment.startsWith(ATTACHED)) return undefined
  return (
    `the recording began when the program had run for ${comment.slice(ATTACHED.length)}: of its blocks from before, ` +
    'it has those that were freed or resized since'
  )
}

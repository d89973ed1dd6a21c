/** The maximum number of bytes of a line with an event. Others are skipped, however long. */
export const MAX_LINE = 8192

/** How the times of a trace are written: no line has had one yet; in seconds; as ticks of some clock. */
export const NO_STYLE = 0
export const SECONDS = 1
export const TICKS = 2
/** How far behind an event without a time the first time may be, in bytes, that says how times are written. */
export const TIME_WITHIN = 65_536
/** The maximum number of frames of a stack, and of the bytes of its lines. What follows is skipped. */
export const MAX_FRAMES = 512
export const MAX_STACK = 65_536
/**
 * What a trace has: stacks that begin with lines of their own, so that lines of other CPUs may be between an event and
 * its stack; frames as ftrace writes them; and frames as perf does, whose stacks end with an empty line.
 */
export const APART = 1
export const FTRACE = 2
export const PERF = 4
/** Events that wait for their stacks are given without them when the lines since the first have this many bytes. */
export const MAX_HELD = 131_072

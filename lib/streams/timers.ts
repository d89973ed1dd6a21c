import timers from 'node:timers'

/**
 * Node's own timers. Programs under test replace the global ones by timers that do not run by themselves, and streams
 * would wait for them.
 */
export const { clearImmediate, setImmediate, setTimeout } = timers

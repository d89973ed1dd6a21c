import * as fzstd from 'fzstd'

// What the bundler puts in place of node:module: of what the library requires when it is needed, only fzstd is here.

/** Makes a function that gives fzstd, whatever it is asked for. */
export function createRequire(): () => typeof fzstd {
  return () => fzstd
}

/*
 * The files for other tools that a profile can be written as: data, for which no writer needs to be loaded.
 */

/** A file for other tools. */
export interface ProfileFormatInfo {
  readonly name: string
  /** The programs that read it. */
  readonly title: string
  /** The endings of such files' names. */
  readonly endings: readonly string[]
  /** Whether it is binary, and always compressed with gzip. */
  readonly binary?: true
  /** Whether the format determines the figures, so that no moment and no figure can be chosen. */
  readonly fixed?: true
  /** Whether it has no stacks, so that no frames can be chosen. */
  readonly stackless?: true
  /** Whether it is for flame graphs, in which the lines of a function are one frame unless lines are requested. */
  readonly joinsLines?: true
}

/** See `ProfileFormatInfo`. */
export const PROFILE_FORMATS = [
  {
    name: 'pprof',
    title: 'go tool pprof, Parca, Pyroscope, Perfetto',
    endings: ['.pb.gz', '.pb', '.pprof'],
    binary: true,
  },
  {
    name: 'collapsed',
    title: 'flamegraph.pl, inferno, speedscope, Firefox',
    endings: ['.collapsed', '.folded', '.collapsedstack.txt'],
    joinsLines: true,
  },
  { name: 'speedscope', title: 'speedscope', endings: ['.speedscope.json'], joinsLines: true },
  { name: 'dhat', title: "valgrind's dh_view.html, Firefox", endings: ['.dhat.json', '.dhat'], fixed: true },
  { name: 'massif', title: 'ms_print, massif-visualizer', endings: ['.massif'], fixed: true },
  { name: 'chrome', title: 'Perfetto, chrome://tracing', endings: ['.trace.json'], fixed: true, stackless: true },
] as const satisfies readonly ProfileFormatInfo[]

/** The name of a file for other tools. */
export type ProfileFormatName = (typeof PROFILE_FORMATS)[number]['name']

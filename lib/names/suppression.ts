/** Whether a frame fits a part of a rule. */
export type FramePattern = (frame: SuppressibleFrame) => boolean

/** The rules for leaks that are known, and not reported. */
export interface Suppression {
  /** The line of the rule, or the name that it has. */
  readonly name: string
  /** The rule as files of rules have it. */
  readonly text: string
  /** The patterns: the rule holds for a stack if each of them matches some frame. */
  readonly needs: readonly FramePattern[]
  /** Whether it holds for every stack with frames that fit `needs`. */
  readonly isAnyFrame: boolean
  /** Whether it holds for a stack, innermost frame first. */
  matches(frames: readonly SuppressibleFrame[]): boolean
}

/** The data that rules compare. */
export interface SuppressibleFrame {
  readonly function?: string
  readonly file?: string
  readonly module?: string
  /** The form of the function that is compared with names that were demangled elsewhere. */
  readonly comparable?: string
}

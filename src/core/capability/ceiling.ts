import type { Pid } from '../process/pid.ts'
import type { Rule } from './rule.ts'

/** The most that a process and everything below it may do, given when it was registered from outside. Always closed. */
export interface Ceiling {
  /** The process that it was given to. */
  readonly givenTo: Pid
  readonly rules: readonly Rule[]
}

/** The ceilings of a new process: those of its parent, so that none is lost however deep the tree grows, and its own. */
export function ceilingsOf(parent: readonly Ceiling[], own: Ceiling | null): readonly Ceiling[] {
  return own === null ? parent : [...parent, own]
}

import { existsSync } from 'node:fs'
import { type TestContext, type TestOptions, test } from 'vitest'

/** Shared reasons with one wording each, so that the summary counts them together. */
export const NEEDS_CGROUP = 'needs a cgroup v2 that this user may divide'
export const NEEDS_MOUNT = 'needs the right to mount a small disk'
export const NEEDS_PRLIMIT = 'needs prlimit'
export const NEEDS_ROOT = 'needs root'
export const NEEDS_USER_NAMESPACE = 'needs the right to make a user namespace (unshare)'

/** Sets resource limits of another program. */
export const hasPrlimit = existsSync('/usr/bin/prlimit') || existsSync('/bin/prlimit')

/** Registers tests with a requirement; without it they are skipped with `reason`. */
export function testIf(isThere: boolean, reason: string) {
  return (name: string, run: (context: TestContext) => void | Promise<void>, options: TestOptions = {}) =>
    test(name, options, (context) => {
      context.skip(!isThere, reason)
      return run(context)
    })
}

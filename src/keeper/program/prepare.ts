import { messageOf } from '../../base/error-text.ts'
import { descriptorLimitOf, openDescriptorsOf, RESERVED_DESCRIPTORS } from '../../os/descriptors.ts'
import type { SpawnPlan } from '../protocol/spawn-plan.ts'
import { FailedStart } from './check-spawn-plan.ts'
import { loadPtyLibrary, type PtyLibrary } from './fork-with-pty.ts'
import type { ProgramContext } from './program-context.ts'

/** Everything asynchronous, prepared before the intent, so that the start itself is synchronous. */
export interface Prepared {
  readonly pty: PtyLibrary | null
  readonly failure: FailedStart | null
  /** Whether the next fork, which must follow at once, may have a cgroup of its own. */
  readonly hasTurn: boolean
}

export async function prepare(context: ProgramContext, plan: SpawnPlan): Promise<Prepared> {
  try {
    checkDescriptors()
    const pty = plan.pty === null ? null : await ptyLibrary()
    if (pty === null && (plan.output !== 'direct' || plan.stdin === 'pipe')) await fifosReady(context)
    // Last: a turn is over with the next turn of the event loop.
    const isReady = await standsAlone(context)
    return { pty, failure: null, hasTurn: isReady && plan.tree === 'auto' }
  } catch (error) {
    if (error instanceof FailedStart) return { pty: null, failure: error, hasTurn: false }
    throw error
  }
}

/**
 * The descriptors that are left are reserved for ends. A daemon counts them, too, and refuses a command before the reserve is
 * touched; descriptors that the keeper opens for a moment may use a part of it.
 */
function checkDescriptors(): void {
  const limit = descriptorLimitOf('self')
  if (limit === null || limit >= PLENTY) return
  const open = openDescriptorsOf('self')
  if (open === null || limit - open >= RESERVED_DESCRIPTORS / 2) return
  throw new FailedStart(
    `The keeper has ${open} of ${limit} files open, and the rest are kept for ending what runs.`,
    'End some programs, or raise the limit (ulimit -n) and start daemon and keeper again.',
  )
}

/** With this many, no count is needed: no daemon starts so many programs. */
const PLENTY = 100_000

async function fifosReady({ fifos }: ProgramContext): Promise<void> {
  try {
    await fifos.ready()
  } catch (error) {
    throw new FailedStart(
      `A pipe for it can't be made: ${messageOf(error)}.`,
      'Reeve needs the program mkfifo, and space on disk.',
    )
  }
}

async function ptyLibrary(): Promise<PtyLibrary> {
  try {
    return await loadPtyLibrary()
  } catch (error) {
    throw new FailedStart(
      `There is no terminal to be had: the package @lydell/node-pty can't be loaded (${messageOf(error)}).`,
      'Install again with optional dependencies (npm ci --include=optional), or run it without a terminal.',
    )
  }
}

/**
 * A fork starts in the keeper's current leaf, even if the program gets no leaf of its own: in a used leaf it would be ended
 * together with another program. False without cgroups.
 */
async function standsAlone({ cgroups }: ProgramContext): Promise<boolean> {
  if (cgroups === null) return false
  try {
    await cgroups.ready()
    return true
  } catch (error) {
    throw new FailedStart(
      `It would have shared a cgroup with another program: ${messageOf(error)}.`,
      'Try again. If it stays so, look at the cgroups of this machine: they cannot be changed any more.',
    )
  }
}

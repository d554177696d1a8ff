import type { Retention } from '../actions/retention.ts'
import type { Commands } from '../command/commands.ts'
import type { ExternalProcesses } from '../external/external-processes.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { OpenedAgents } from './agents.ts'
import type { Anchoring } from './anchoring.ts'

/** The parts of an embedded kernel that start and close in an order. */
export interface EmbeddedParts {
  readonly kernel: Kernel
  readonly commands: Commands | undefined
  readonly agents: OpenedAgents
  readonly externals: ExternalProcesses
  readonly retention: Retention
  readonly anchoring: Anchoring | undefined
}

const TIDY_MS = 60_000
const PRUNE_MS = 600_000
const BOOT_MS = 2_000

/** Starts the parts. If one of them fails, those that hold something outside of this program are closed again. */
export async function startAll(parts: EmbeddedParts, pruneMs: number = PRUNE_MS): Promise<void> {
  const { kernel, commands, agents, externals, retention, anchoring } = parts
  try {
    await anchoring?.begin()
    commands?.serve(kernel)
    await commands?.refuseWrongStore(kernel)
    await commands?.passed.sweep(kernel)
    await commands?.inherited.sweep(kernel)
    await kernel.start()
    await settledAtBoot(kernel)
    agents.toolbox.start()
    await agents.worktrees?.start()
    await externals.start()
    await commands?.clearStrays(kernel)
    commands?.upkeep.start(kernel, TIDY_MS)
    retention.start(pruneMs)
  } catch (error) {
    await commands?.close()
    await anchoring?.close()
    throw error
  }
}

/** Closes the parts. `leave` releases the store and the lock, even if the kernel could not hand everything back. */
export async function closeAll(
  parts: EmbeddedParts,
  { keep, leave }: { readonly keep: boolean; readonly leave: () => Promise<void> },
): Promise<void> {
  const { kernel, commands, agents, externals, retention, anchoring } = parts
  agents.toolbox.close()
  await agents.worktrees?.close()
  await retention.close()
  try {
    await externals.close()
    await kernel.close(keep)
    await agents.servers.close()
    await commands?.close()
  } finally {
    await anchoring?.close()
    await leave()
  }
}

/** Processes that ended while no daemon ran are on record before the first call. An unwritable store takes their ends later. */
async function settledAtBoot(kernel: Kernel): Promise<void> {
  const { completed, abandoned } = kernel.boot
  const known = [...completed, ...abandoned].map((pid) => kernel.waits.forEnd(pid, { timeoutMs: BOOT_MS }))
  await Promise.all(known)
}

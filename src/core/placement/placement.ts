import type { Holder } from '../lease/holder.ts'
import type { Pid } from '../process/pid.ts'
import type { Kind } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'

/**
 * Where a process is executed: on a host, by its name, or in a program with a data folder, by the id of that folder.
 * Null in a record: at any holder that serves it.
 */
export type Placement = `host:${string}` | `folder:${string}`

/** The placement that a registration asks for; `parent`: where its parent is placed. */
export type PlacementRequest = Placement | 'parent'

/** The placements of these holders, which are one program: their host, and the data folders of keepers. */
export function placementsOf(
  holders: readonly Pick<Holder, 'role' | 'host' | 'incarnation'>[],
): readonly Placement[] {
  const placements = new Set<Placement>()
  for (const { role, host, incarnation } of holders) {
    if (host !== '') placements.add(`host:${host}`)
    if (role === 'keeper') placements.add(`folder:${incarnation}`)
  }
  return [...placements]
}

/** The host among the placements of one program; null if it has no name. */
export function hostIn(placements: readonly Placement[]): string | null {
  const host = placements.find((placement) => placement.startsWith('host:'))
  return host === undefined ? null : host.slice('host:'.length)
}

/** Whether a program at these placements may execute a process of this placement. */
export function isPlacedAt(placement: Placement | null, here: readonly Placement[]): boolean {
  return placement === null || here.includes(placement)
}

/**
 * | asked for       | placement                                                     |
 * | a host, a folder | that                                                         |
 * | `parent`        | its parent's; if that has none, as if nothing was asked for    |
 * | nothing         | a command: the data folder where it was asked for, else its parent's placement; others: none |
 *
 * A command that is registered by a program without a data folder may run in any data folder.
 */
export function resolvePlacement(
  asked: PlacementRequest | undefined,
  kind: Kind,
  parent: Placement | null,
  here: readonly Placement[],
): Placement | null {
  if (asked !== undefined && asked !== 'parent') return asked
  if (asked === 'parent' && parent !== null) return parent
  if (kind !== 'command') return null
  return here.find((placement) => placement.startsWith('folder:')) ?? parent
}

export function refusePlacement(
  request: { readonly placement?: PlacementRequest; readonly parent?: Pid; readonly kind: Kind },
  pid: Pid,
): Refusal | undefined {
  if (request.placement === undefined) return undefined
  if (request.kind === 'external')
    return refusal(
      'invalid_input',
      'An external process runs elsewhere and has no placement here.',
      'Leave placement out.',
      { field: 'placement' },
    )
  if (request.placement !== 'parent' || request.parent !== undefined) return undefined
  return refusal(
    'invalid_input',
    `The placement of ${pid} is where its parent is, and it has no parent.`,
    'Name a parent, a host (host:…) or a data folder (folder:…), or leave placement out.',
    { field: 'placement' },
  )
}

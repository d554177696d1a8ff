import type { Pid } from '../process/pid.ts'
import type { ProcessRecord } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'
import {
  coveringPath,
  type DelegatedPaths,
  delegatedPaths,
  type Lien,
  type Liens,
  MAX_LIENS,
  MAX_PATHS,
  overlappingPath,
} from './lien.ts'
import { shownPath } from './shown-path.ts'

/** Facts about an agent that is to get paths, from its transaction. */
export interface LendingFacts {
  /** The row of the host as it is stored. */
  readonly row: Liens | null
  /** Those above the agent, the nearest first: its parent, and the parents of that. */
  readonly above: readonly ProcessRecord[]
  /** Processes whose ends are a part of the same transaction. */
  readonly ending: ReadonlySet<Pid | undefined>
}

/**
 * Whether an agent may get these paths from the one above it. That one must be able to write them: below its own paths, if it has such,
 * and not lent to others. Liens of those above it are no obstacle: theirs are lent further.
 */
export function refuseLending(
  { row, above, ending }: LendingFacts,
  { paths, foldsCase }: DelegatedPaths,
): Refusal | undefined {
  const others = (row?.liens ?? []).filter(({ holder }) => !ending.has(holder))
  const cwd = above[0]?.cwd ?? null
  if (paths.length > MAX_PATHS || others.length >= MAX_LIENS)
    return refusal(
      'limit_exceeded',
      `An agent may get ${MAX_PATHS} paths, and ${MAX_LIENS} agents of a host may have paths at once.`,
      'Name a folder instead of its files, or wait until other agents have ended.',
      { limit: 'paths', left: 0, asked: paths.length },
    )
  const line = new Set(above.map(({ pid }) => pid))
  for (const path of paths) {
    const outside = refuseOutside(above, others, path)
    if (outside !== undefined) return outside
    for (const lien of others) {
      if (line.has(lien.holder)) continue
      const held = overlappingPath(lien, path, foldsCase === true)
      if (held !== undefined) return heldBy(lien, held, path, cwd)
    }
  }
  return undefined
}

/** The nearest agent with paths of its own can lend below these only, and only while it has them. */
function refuseOutside(
  above: readonly ProcessRecord[],
  liens: readonly Lien[],
  path: string,
): Refusal | undefined {
  const bound = above.find((record) => delegatedPaths(record) !== null)
  if (bound === undefined) return undefined
  const own = liens.find(({ holder }) => holder === bound.pid)
  if (own !== undefined && coveringPath(own, path) !== undefined) return undefined
  const { pid, cwd } = bound
  const paths = delegatedPaths(bound)?.paths ?? []
  return refusal(
    'path_held',
    `${pid} may write below ${paths.map((one) => shownPath(one, cwd)).join(', ')} only, so it cannot lend ${shownPath(path, cwd)}.`,
    'Name paths that it may write.',
    { path, holder: pid },
  )
}

export function heldBy({ holder, name }: Lien, held: string, path: string, cwd: string | null): Refusal {
  const shown = shownPath(held, cwd)
  const what = held === path ? '' : `, so ${shownPath(path, cwd)} is not free`
  return refusal(
    'path_held',
    `${holder} (${name}) has ${shown} until it ends${what}.`,
    'Wait for its report, or write elsewhere.',
    { path: held, holder },
  )
}

/** The row with one more lien. */
export function withLien(row: Liens | null, host: string, lien: Lien): Liens {
  return { host, liens: [...(row?.liens ?? []), lien] }
}

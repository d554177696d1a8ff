import { hasEnded, type ProcessRecord } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'
import { coveringPath, delegatedPaths, type Liens } from './lien.ts'
import { heldBy } from './refuse-lending.ts'
import { shownPath } from './shown-path.ts'

/**
 * Whether an agent may write a file. `line`: the agent and those above it, the nearest first.
 *
 * | the nearest of the line with paths | others have a lien on the file | it may write |
 * | none                               | no                             | yes |
 * | has its lien, the file is below    | no                             | yes |
 * | any                                | yes: lent to them, or never its own | no |
 * | has its lien, the file is not below | –                             | no |
 * | has ended: its lien went back      | –                              | no |
 */
export function refuseWrite(
  row: Liens | null,
  line: readonly ProcessRecord[],
  path: string,
): Refusal | undefined {
  const cwd = line[0]?.cwd ?? null
  const liens = row?.liens ?? []
  const above = new Set(line.map(({ pid }) => pid))
  const others = liens.flatMap((lien) => {
    const held = above.has(lien.holder) ? undefined : coveringPath(lien, path)
    return held === undefined ? [] : [{ lien, held }]
  })
  // The longest path is that of the one who may write.
  const [holder] = others.sort((a, b) => b.held.length - a.held.length)
  if (holder !== undefined) return heldBy(holder.lien, holder.held, path, cwd)
  const bound = line.find((record) => delegatedPaths(record) !== null)
  const paths = bound === undefined ? null : delegatedPaths(bound)
  if (bound === undefined || paths === null) return undefined
  const own = liens.find((lien) => lien.holder === bound.pid)
  if (own === undefined || hasEnded(bound))
    return refusal(
      'path_held',
      `${bound.pid} has ended, and its paths are those of its parent again.`,
      'Stop: the work is over.',
      { path },
    )
  if (coveringPath(own, path) !== undefined) return undefined
  return refusal(
    'path_held',
    `You may write below ${own.paths.map((one) => shownPath(one, cwd)).join(', ')} only, and ${shownPath(path, cwd)} is outside.`,
    'Write below your paths, and tell your parent what else has to change.',
    { path },
  )
}

import { isDead } from '../core/lease/holder.ts'
import type { Refusal } from '../core/refusal.ts'
import { builtInName } from '../core/tool/built-in-name.ts'
import { refuseUnknownTools } from '../core/tool/unknown-tools.ts'
import type { Edges } from '../kernel/edges.ts'

/** The tools that live programs serve now, and whether a request for an agent names others. */
export async function refuseUnknown(
  edges: Edges,
  asked: readonly string[] | undefined,
): Promise<Refusal | undefined> {
  if (asked === undefined || asked.length === 0) return undefined
  const served = (await edges.store.ask({ ask: 'holders' }))
    .filter((holder) => !isDead(holder, edges.prove(holder)))
    .flatMap(({ serves }) => serves)
    .filter(({ kind }) => kind === 'tool')
  // A program that serves every tool may have this one.
  if (served.some(({ targets }) => targets === null)) return undefined
  const targets = served.flatMap(({ targets: names }) => names ?? [])
  return refuseUnknownTools(asked, new Set(targets.map((name) => builtInName(name) ?? name)))
}

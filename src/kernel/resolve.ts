import { visibilityOf } from '../core/authority/visibility.ts'
import { RefusedError } from '../core/errors.ts'
import type { Filter } from '../core/process/filter.ts'
import { isPid, isPidPrefix, type Pid } from '../core/process/pid.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import type { Edges } from './edges.ts'

const CANDIDATES = 10

/**
 * Resolves a whole pid, an unambiguous prefix of one, or a name: the newest live process of that name that the actor can
 * see, or the newest ended one if none lives.
 */
export async function resolve(edges: Edges, actor: Actor, text: string): Promise<Pid> {
  if (isPid(text)) return text
  if (isPidPrefix(text)) return fromPrefix(edges, actor, text)
  for (const owned of reachOf(actor)) {
    const found =
      (await newestNamed(edges, actor, text, owned)) ??
      (await newestNamed(edges, actor, text, { ...owned, status: 'any' }))
    if (found !== undefined) return found
  }
  throw new RefusedError(unknown(text))
}

/** The newest live process of this name that the actor can see. */
export async function liveNamed(edges: Edges, actor: Actor, name: string): Promise<Pid | undefined> {
  for (const owned of reachOf(actor)) {
    const found = await newestNamed(edges, actor, name, owned)
    if (found !== undefined) return found
  }
  return undefined
}

/** A session searches its own processes first: other sessions may have used the name often since. */
function reachOf(actor: Actor): Filter[] {
  const own = { owner: { session: [actor.slice('session:'.length)] } }
  return actor.startsWith('session:') ? [own, {}] : [{}]
}

async function newestNamed(
  edges: Edges,
  actor: Actor,
  name: string,
  filter: Filter,
): Promise<Pid | undefined> {
  const { items } = await edges.store.ask({
    ask: 'processes',
    filter: { ...filter, name: [name] },
    visibleTo: visibilityOf(actor),
    newestFirst: true,
    after: null,
    limit: 1,
  })
  return items[0]?.record.pid
}

async function fromPrefix(edges: Edges, actor: Actor, prefix: string): Promise<Pid> {
  const visibleTo = visibilityOf(actor)
  const candidates = await edges.store.ask({ ask: 'pids', prefix, visibleTo, limit: 100 })
  const [only] = candidates
  if (only === undefined) throw new RefusedError(unknown(prefix))
  if (candidates.length === 1) return only
  throw new RefusedError(
    refusal(
      'ambiguous_pid',
      `${prefix} stands for ${candidates.length} processes: ${candidates.slice(0, CANDIDATES).join(', ')}.`,
      'Give more of the pid.',
      {
        candidates,
      },
    ),
  )
}

/** Processes that the actor owns or that were granted to it. */
export async function mayRead(edges: Edges, actor: Actor, record: ProcessRecord): Promise<boolean> {
  return (await refuseRead(edges, actor, record)) === undefined
}

export async function refuseRead(
  edges: Edges,
  actor: Actor,
  record: ProcessRecord,
): Promise<Refusal | undefined> {
  const refused = edges.authorize(actor, 'read', { type: 'process', record })
  if (refused === undefined || !actor.startsWith('session:')) return refused
  const grants = await edges.store.ask({
    ask: 'grants',
    session: actor.slice('session:'.length),
    pid: record.pid,
  })
  return edges.authorize(actor, 'read', { type: 'process', record, granted: grants.length > 0 })
}

function unknown(text: string): Refusal {
  return refusal(
    'unknown_pid',
    `There is no process ${text}.`,
    'Give a pid, at least four characters of one after p_, or a name; list the processes to see which there are.',
  )
}

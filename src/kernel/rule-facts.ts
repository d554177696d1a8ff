import type { Ceiling } from '../core/capability/ceiling.ts'
import { folderSubjects, type Machine } from '../core/capability/folder-subjects.ts'
import type { Need } from '../core/capability/need.ts'
import { countedRulesOf, delegatorsOf } from '../core/capability/rule-on.ts'
import type { RuleSet } from '../core/capability/rule-set.ts'
import type { CheckedAt } from '../core/capability/rule-table.ts'
import type { RuleUse } from '../core/capability/rule-use.ts'
import { useIdOf } from '../core/capability/ruling.ts'
import type { RulingFacts } from '../core/capability/ruling-of-set.ts'
import type { Actor, Registration } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { sessionsOf } from '../core/session/sessions-above.ts'
import type { PlanPart } from './plan-part.ts'
import type { WorkingRows } from './working-rows.ts'

/** The session or process whose rules bind an actor, and everything above it. */
export interface Subject {
  readonly actor: Actor
  /** The session that it acts in. */
  readonly session: string | null
  /** The subjects whose rule sets apply, the widest first. */
  readonly sets: readonly string[]
}

/**
 * The subject of an actor; null for the host, people and kernels, which no rule binds. A tool acts as its parent, so that what it
 * starts belongs to the agent that called it. A pruned process is bound by the rules that bind every process. The rules of the
 * folders where it acts are not among them.
 */
export function* subjectOf(rows: WorkingRows, actor: Actor): PlanPart<Subject | null> {
  if (actor.startsWith('session:')) {
    const session = actor.slice('session:'.length)
    const known = rows.knownSession(session)
    const found = known === undefined ? yield* rows.session(session) : known
    if (found?.sessionsAbove === undefined) return { actor, session, sets: [HOME, actor] }
    return { actor, session, sets: [HOME, ...setsOf([session, ...found.sessionsAbove])] }
  }
  if (!actor.startsWith('process:')) return null
  const lineage = yield* lineageOf(rows, actor.slice('process:'.length))
  const own = lineage[0]?.record
  const session = own?.owner.session
  const acting = lineage.filter(({ record }) => record.kind !== 'tool')
  const nearest = acting[0]
  if (lineage.length === 0) return { actor, session: null, sets: [HOME] }
  // Every caller above is a tool, and the host called the one above all: only the ceilings of that call bind them.
  if (nearest === undefined && session === undefined) return { actor, session: null, sets: [] }
  const processes = acting.map(({ record }) => `process:${record.pid}` as const).reverse()
  const sets = [HOME, ...(own === undefined ? [] : setsOf(sessionsOf(own))), ...processes]
  return {
    actor: nearest === undefined ? `session:${session}` : `process:${nearest.record.pid}`,
    session: session ?? null,
    sets,
  }
}

/** The subject with the rules of these folders, the widest folder first, and those of further sets. */
export function withFolders(
  subject: Subject,
  folders: readonly string[],
  machine: Machine,
  more: readonly string[] = [],
): Subject {
  if (folders.length === 0 && more.length === 0) return subject
  const [home, ...rest] = subject.sets
  const sets = home === undefined ? [] : [home, ...folderSubjects(folders, machine), ...rest]
  return { ...subject, sets: [...new Set([...sets, ...more])] }
}

const HOME = 'home'

/** A process that is registered into a session below its asker's is bound by the rules of that one, too. */
export function inSessionsOf(
  subject: Subject,
  registration: Pick<Registration, 'owner' | 'sessionsAbove'>,
): Subject {
  const { owner, sessionsAbove } = registration
  // Its own session is among its sets.
  if (sessionsAbove === undefined && (owner.session ?? null) === subject.session) return subject
  const { sets } = subject
  const more = setsOf(sessionsOf(registration)).filter((subject) => !sets.includes(subject))
  if (more.length === 0) return subject
  const isProcess = (subject: string) => subject.startsWith('process:')
  return { ...subject, sets: [...sets.filter((one) => !isProcess(one)), ...more, ...sets.filter(isProcess)] }
}

/** The session of an actor and those above it, the nearest first. */
export function* sessionsOfActor(rows: WorkingRows, actor: Actor): PlanPart<readonly string[]> {
  if (actor.startsWith('session:')) {
    const id = actor.slice('session:'.length)
    return [id, ...((yield* rows.session(id))?.sessionsAbove ?? [])]
  }
  const row = actor.startsWith('process:') ? yield* rows.process(actor.slice('process:'.length)) : null
  return row === null ? [] : sessionsOf(row.record)
}

/** The ceilings over what an actor does. A session has none. */
export function* ceilingsOfActor(rows: WorkingRows, actor: Actor): PlanPart<readonly Ceiling[]> {
  if (!actor.startsWith('process:')) return []
  return (yield* rows.process(actor.slice('process:'.length)))?.record.ceilings ?? []
}

/** The subjects of a chain of sessions, the widest first. */
function setsOf(sessions: readonly string[]): readonly string[] {
  return sessions.map((session) => `session:${session}`).reverse()
}

/** The process and those above it, the nearest first. */
export function* lineageOf(rows: WorkingRows, pid: string): PlanPart<readonly ProcessRow[]> {
  const found: ProcessRow[] = []
  for (let next: string | null = pid; next !== null; ) {
    const row: ProcessRow | null = yield* rows.process(next)
    if (row === null) break
    found.push(row)
    next = row.record.parent
  }
  return found
}

/** The rule sets of a subject that exist. */
export function* ruleSetsOf({ sets }: Pick<Subject, 'sets'>): PlanPart<readonly RuleSet[]> {
  if (sets.length === 0) return []
  const found = (yield sets.map(
    (subject) => ({ ask: 'ruleSet', subject }) as const,
  )) as readonly (RuleSet | null)[]
  return found.filter((set) => set !== null)
}

/** The facts of a ruling that are not in the sets themselves: the sets of delegators, and how often counted rules were used. */
export function* rulingFacts(
  rows: WorkingRows,
  sets: readonly RuleSet[],
  ceilings: readonly Ceiling[],
  needs: readonly Need[],
  checked: CheckedAt,
): PlanPart<RulingFacts & { readonly uses: ReadonlyMap<string, RuleUse | null> }> {
  const { at, host } = checked
  const subjects = delegatorsOf(sets)
  const delegators = subjects.length === 0 ? NONE : yield* setsBySubject(subjects)
  const facts = { at, host, delegators, used: NONE, uses: NONE }
  const counted = countedRulesOf(sets, ceilings, needs, facts)
  if (counted.length === 0) return facts
  const found = yield* rows.ruleUses(counted.map(useIdOf))
  const uses = new Map(counted.map((ref, index) => [useIdOf(ref), found[index] ?? null]))
  const used = new Map([...uses].map(([id, use]) => [id, use?.used ?? 0]))
  return { at, host, delegators, used, uses }
}

const NONE: ReadonlyMap<string, never> = new Map<string, never>()

function* setsBySubject(subjects: readonly string[]): PlanPart<ReadonlyMap<string, RuleSet>> {
  const found = (yield subjects.map(
    (subject) => ({ ask: 'ruleSet', subject }) as const,
  )) as readonly (RuleSet | null)[]
  return new Map(found.flatMap((set) => (set === null ? [] : [[set.subject, set] as const])))
}

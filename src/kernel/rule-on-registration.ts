import type { ActionHashes } from '../core/approval/grants.ts'
import type { ShownChange } from '../core/approval/shown-change.ts'
import {
  type Action,
  actionOf,
  type RepeatTexts,
  type ResolvedAction,
  repeatTexts,
} from '../core/capability/action.ts'
import { type Ceiling, ceilingsOver } from '../core/capability/ceiling.ts'
import type { Need } from '../core/capability/need.ts'
import { type NeedFacts, needsAnalysis, needsOf, secretsGivenTo } from '../core/capability/needs.ts'
import { isConfirmed, rulingWithRequests } from '../core/capability/requested.ts'
import { steadyRuling } from '../core/capability/rule-on.ts'
import type { RuleSet } from '../core/capability/rule-set.ts'
import { tableOf } from '../core/capability/rule-table.ts'
import { type RuleRef, type Ruling, useIdOf } from '../core/capability/ruling.ts'
import type { RulingFacts } from '../core/capability/ruling-of-set.ts'
import type { Change } from '../core/change.ts'
import { hostIn, type Placement } from '../core/placement/placement.ts'
import type { Actor, Registration } from '../core/process/record.ts'
import type { Session } from '../core/session/session.ts'
import { know } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import { setsAt } from './placed-registration.ts'
import type { PlanPart } from './plan-part.ts'
import { inSessionsOf, lineageOf, rulingFacts, type Subject, subjectOf } from './rule-facts.ts'
import type { WorkingRows } from './working-rows.ts'
import type { Places, PolicyFileFound } from './workspaces.ts'

export interface GatedRegistration {
  readonly registration: Registration
  readonly actor: Actor
  readonly at: number
  readonly here: readonly Placement[]
  /** Null until the host has resolved it. */
  readonly resolved: ResolvedAction | null
  /** The environment that it runs in, if it is not the default one. */
  readonly envRef: string | undefined
  /** The request names the environment; that of its client is not its own choice. */
  readonly isEnvironmentNamed: boolean
  /** The session that it belongs to, as the plan has read it. */
  readonly session: Session | null
  /** The folders that the host has looked at; undefined where no policy files are read. */
  readonly places: Places | undefined
  /** How often the host may still be asked for more. With 0 the plan rules on the known facts. */
  readonly looksLeft: number
  /** The id of the approval, if one is needed. */
  readonly approvalId: string
  /** Why the asker wants it, in its own words. */
  readonly reason: string | null
  readonly trace: string | null
  /** What it would make of a file, for the person who is asked. `unknown`: the host has not looked yet. */
  readonly change: ShownChange | null | 'unknown'
  /** The effects of a tool, as its caller knows them. */
  readonly effects?: readonly Need[] | undefined
}

/** What the rules say about a registration, and everything that it was decided on. */
export interface Ruled {
  readonly subject: Subject
  readonly sets: readonly RuleSet[]
  readonly ceilings: readonly Ceiling[]
  readonly action: Action
  readonly needs: readonly Need[]
  readonly facts: RulingFacts
  readonly ruling: Ruling
  /** The reservations of counted rules. */
  readonly used: readonly Change[]
}

/** What the host has to find out before the plan can rule. */
export type Missing =
  /** The rules tell commands apart. */
  | { readonly type: 'action' }
  /** A person is asked, and has to see what the call would change. */
  | { readonly type: 'preview' }
  /** Which policy files are in these folders. */
  | {
      readonly type: 'folders'
      readonly folders: readonly string[]
      /** The sessions whose workspaces are among them. */
      readonly sessions: readonly Session[]
    }
  /** The store has other versions of these files. */
  | { readonly type: 'files'; readonly files: readonly PolicyFileFound[] }

/** What it has to find out about folders. */
export type MissingPlace = Exclude<Missing, { type: 'action' | 'preview' }>

export type RulingAnswer =
  /** No rule binds it. */
  | { readonly type: 'unbound' }
  | { readonly type: 'missing'; readonly missing: Missing }
  /** A policy file cannot be used, and there is no earlier version of it. */
  | { readonly type: 'invalid'; readonly subject: Subject; readonly file: PolicyFileFound }
  | { readonly type: 'ruled'; readonly ruled: Ruled }

/** The folders or files that the host has to look at before a resolved action can be ruled on. */
export function missingPlace(answer: RulingAnswer): MissingPlace | undefined {
  if (answer.type !== 'missing') return undefined
  const { missing } = answer
  return missing.type === 'action' || missing.type === 'preview' ? undefined : missing
}

/** Rules on the effects of a registration, with the facts of the transaction. */
export function* ruleOnRegistration(
  edges: Edges,
  rows: WorkingRows,
  gated: RuledRegistration,
): PlanPart<RulingAnswer> {
  const { registration, actor, at, here, resolved, boundBy = NONE } = gated
  if (!isRuled(registration, actor)) return UNBOUND
  const given = registration.ceilings
  const ceilings = given === undefined ? NONE : ceilingsOver(registration.pid, given)
  // A kernel that starts a process again is bound by the ceilings of that process.
  const asker = yield* subjectOf(rows, actor)
  const bare = asker === null ? { actor, session: null, sets: [] } : inSessionsOf(asker, registration)
  const isBound = bare.sets.length > 0 || boundBy.length > 0
  if (!isBound && ceilings.length === 0) return UNBOUND
  const bound = yield* setsAt(edges, rows, gated, bare, isBound)
  if (bound.type !== 'bound') return bound
  const { subject, sets, workspace } = bound
  const isConfirming = gated.effects?.some(isConfirmed) === true
  if (sets.length === 0 && ceilings.length === 0 && !isConfirming) return UNBOUND
  if (registration.kind === 'command' && resolved === null && needsAnalysis([...sets, ...ceilings]))
    return { type: 'missing', missing: { type: 'action' } }
  const host = hostIn(here)
  const action = actionOf(registration, subject.actor, host, resolved)
  if (action === null) return UNBOUND
  const environment =
    gated.envRef === undefined ? null : yield* know({ ask: 'environment', ref: gated.envRef })
  const secrets = secretsGivenTo(registration, environment)
  const found = withEffects(
    needsOf(registration, factsOf(gated, action.cwd, workspace, secrets)),
    gated.effects,
  )
  const steady = isConfirming ? undefined : steadyRuling(sets, ceilings, found, { at, host })
  if (steady !== undefined && (steady.type === 'deny' || steady.uses.length === 0)) {
    const facts = { at, host, delegators: NO_FACTS, used: NO_FACTS }
    return {
      type: 'ruled',
      ruled: { subject, sets, ceilings, action, needs: found, facts, ruling: steady, used: NONE },
    }
  }
  const needs = sets.some(({ rules }) => tableOf(rules).comparesActions)
    ? withHashes(found, hashesOf(edges, yield* repeatTextsOf(rows, gated, action)))
    : found
  const ruledOn = yield* rulingFacts(rows, sets, ceilings, needs, { at, host })
  const ruling = rulingWithRequests(sets, ceilings, needs, ruledOn)
  const used =
    ruling.type === 'deny' || ruling.uses.length === 0
      ? NONE
      : ruling.uses.map((ref) => useOnce(ref, ruledOn.uses.get(useIdOf(ref)) ?? null))
  return { type: 'ruled', ruled: { subject, sets, ceilings, action, needs, facts: ruledOn, ruling, used } }
}

/**
 * A tool whose effects are known is ruled on by them: a set that allows the effects need not allow the tool. Rules that name the tool
 * still hold.
 */
function withEffects(needs: readonly Need[], effects: readonly Need[] | undefined): readonly Need[] {
  if (effects === undefined) return needs
  const tools = effects.filter(({ resource }) => resource.kind === 'tool')
  const others = needs.filter(({ resource }) => tools.length === 0 || resource.kind !== 'tool')
  return [...others, ...effects]
}

/** What is known of a registration, with what the host found out about a command. */
function factsOf(
  { resolved, isEnvironmentNamed }: RuledRegistration,
  cwd: string | null,
  workspace: string | null,
  secrets: readonly string[],
): NeedFacts {
  if (resolved === null)
    return { shell: null, programs: NO_PROGRAMS, cwd, workspace, env: NONE, codeVariables: NONE, secrets }
  const ofEnvironment = isEnvironmentNamed ? resolved.ofEnvironment : undefined
  const widerPath = resolved.widerPath === true || ofEnvironment?.widerPath === true
  return {
    cwd,
    workspace,
    secrets,
    ...(widerPath ? { widerPath } : {}),
    shell: resolved.shell,
    programs: new Map(
      resolved.programs.flatMap(({ name, real }) => (real === null ? [] : [[name, { real }]])),
    ),
    env: [...resolved.env, ...(ofEnvironment?.env ?? [])],
    codeVariables: [...resolved.codeVariables, ...(ofEnvironment?.codeVariables ?? [])],
  }
}

const NO_PROGRAMS: NeedFacts['programs'] = new Map()
const NONE: readonly never[] = []
const NO_FACTS: ReadonlyMap<string, never> = new Map<string, never>()

const UNBOUND: RulingAnswer = { type: 'unbound' }

/** Whether rules may bind it. The host and people act for themselves, also below a process that has a ceiling. */
export function isRuled({ kind }: Pick<Registration, 'kind'>, actor: Actor): boolean {
  return kind !== 'external' && actor !== 'host' && !actor.startsWith('human:')
}

/** The part of a registration that rules look at. */
export type RuledRegistration = Pick<
  GatedRegistration,
  | ('actor' | 'at' | 'here' | 'resolved' | 'envRef' | 'isEnvironmentNamed')
  | ('session' | 'places' | 'looksLeft' | 'effects')
> & {
  /** Of a request that was asked before: the subjects whose rules bound it then. */
  readonly boundBy?: readonly string[]
  readonly registration: Pick<
    Registration,
    'pid' | 'kind' | 'spec' | 'parent' | 'cwd' | 'envRef' | 'owner' | 'ceilings' | 'sessionsAbove'
  >
}

/** The texts that tell whether a later action is the same one. A tool is a call of the process above it. */
export function* repeatTextsOf(
  rows: WorkingRows,
  { registration, resolved, isEnvironmentNamed, envRef }: RuledRegistration,
  action: Action,
): PlanPart<RepeatTexts> {
  const { parent, owner, spec } = registration
  const above = parent === null ? [] : yield* lineageOf(rows, parent)
  const acting = above.find(({ record }) => record.kind !== 'tool')
  const asker = { session: owner.session ?? null, above: acting?.record.pid ?? null }
  const { passEnv = null, inheritEnv = null, keepEnv = null } = spec
  const chosen = { passEnv, inheritEnv, keepEnv, environment: (isEnvironmentNamed && envRef) || null }
  return repeatTexts(action, asker, resolved === null ? null : { ...resolved, chosen })
}

export function hashesOf(
  { hash }: Pick<Edges, 'hash'>,
  { process, session, always }: RepeatTexts,
): ActionHashes {
  return {
    process: process === null ? null : hash(process),
    session: session === null ? null : hash(session),
    always: hash(always),
  }
}

export function withHashes(
  needs: readonly Need[],
  { process, session, always }: ActionHashes,
): readonly Need[] {
  const actions = [process, session, always].filter((hash) => hash !== null)
  return needs.map((need) => ({ ...need, attributes: { ...need.attributes, actions } }))
}

export function useOnce({ subject, id }: RuleRef, was: { readonly used: number } | null): Change {
  const useId = useIdOf({ subject, id })
  const before = was === null ? null : { id: useId, subject, used: was.used }
  return { type: 'rule_use', was: before, use: { id: useId, subject, used: (was?.used ?? 0) + 1 } }
}

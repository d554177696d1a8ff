import type { AuditDecision, AuditEntry } from '../core/audit/entry.ts'
import { trusted, untrusted, withVersion } from '../core/capability/file-set.ts'
import { pathSubject } from '../core/capability/folder-subjects.ts'
import { inWorkspace, policyPathOf } from '../core/capability/in-workspace.ts'
import type { RuleSet } from '../core/capability/rule-set.ts'
import type { JsonObject } from '../core/json/json.ts'
import type { Actor } from '../core/process/record.ts'
import { isRefusal, type Refusal, refusal } from '../core/refusal.ts'
import { know } from '../store/contract.ts'
import { PlannedAudit } from './audit.ts'
import type { Edges } from './edges.ts'
import type { PlanPart } from './plan-part.ts'
import type { PolicyFileFound } from './workspaces.ts'

/** Loads the present version of a policy file into the store. A version that the store has already changes nothing. */
export function loadPolicyFile(edges: Edges, file: PolicyFileFound): Promise<RuleSet | Refusal> {
  const { folder, path, hash } = file
  const rules = file.rules.map((rule) => inWorkspace(rule, folder))
  return changeFileSet(edges, path, (subject, was) => {
    if (was?.source?.hash === hash) return { answer: was }
    const set = withVersion(was, { subject, path, hash, rules })
    if (isRefusal(set)) return { answer: set }
    const inputs = {
      path,
      hash,
      rules: rules.length,
      trusted: set.trusted,
      kept: set.kept?.rules.length ?? 0,
    }
    return { answer: set, audited: { actor: 'kernel', action: 'loadPolicy', decision: 'granted', inputs } }
  })
}

/** From now on a person trusts this version of a policy file, and none before it counts any more. */
export async function trustPolicyFile(
  edges: Edges,
  actor: Actor,
  file: PolicyFileFound,
): Promise<RuleSet | Refusal> {
  const loaded = await loadPolicyFile(edges, file)
  if (isRefusal(loaded) && loaded.code !== 'limit_exceeded') return loaded
  const { folder, path, hash } = file
  const rules = file.rules.map((rule) => inWorkspace(rule, folder))
  return changeFileSet(edges, path, (subject) => {
    const fresh = withVersion(null, { subject, path, hash, rules })
    if (isRefusal(fresh)) return { answer: fresh }
    const inputs = { path, hash, rules: rules.length }
    return {
      answer: trusted(fresh),
      audited: { actor, action: 'trustPolicy', decision: 'granted', inputs },
    }
  })
}

/** What the file allows no longer counts; its asks and denies do. */
export function untrustPolicyFile(edges: Edges, actor: Actor, folder: string): Promise<RuleSet | Refusal> {
  return changeFileSet(edges, policyPathOf(folder), (_subject, was) => {
    if (was === null) return { answer: noFileRules(folder) }
    const inputs = { path: was.source?.path ?? null, hash: was.source?.hash ?? null }
    return {
      answer: untrusted(was),
      audited: { actor, action: 'untrustPolicy', decision: 'revoked', inputs },
    }
  })
}

/**
 * From now on a person trusts this version of a file that defines something for agents, and no other. Such a file has no rules: it is
 * trusted as a policy file without rules is.
 */
export function trustAgentFile(
  edges: Edges,
  actor: Actor,
  { path, hash }: { readonly path: string; readonly hash: string },
): Promise<RuleSet | Refusal> {
  return changeFileSet(edges, path, (subject) => {
    const fresh = withVersion(null, { subject, path, hash, rules: [] })
    if (isRefusal(fresh)) return { answer: fresh }
    return {
      answer: trusted(fresh),
      audited: { actor, action: 'trustFile', decision: 'granted', inputs: { path, hash } },
    }
  })
}

/** No version of the file is trusted any more. */
export function untrustAgentFile(edges: Edges, actor: Actor, path: string): Promise<RuleSet | Refusal> {
  return changeFileSet(edges, path, (_subject, was) => {
    if (was === null) return { answer: noFileTrust(path) }
    const inputs = { path, hash: was.source?.hash ?? null }
    return {
      answer: untrusted(was),
      audited: { actor, action: 'untrustFile', decision: 'revoked', inputs },
    }
  })
}

/** Removes the stored rules of a policy file. If the file is still there, the next command loads it as a new one. */
export async function forgetPolicyFile(
  edges: Edges,
  actor: Actor,
  folder: string,
): Promise<RuleSet | Refusal> {
  const at = edges.clock.now()
  const answer = await edges.store.write<RuleSet | Refusal>(function* () {
    const { was } = yield* fileSet(edges, policyPathOf(folder))
    if (was === null) return { answer: noFileRules(folder), changes: [] }
    const { subject } = was
    const inputs = { path: was.source?.path ?? null, rules: was.rules.length }
    const entry = entryOf(subject, { actor, action: 'forgetPolicy', decision: 'revoked', inputs }, at)
    return {
      answer: was,
      changes: [
        { type: 'rule_set_gone', subject },
        { type: 'audit', entry },
      ],
    }
  })
  edges.onAudited?.()
  return answer
}

/** The refusal where a policy file cannot be used. */
export function policyInvalid({ path, problems: [first] }: PolicyFileFound): Refusal {
  return refusal(
    'policy_invalid',
    `${path}, line ${first?.line ?? 1}: ${first?.message ?? 'It cannot be used.'}`,
    `${first?.remedy ?? 'Correct it.'} A person can look at it with reeve policy test.`,
    { path, line: first?.line ?? 1 },
  )
}

interface Audited {
  /** `kernel`: the program itself, because a file has changed. */
  readonly actor: Actor | 'kernel'
  readonly action: string
  readonly decision: AuditDecision
  readonly inputs: JsonObject
}

interface FileSetChange {
  readonly answer: RuleSet | Refusal
  /** Left out if nothing changes. */
  readonly audited?: Audited
}

/** The set of a file, or the one that was stored for it before subjects named a machine: it becomes the set of this machine. */
function* fileSet(
  { machine = null }: Pick<Edges, 'machine'>,
  path: string,
): PlanPart<{ readonly subject: string; readonly was: RuleSet | null }> {
  const subject = pathSubject(path, machine)
  const own = yield* know({ ask: 'ruleSet', subject })
  if (own !== null || machine === null) return { subject, was: own }
  return { subject, was: yield* know({ ask: 'ruleSet', subject: pathSubject(path, null) }) }
}

async function changeFileSet(
  edges: Edges,
  path: string,
  change: (subject: string, was: RuleSet | null) => FileSetChange,
): Promise<RuleSet | Refusal> {
  const at = edges.clock.now()
  const answer = await edges.store.write<RuleSet | Refusal>(function* () {
    const { subject, was } = yield* fileSet(edges, path)
    const { answer, audited } = change(subject, was)
    if (isRefusal(answer) || (audited === undefined && was?.subject === subject))
      return { answer, changes: [] }
    const next = { ...answer, subject }
    const audit = new PlannedAudit(edges)
    const entry = audited === undefined ? undefined : entryOf(subject, audited, at)
    // An agent can write the file, and change it all the time.
    if (entry?.actor === 'kernel') yield* audit.recordSome(entry)
    else if (entry !== undefined) audit.record(entry)
    const isMoved = was !== null && was.subject !== subject
    return {
      answer: next,
      changes: [
        { type: 'rule_set', was: isMoved ? null : was, ruleSet: next },
        ...(isMoved ? [{ type: 'rule_set_gone', subject: was.subject } as const] : []),
        ...audit.changes,
      ],
    }
  })
  edges.onAudited?.()
  return answer
}

function entryOf(subject: string, audited: Audited, at: number): AuditEntry {
  return { at, target: subject, rule: null, reason: null, trace: null, ...audited }
}

function noFileRules(folder: string): Refusal {
  return refusal('not_found', `No policy file of ${folder} is known.`, 'List the files with reeve policy.')
}

function noFileTrust(path: string): Refusal {
  return refusal('not_found', `No version of ${path} was trusted.`, 'List the files with reeve trust.')
}

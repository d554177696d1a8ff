import type { Ruling } from '../capability/ruling.ts'
import { sameJson } from '../json/canonical.ts'
import { type Json, type JsonObject, objectOf } from '../json/json.ts'
import type { Pid } from '../process/pid.ts'
import type { ProcessRecord } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'
import { isQuestion } from './question.ts'

/** Members that decide who executes a process, or where its variables come from: both were settled when it was registered. */
const FIXED: { readonly [kind: string]: readonly string[] } = {
  command: ['inheritEnv', 'keepEnv'],
  tool: ['tool'],
  workflow: ['workflow'],
  agent: ['agent'],
}

/** Refuses an edited spec that would be another process. */
export function refuseEdit(
  record: Pick<ProcessRecord, 'pid' | 'kind' | 'spec'>,
  spec: JsonObject,
): Refusal | undefined {
  const { pid, kind } = record
  if (isQuestion(record)) return unlike(pid, 'is a question, and has no action', 'Reply to it.')
  const fixed = (FIXED[kind] ?? []).find(
    (member) => !sameJson(record.spec[member] ?? null, spec[member] ?? null),
  )
  if (fixed === undefined) return undefined
  return unlike(
    pid,
    `keeps its ${fixed}`,
    'Change other members, or deny the request and say what to do instead.',
  )
}

export function deniedEdit(pid: Pid, { reason, rule }: Extract<Ruling, { type: 'deny' }>): Refusal {
  return refusal(
    'denied',
    `The edited action of ${pid} is denied: ${reason}`,
    'Edit it in another way, or change the rule first.',
    { pid, rule: rule?.text ?? null },
  )
}

/** Only the host that runs a command can say what the edited one does. */
export function unresolvedEdit(pid: Pid, host: string | null): Refusal {
  return refusal(
    'not_available',
    `What the edited command of ${pid} does can be found out only ${host === null ? 'where it runs' : `on ${host}`}.`,
    'Approve it with changes there, or deny it and say what to do instead.',
    { pid, host },
  )
}

/** Since it was asked, a rule denies it: a yes to one request does not change the rules. */
export function deniedSince(id: string, { reason, rule }: Extract<Ruling, { type: 'deny' }>): Refusal {
  return refusal(
    'denied',
    `The action of ${id} is denied now: ${reason}`,
    'Deny the request, or change the rule first.',
    { approval: id, rule: rule?.text ?? null },
  )
}

/** The members of a spec that an edit changed. The audit keeps what it is given: of variables and input it gets no values. */
export function changedFields(spec: JsonObject, edited: JsonObject): JsonObject {
  const names = [...new Set([...Object.keys(spec), ...Object.keys(edited)])].sort()
  const changed = names.filter((name) => !sameJson(spec[name] ?? null, edited[name] ?? null))
  return Object.fromEntries(
    changed.map((name) => [name, changeOf(name, spec[name] ?? null, edited[name] ?? null)]),
  )
}

function changeOf(name: string, from: Json, to: Json): JsonObject {
  if (name === 'env') {
    const [before, after] = [objectOf(from), objectOf(to)]
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
    return { variables: names.filter((one) => !sameJson(before[one] ?? null, after[one] ?? null)) }
  }
  return name === 'stdin' ? { changed: true } : { from, to }
}

function unlike(pid: Pid, what: string, remedy: string): Refusal {
  return refusal('invalid_input', `${pid} ${what}.`, remedy, { field: 'spec' })
}

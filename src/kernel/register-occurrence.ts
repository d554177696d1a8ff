import { EMPTY_ENVIRONMENT } from '../core/environment/environment.ts'
import { canonical } from '../core/json/canonical.ts'
import { asJson } from '../core/json/json.ts'
import type { Pid } from '../core/process/pid.ts'
import type { RegisterIntent } from '../core/process/register.ts'
import { registrationText } from '../core/process/registration-request.ts'
import type { Occurrence, OccurrenceRights } from '../core/schedule/schedule.ts'
import type { Edges } from './edges.ts'
import type { PlanPart } from './plan-part.ts'
import { registerOne } from './register-one.ts'
import type { WorkingRows } from './working-rows.ts'

/** Registers an occurrence of a schedule or a trigger. `ran`: it was registered before. */
export function* registerOccurrence(
  { edges, rows }: { readonly edges: Edges; readonly rows: WorkingRows },
  rights: OccurrenceRights,
  { pid, request, effects }: Occurrence & { readonly pid: Pid },
  at: number,
): PlanPart<'registered' | 'ran' | 'unresolved' | { readonly refused: string }> {
  const text = registrationText(request)
  const intent: RegisterIntent = {
    pid,
    bytes: text.length,
    hash: edges.hash(text),
    request,
    at,
    defaultEnvRef: edges.hash(canonical(asJson(EMPTY_ENVIRONMENT))),
    here: [],
    startBy: null,
    refuseNew: null,
    fence: null,
    stepIndex: null,
    approval: null,
    acceptsLess: false,
    ...rights,
  }
  const answer = yield* registerOne(edges, rows, intent, {
    isNew: false,
    formerPid: undefined,
    restarts: undefined,
    replaced: [],
    names: [],
    effects,
    // The host cannot look at a command within a transaction: where rules need that, a sweep registers the occurrence.
    host: { resolved: new Map(), previews: new Map(), places: undefined, looksLeft: 0 },
  })
  switch (answer.type) {
    case 'registered':
      return 'registered'
    case 'unresolved':
      return 'unresolved'
    case 'existing':
    case 'running':
      return 'ran'
    case 'refused':
      if (answer.refusal.code === 'pruned_pid') return 'ran'
      rows.add(answer.changes ?? [])
      return { refused: answer.refusal.message }
  }
}

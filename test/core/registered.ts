import { FLOOD_LIMITS } from '../../src/core/inbox/flood.ts'
import { decide } from '../../src/core/process/decide.ts'
import type { Rules } from '../../src/core/process/decision.ts'
import type { ApprovalRequested } from '../../src/core/process/event.ts'
import { fold } from '../../src/core/process/fold.ts'
import type { Intent } from '../../src/core/process/intent.ts'
import { decideRegister, type RegistrationRequest } from '../../src/core/process/register.ts'
import type { ProcessRow } from '../../src/core/process/row.ts'

export const RULES: Rules = {
  validate: () => undefined,
  maxPayloadBytes: 10_000,
  mask: (text) => text,
  maxPendingSignals: 10,
  flood: FLOOD_LIMITS,
}

export const FACTS = {
  existing: null,
  tombstone: null,
  parent: null,
  restarted: null,
  stoppingAncestor: null,
  session: null,
  turn: null,
  unusableSession: null,
  payingSession: null,
  group: null,
  environmentKnown: true,
  account: null,
  liveChildren: 0,
  running: null,
}

export const INTENT = {
  bytes: 1,
  hash: 'h',
  actor: 'host',
  at: 1_000,
  defaultEnvRef: 'empty',
  here: [],
  startBy: null,
  refuseNew: null,
  fence: null,
  stepIndex: null,
  approval: null,
  acceptsLess: false,
} as const

/** A process as it is right after its registration, by the rules alone. */
export function registered(
  pid: string,
  request: Partial<RegistrationRequest> = {},
  approval: ApprovalRequested | null = null,
): ProcessRow {
  const whole: RegistrationRequest = { kind: 'tool', spec: { tool: 't' }, lifetime: 'detached', ...request }
  const decision = decideRegister(FACTS, { ...INTENT, pid, request: whole, approval }, RULES)
  if (decision.type !== 'register') throw new Error(JSON.stringify(decision))
  const { events, lease } = decision
  return fold({ pid, was: null, group: null, events, lease, actor: 'host', at: INTENT.at }).row
}

/** The process after an intent that is accepted. */
export function after(row: ProcessRow, intent: Intent): ProcessRow {
  const decision = decide({ row, replayed: null }, intent, RULES)
  if (decision.type !== 'append') throw new Error(JSON.stringify(decision))
  const { events, lease } = decision
  const { pid, actor, at } = intent
  return fold({ pid, was: row, group: null, events, lease, actor, at }).row
}

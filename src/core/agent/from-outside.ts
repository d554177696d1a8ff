import { objectOf } from '../json/json.ts'
import { mapStrings } from '../json/map-strings.ts'
import type { Decision, NewEvent } from '../process/decision.ts'
import { evolve } from '../process/evolve.ts'
import type { Pid } from '../process/pid.ts'
import type { Actor, ProcessRecord, Registration } from '../process/record.ts'
import type { ProcessRow } from '../process/row.ts'
import { notify, tellReport } from './decide-run.ts'
import { Draft } from './draft.ts'
import type { SessionContinued } from './earlier-logs.ts'
import { inputKey } from './request.ts'
import { isNativeAgent, MAX_TURN_CRASHES, type NoticeCause, type Part } from './state.ts'
import { beginTurn, closeTurn, endTurn, settle } from './turns.ts'

type Asked = { readonly actor: Actor; readonly at: number }

/** After `registered`: the session that it continues, if it does. The goal is the first input, and begins the first turn. Without a goal the agent is idle. */
export function firstEvents(
  registered: ProcessRecord,
  isGated: boolean,
  {
    mask,
    continues,
    ...asked
  }: Asked & { readonly mask: (text: string) => string; readonly continues?: SessionContinued },
): readonly NewEvent[] {
  const draft = new Draft({ record: registered, holder: null, fence: 0 }, asked)
  if (continues !== undefined) draft.add({ type: 'session_continued', payload: continues })
  const { goal, context } = registered.spec
  if (goal === undefined || goal === null) {
    if (!isGated) settle(draft)
    return draft.events
  }
  const part: Part =
    typeof goal === 'string'
      ? { type: 'text', text: mask(goal) }
      : { type: 'json', value: mapStrings({ goal }, mask)['goal'] ?? null }
  const turn = draft.agent.turns + 1
  const answer = { type: 'started', input: GOAL_INPUT, turn, interrupts: [] } as const
  const parts =
    typeof context === 'string' ? [part, { type: 'text', text: `Context:\n${mask(context)}` }] : [part]
  const { output } = registered.spec
  const schema = output === undefined ? {} : { schema: objectOf(output) }
  const input = {
    input: GOAL_INPUT,
    mode: 'run',
    parts,
    asker: asked.actor,
    answer,
    ...schema,
  } as const
  draft.add({ type: 'input_admitted', payload: input }, inputKey(GOAL_INPUT))
  const [queued = null] = draft.agent.inputs
  beginTurn(draft, { cause: 'user', asker: asked.actor, input: queued })
  return draft.events
}

/** The id of the input that the goal of the spec is. */
const GOAL_INPUT = 'goal'

/** Whether a new agent has nothing to do yet. */
export function isIdleAtFirst(registration: Pick<Registration, 'kind' | 'spec'>): boolean {
  const { goal } = registration.spec
  return isNativeAgent(registration) && (goal === undefined || goal === null)
}

/** A decision that ends an agent ends its open turn first, so that its log is whole. */
export function withTurnClosed(row: ProcessRow, decision: Decision, asked: Asked): Decision {
  const { record } = row
  if (decision.type !== 'append' || record.agent === null || record.agent.turn === null) return decision
  const draft = new Draft(row, asked)
  for (const [index, event] of decision.events.entries()) {
    const { agent, outcome } = evolve(draft.record, { ...NO_PLACE, ...event })
    if (outcome === null || agent?.turn === null) {
      draft.push(event)
      continue
    }
    const { status } = outcome
    closeTurn(draft, { reason: status === 'abandoned' || status === 'failed' ? 'crashed' : 'cancelled' })
    return { ...decision, events: [...draft.events, ...decision.events.slice(index)] }
  }
  return decision
}

/** The holder is lost, or has given the agent back. Without a turn it is idle; a turn that crashes again and again ends. */
export function afterPutBack(row: ProcessRow, decision: Decision, asked: Asked): Decision {
  if (decision.type !== 'append' || row.record.agent === null) return decision
  const draft = new Draft(row, asked)
  for (const event of decision.events) draft.push(event)
  if (draft.record.outcome !== null) return decision
  draft.lease = { holder: null, fence: row.fence }
  const { turn } = draft.agent
  if (turn !== null && turn.crashes >= MAX_TURN_CRASHES)
    endTurn(draft, {
      reason: 'crashed',
      message: `Its holder was lost ${turn.crashes} times without progress.`,
    })
  else settle(draft)
  return { ...decision, events: draft.events }
}

/** The report of an agent to its parent, whose row this is. */
export function withReport(
  row: ProcessRow,
  child: Pid,
  report: { readonly id: string; readonly parts: readonly Part[] },
  asked: Asked,
): readonly NewEvent[] {
  const draft = new Draft(row, asked)
  tellReport(draft, child, { type: 'notify', cause: 'child', ...report })
  return draft.events
}

/** A message or the end of a child, after the events that it already is. */
export function withNotice(
  row: Pick<ProcessRow, 'record' | 'holder' | 'fence'>,
  events: readonly NewEvent[],
  notice: { readonly id: string; readonly cause: NoticeCause; readonly parts: readonly Part[] },
  asked: Asked,
): readonly NewEvent[] {
  if (row.record.agent === null) return events
  const draft = new Draft(row, asked)
  for (const event of events) draft.push(event)
  notify(draft, { type: 'notify', ...notice })
  return draft.events
}

/** The position of an event does not decide whether it is an end. */
const NO_PLACE = { pid: '', seq: 0, at: 0, actor: 'host' } as const

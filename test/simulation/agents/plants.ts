import { asJson } from '../../../src/core/json/json.ts'
import type { ProcessEvent, StoredEvent } from '../../../src/core/process/event.ts'
import { evolve } from '../../../src/core/process/evolve.ts'
import type { ProcessRecord } from '../../../src/core/process/record.ts'
import { carryOf, childCarryOf, hooksFromOf, type ProcessRow } from '../../../src/core/process/row.ts'
import { Kernel } from '../../../src/kernel/kernel.ts'
import type { AnswerTo, Page, Plan, Question, Store } from '../../../src/store/contract.ts'
import { changing, decidingOn, refolded, type Steps } from '../false-facts.ts'
import type { ProcessChange } from '../ledger.ts'
import { payloadOf } from '../payload.ts'
import type { Plant, Planting } from '../plant.ts'
import { LAWS } from './laws.ts'

/** Plausible bugs of agents: a state in memory that is older than the record, a forgotten key, a forgotten check. */
const PLANTS: readonly Omit<Plant, 'kind'>[] = [
  {
    name: 'an input admitted twice after a crash',
    laws: [LAWS.inputTwice],
    since: 11,
    plan: (plan) => forgettingKeys(plan, 'input:'),
  },
  {
    name: 'a repeated cancel that ends the next turn',
    laws: [LAWS.answers],
    plan: (plan) => forgettingKeys(plan, 'request:'),
  },
  {
    name: 'a cancel lost between flip and start',
    laws: [LAWS.cancelLost],
    since: 2,
    // Its client hears that the turn was cancelled, and no executor had begun it.
    plan: (plan) =>
      changing(plan, (changes) =>
        changes.some((change) => change.type === 'process' && isCancelledBeforeStart(change)) ? [] : changes,
      ),
  },
  {
    name: 'a queued input lost at promotion',
    laws: [LAWS.inputLost],
    since: 2,
    plan: (plan) =>
      rewriting(plan, (event) => {
        const promoted = payloadOf(event, 'input_promoted')
        if (promoted === undefined) return event
        return { ...event, type: 'input_removed', payload: { input: promoted.input } }
      }),
  },
  {
    name: 'a rewind that stays at the head',
    laws: [LAWS.inputLost],
    plan: (plan) =>
      rewriting(plan, (event) => {
        const rewound = payloadOf(event, 'session_rewound')
        return rewound === undefined ? event : { ...event, payload: asJson({ ...rewound, to: rewound.from }) }
      }),
  },
  {
    name: 'a queue that takes the last input first',
    laws: [LAWS.order],
    plan: (plan) =>
      decidingOn(plan, isOf('input_promoted'), (row) =>
        withAgent(row, (agent) => ({ ...agent, inputs: agent.inputs.toReversed() })),
      ),
  },
  {
    name: 'a steering input that waits for the next turn',
    laws: [LAWS.inputLost],
    plan: (plan) =>
      decidingOn(plan, isOf('model_call_begun'), (row) =>
        withAgent(row, (agent) => ({
          ...agent,
          inputs: agent.inputs.filter(({ mode }) => mode !== 'steer'),
        })),
      ),
  },
  {
    name: 'an executor that writes into a turn after its end',
    laws: [LAWS.cancelLost],
    since: 11,
    plan: (plan, planting) =>
      decidingOn(plan, isOf('assistant_item', 'tool_called', 'model_call_begun'), (row) =>
        beforeEndOfTurn(row, planting),
      ),
  },
  {
    name: 'a roll-back of a turn with output',
    laws: [LAWS.turns],
    since: 4,
    plan: (plan) =>
      decidingOn(plan, isOf('turn_ended'), (row) =>
        withAgent(row, (agent) => ({
          ...agent,
          turn: agent.turn === null ? null : { ...agent.turn, hasOutput: false },
        })),
      ),
  },
  {
    name: 'a cancel that forgets its tools in a crash',
    laws: [LAWS.cancelLost],
    since: 92,
    often: ['agent: cancel_turn'],
    plan: (plan) =>
      changing(plan, (changes) =>
        changes.map((change) =>
          change.type === 'process' && childCarryOf(change.row.carry) === 'calls'
            ? { ...change, row: { ...change.row, carry: carryOf(null, hooksFromOf(change.row.carry)) } }
            : change,
        ),
      ),
  },
  {
    name: 'a finished tool call run again',
    laws: [LAWS.effects],
    since: 10,
    // The process of a call does not follow from its place in the log, so the next holder starts another one.
    kernel: (edges, options) => new Kernel({ ...edges, pidForKey: () => edges.newPid() }, options),
  },
  {
    name: 'an interrupted tool call that counts as done',
    laws: [LAWS.results],
    since: 2,
    plan: (plan) =>
      rewriting(plan, (event) => {
        const answered = payloadOf(event, 'tool_answered')
        if (answered?.isError !== true) return event
        return {
          ...event,
          payload: asJson({ ...answered, isError: false, parts: [{ type: 'text', text: 'Done.' }] }),
        }
      }),
  },
  {
    name: 'crashes add up to the end of an agent',
    laws: [LAWS.crashes],
    plan: (plan) => decidingOn(plan, isGivenUp, withoutAgent),
    kernel: (edges, options) => new Kernel({ ...edges, store: countingAttempts(edges.store) }, options),
  },
]

export const agentPlants: readonly Plant[] = PLANTS.map((plant) => ({ ...plant, kind: 'agents' }))

/** What was written under keys with this prefix is not found. */
function forgettingKeys<Answer>(plan: Plan<Answer>, prefix: string): Plan<Answer> {
  return function* (): Steps<Answer> {
    const steps = plan()
    const forgotten = new Set<string>()
    let known: readonly unknown[] = []
    for (;;) {
      const step = steps.next(known)
      if (step.done) {
        const changes = step.value.changes.map((change) => {
          if (change.type !== 'process') return change
          const events = change.events.map((event) =>
            forgotten.has(`${event.pid} ${event.replayKey}`) ? { ...event, replayKey: null } : event,
          )
          return { ...change, events }
        })
        return { ...step.value, changes }
      }
      const answers = yield step.value
      known = step.value.map((question, index) => {
        if (question.ask !== 'event' || !question.replayKey.startsWith(prefix)) return answers[index]
        if (answers[index] !== null) forgotten.add(`${question.pid} ${question.replayKey}`)
        return null
      })
    }
  }
}

/** Rewrites events of agents. The record is still the fold of them. */
export function rewriting<Answer>(
  plan: Plan<Answer>,
  rewrite: (event: ProcessEvent) => ProcessEvent,
): Plan<Answer> {
  return changing(plan, (changes) =>
    changes.map((change) => {
      if (change.type !== 'process' || change.was === null || change.row.record.agent === null) return change
      return refolded({ ...change, events: change.events.map(rewrite) }, change.was)
    }),
  )
}

function withAgent(
  row: ProcessRow,
  alter: (agent: NonNullable<ProcessRecord['agent']>) => ProcessRecord['agent'],
): ProcessRow {
  return row.record.agent === null
    ? row
    : { ...row, record: { ...row.record, agent: alter(row.record.agent) } }
}

/** The row as it was before its last turn ended, with the events since then uncounted. */
function beforeEndOfTurn(row: ProcessRow, { ledger }: Planting): ProcessRow {
  const { pid, agent, outcome, revision } = row.record
  const events = ledger.entry(pid)?.events ?? []
  const end = events.findLastIndex(({ type }) => type === 'turn_ended')
  if (agent === null || outcome !== null || end === -1 || revision !== events.length) return row
  const before = events
    .slice(0, end)
    .reduce<ProcessRecord | null>((folded, event) => evolve(folded, event), null)
  return before === null ? row : { ...row, record: { ...before, revision } }
}

/** Shows agents to recovery as processes whose attempts count. */
function countingAttempts(store: Store): Store {
  return {
    durability: store.durability,
    blobs: store.blobs,
    async ask<Q extends Question>(question: Q): Promise<AnswerTo<Q>> {
      const answer = await store.ask(question)
      if (question.ask !== 'held') return answer
      const page: unknown = answer
      const held = page as Page<ProcessRow>
      const altered: unknown = { ...held, items: held.items.map(withoutAgent) }
      return altered as AnswerTo<Q>
    },
    write: (plan) => store.write(plan),
    onCommit: (listener) => store.onCommit(listener),
    close: () => store.close(),
  }
}

function withoutAgent(row: ProcessRow): ProcessRow {
  return row.record.agent === null ? row : { ...row, record: { ...row.record, agent: null } }
}

function isGivenUp({ type, replayKey }: Pick<StoredEvent, 'type' | 'replayKey'>): boolean {
  return type === 'ended' && replayKey?.startsWith('give_up:') === true
}

function isCancelledBeforeStart({ was, events }: ProcessChange): boolean {
  return (
    was?.record.agent?.turn?.calls === 0 &&
    events.some((event) => payloadOf(event, 'agent_requested')?.request.type === 'cancel_turn')
  )
}

function isOf(...types: readonly string[]): (event: Pick<StoredEvent, 'type'>) => boolean {
  return ({ type }) => types.includes(type)
}

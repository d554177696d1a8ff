import type { AgentAct } from '../../../src/core/agent/act.ts'
import { answerIn } from '../../../src/core/agent/decide-request.ts'
import type { AgentAnswer, AgentRequest, RewindRequest } from '../../../src/core/agent/request.ts'
import { findTarget } from '../../../src/core/agent/rewind.ts'
import { SessionTree } from '../../../src/core/agent/session-tree.ts'
import type { AgentState } from '../../../src/core/agent/state.ts'
import type { Counted } from '../../../src/core/allowance/amounts.ts'
import { decideClaim } from '../../../src/core/lease/decide-claim.ts'
import { decide } from '../../../src/core/process/decide.ts'
import type { Decision, Facts } from '../../../src/core/process/decision.ts'
import type { ProcessEvent, StoredEvent } from '../../../src/core/process/event.ts'
import { fold } from '../../../src/core/process/fold.ts'
import { type Intent, replayKeyOf } from '../../../src/core/process/intent.ts'
import type { Actor } from '../../../src/core/process/record.ts'
import { decideRegister } from '../../../src/core/process/register.ts'
import type { ProcessRow } from '../../../src/core/process/row.ts'
import { verdict } from '../../../src/core/recovery/verdict.ts'
import { FACTS, INTENT, RULES } from '../registered.ts'

export const PID = 'p_azzzzzzzzzzz'

type DistributiveOmit<Union, Keys extends PropertyKey> = Union extends unknown ? Omit<Union, Keys> : never

/** An agent without a store: its row and its events, changed by decisions alone. */
export class PureAgent {
  row: ProcessRow
  events: ProcessEvent[] = []
  at = 1_000
  #holders = 0

  constructor(spec: object = {}) {
    const request = { kind: 'agent', spec: { agent: 'test', model: 'scripted/demo', ...spec } } as const
    const decision = decideRegister(FACTS, { ...INTENT, pid: PID, request }, RULES)
    if (decision.type !== 'register') throw new Error(JSON.stringify(decision))
    const { events, lease } = decision
    const { row, changes } = fold({
      pid: PID,
      was: null,
      group: null,
      events,
      lease,
      actor: 'host',
      at: this.at,
    })
    this.row = row
    this.#keep(changes)
  }

  get agent(): AgentState {
    if (this.row.record.agent === null) throw new Error('It is no native agent')
    return this.row.record.agent
  }

  get types(): string[] {
    return this.events.map(({ type }) => type)
  }

  /** The answer, or the code of the refusal. */
  request(request: AgentRequest, actor: Actor = actorOf(request)): AgentAnswer | string {
    const target = request.type === 'rewind' ? { target: this.#targetOf(request) } : {}
    const decision = this.decide({ type: 'agent_request', request, ...target }, actor)
    switch (decision.type) {
      case 'refuse':
        return decision.refusal.code
      case 'replay':
        return answerIn(decision.event) ?? 'no answer'
      case 'keep':
        return 'kept'
      case 'append':
        return decision.answer ?? 'no answer'
    }
  }

  /** `done`, `replayed`, or the code of the refusal. The holder is the one that has claimed it. */
  act(act: AgentAct, usedUp: Counted | null = null): string {
    const fence = { holder: this.row.holder ?? 'none', fence: this.row.fence }
    return this.outcome(this.decide({ type: 'agent_act', act, fence }, `process:${PID}`, { usedUp }))
  }

  perform(intent: DistributiveOmit<Intent, 'pid' | 'actor' | 'at'>, actor: Actor = 'host'): string {
    return this.outcome(this.decide(intent, actor))
  }

  outcome(decision: Decision): string {
    if (decision.type === 'refuse') return decision.refusal.code
    return decision.type === 'append' ? 'done' : decision.type === 'replay' ? 'replayed' : 'kept'
  }

  decide(
    intent: DistributiveOmit<Intent, 'pid' | 'actor' | 'at'>,
    actor: Actor = 'host',
    facts: Partial<Facts> = {},
  ): Decision {
    this.at += 1
    const whole = { ...intent, pid: PID, actor, at: this.at } as Intent
    const key = replayKeyOf(whole)
    const found = key === null ? undefined : this.events.find(({ replayKey }) => replayKey === key)
    const replayed: StoredEvent | null = found === undefined ? null : { ...found, position: found.seq }
    const decision = decide({ row: this.row, replayed, ...facts }, whole, RULES)
    if (decision.type !== 'append') return decision
    const { events, lease } = decision
    const folded = fold({ pid: PID, was: this.row, group: null, events, lease, actor, at: this.at })
    this.row = folded.row
    this.#keep(folded.changes)
    return decision
  }

  /** Another holder claims and starts it. False: it has nothing to do. */
  claim(): boolean {
    this.#holders += 1
    const holder = `k${this.#holders}`
    // Later than every backoff.
    this.at = Math.max(this.at, this.row.record.retryAt ?? 0)
    const claimed = decideClaim(this.row, { holder, here: [] }, this.at)
    if (claimed.type !== 'granted') return false
    this.row = { ...this.row, ...claimed.lease }
    return this.perform({ type: 'start', fence: claimed.lease }, `kernel:${holder}`) === 'done'
  }

  /** The holder dies, and recovery does what its verdict says. */
  crash(): string {
    const { holder, fence } = this.row
    if (holder === null) return 'free'
    const reached = verdict(this.row, 'dead', this.at, 0, { baseMs: 10, maxMs: 100 })
    const observed = { holder, fence }
    if (reached.type === 'put_back')
      return this.perform({ ...reached, observed, evidence: 'holder_dead' }, 'kernel:k0')
    if (reached.type === 'settle_stop') return this.perform({ ...reached, observed }, 'kernel:k0')
    throw new Error(`An agent is never settled by ${reached.type}`)
  }

  release(): string {
    const { holder, fence } = this.row
    return this.perform({ type: 'release', fence: { holder: holder ?? '', fence } }, `kernel:${holder}`)
  }

  /** All branches of its session. */
  get tree(): SessionTree {
    const tree = new SessionTree()
    for (const event of this.events) tree.add({ ...event, position: event.seq })
    return tree
  }

  #targetOf(request: RewindRequest) {
    return findTarget(this.tree, this.row.record, request, 0)
  }

  #keep(changes: ReturnType<typeof fold>['changes']): void {
    for (const change of changes) if (change.type === 'process') this.events.push(...change.events)
  }
}

/** Only a kernel says that a limit is exceeded, and how far memory is. */
function actorOf({ type }: AgentRequest): Actor {
  return type === 'exceed_limit' || type === 'note_memory' ? 'kernel:k0' : 'host'
}

export function text(words: string) {
  return [{ type: 'text', text: words }]
}

export function run(id: string, mode: 'run' | 'queue' | 'steer' = 'run', words = id): AgentRequest {
  return { type: 'run', id, mode, parts: text(words) }
}

/** A model call that answers with these tool calls, or only with a text. */
export function answer(agent: PureAgent, tools: readonly string[] = []): void {
  const turn = agent.agent.turns
  const call = (agent.agent.turn?.calls ?? 0) + 1
  const model = 'scripted/demo'
  const done = [
    agent.act({ type: 'begin_call', turn, call, model }),
    agent.act({ type: 'begin_output', turn, call }),
    agent.act({
      type: 'record_answer',
      turn,
      call,
      model,
      items: [
        { type: 'item', parts: text('hello') },
        ...tools.map(
          (tool, index) =>
            ({ type: 'tool_call', callId: `${turn}.${call}.${index}`, tool, parts: text('{}') }) as const,
        ),
      ],
    }),
  ]
  if (done.some((one) => one !== 'done')) throw new Error(`The answer was not recorded: ${done}`)
}

export function result(agent: PureAgent, index: number, words = 'ok'): string {
  const turn = agent.agent.turns
  const call = agent.agent.turn?.calls ?? 0
  return agent.act({ type: 'record_result', turn, call, index, parts: text(words), isError: false })
}

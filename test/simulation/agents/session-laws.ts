import { answerIn } from '../../../src/core/agent/decide-request.ts'
import { textOf } from '../../../src/core/agent/prompt.ts'
import { type AgentAnswer, type AgentRequest, requestKey } from '../../../src/core/agent/request.ts'
import type { ModelRequest } from '../../../src/core/model/prompt.ts'
import type { StoredEvent } from '../../../src/core/process/event.ts'
import type { Pid } from '../../../src/core/process/pid.ts'
import { type Check, type Ledger, type ProcessChange, same } from '../ledger.ts'
import { payloadOf } from '../payload.ts'
import type { Stage } from '../stage.ts'
import { LAWS } from './laws.ts'
import { PromptLog } from './prompt-log.ts'
import { SessionModel } from './session-model.ts'
import { ToolEffects } from './tool-effects.ts'

/** The laws of all agents of a world: a model of each session, the prompts of its model, and the effects of its tools. */
export class SessionLaws implements Check {
  readonly effects: ToolEffects
  readonly #stage: Stage
  readonly #ledger: Ledger
  readonly #summariesKeepAll: boolean
  readonly #models = new Map<Pid, SessionModel>()
  readonly #prompts = new Map<Pid, PromptLog>()
  #callIds = 0
  #hasClosedCalls = false

  /** `summariesKeepAll`: as in `PromptLog`. */
  constructor(stage: Stage, ledger: Ledger, summariesKeepAll: boolean) {
    this.#summariesKeepAll = summariesKeepAll
    this.#stage = stage
    this.#ledger = ledger
    this.effects = new ToolEffects(stage, ledger)
  }

  process({ row }: ProcessChange, _before: unknown, stored: readonly StoredEvent[]): void {
    const { record } = row
    if (record.agent === null) return
    const model = this.#modelOf(record.pid)
    if (stored.some(({ type }) => type === 'session_continued')) model.goesOnWith(this.#before(stored))
    model.committed(stored, record)
    for (const event of stored) {
      this.#compareBranch(event)
      this.#compareResult(event)
      this.#hasClosedCalls ||= payloadOf(event, 'tool_answered')?.interrupted === true
    }
  }

  /** Whether tool calls were closed without a result since the last call of this. */
  takeClosedCalls(): boolean {
    const hasClosedCalls = this.#hasClosedCalls
    this.#hasClosedCalls = false
    return hasClosedCalls
  }

  /** A client got this answer. */
  acknowledged(pid: Pid, request: AgentRequest, answer: AgentAnswer): void {
    const broke = (law: string, what: string) =>
      this.#stage.violated(law, `${pid}, ${request.type} ${request.id}: ${what}`)
    const stored = this.#ledger.eventByKey(pid, requestKey(request))
    if (stored === undefined) broke(lawOf(request), `was accepted, and is not in the log`)
    else if (!same(answerIn(stored), answer))
      broke(
        LAWS.answers,
        `was told ${JSON.stringify(answer)}, the log has ${JSON.stringify(answerIn(stored))}`,
      )
    if ('input' in answer && answer.input !== (request.type === 'run' ? request.id : Object(request).input))
      broke(LAWS.answers, `the answer is about ${answer.input}`)
    if (answer.type !== 'cancelled' && answer.type !== 'rolled_back') return
    const reason = this.#modelOf(pid).ended.get(answer.turn)
    if (reason !== answer.type) broke(LAWS.cancelLost, `turn ${answer.turn} is ${reason ?? 'open'}`)
  }

  /** The model of an agent got this request from the kernel with this fence. */
  asked(pid: Pid, fence: number, request: ModelRequest): void {
    const { events = [], leases = [] } = this.#ledger.entry(pid) ?? {}
    // The fence may have risen since the call began. Later calls of other holders have higher ones.
    const begun = events.findLast(
      ({ type, seq }) => type === 'model_call_begun' && Number(leases[seq - 1]?.fence) <= fence,
    )
    if (begun === undefined) this.#stage.violated(LAWS.prompts, `${pid}: a call that is not in the log`)
    else this.#promptsOf(pid).asked(request, begun, { events, before: this.#before(events) })
  }

  /** Whether the call that this process runs for has no result yet. */
  isOpen(pid: Pid): boolean {
    const [agent = '', turn, call, index] = this.#ledger.entry(pid)?.record.owner.toolCall?.split('.') ?? []
    return this.#models.get(agent)?.isOpen(Number(turn), `${call}.${index}`) === true
  }

  /** An id of a tool call that no model has used. */
  newCallId(): string {
    this.#callIds += 1
    return `c${this.#callIds}`
  }

  /** Faults have ended, and time has passed. */
  atRest(): void {
    for (const [pid, model] of this.#models) {
      const entry = this.#ledger.processes.get(pid)
      if (entry === undefined || entry.record.outcome !== null || entry.record.stopRequest !== null) continue
      if (entry.record.status === 'paused') continue
      if (model.openTurn !== null)
        this.#stage.violated(LAWS.inputLost, `${pid}: turn ${model.openTurn} does not go on`)
      else if (model.waiting.length > 0 && !model.waitsForPerson)
        this.#stage.violated(LAWS.inputLost, `${pid}: ${model.waiting} wait, and the agent is idle`)
    }
    this.#checkToolsAtRest()
  }

  /** A cancel stops the tools of its turn. */
  #checkToolsAtRest(): void {
    for (const { pid, record } of this.#ledger.processes.values()) {
      const { toolCall } = record.owner
      // A question about a soft limit is none.
      const isOwn = record.originator === `process:${record.parent}`
      const isCall = record.kind === 'tool' && isOwn && toolCall !== undefined
      if (!isCall || record.outcome !== null || record.stopRequest !== null) continue
      const isAgent = record.parent !== null && this.#models.has(record.parent)
      if (isAgent && !this.isOpen(pid))
        this.#stage.violated(LAWS.cancelLost, `${pid} still runs for ${toolCall}, which is closed`)
    }
  }

  /** A fork knows the turns up to its branch point, and no later ones. */
  #compareBranch(event: StoredEvent): void {
    const continued = payloadOf(event, 'session_continued')
    if (continued === undefined) return
    const begun = this.#before([event]).flatMap((log) =>
      log.map((one) => payloadOf(one, 'turn_begun')?.turn ?? 0),
    )
    const known = Math.max(0, ...begun)
    if (known !== continued.turns)
      this.#stage.violated(
        LAWS.branch,
        `${event.pid} knows turn ${known}, and branches behind ${continued.turns}`,
      )
  }

  /** What a tool did not return is no result of it. */
  #compareResult(event: StoredEvent): void {
    const answered = payloadOf(event, 'tool_answered')
    if (answered === undefined || answered.isError) return
    const { turn, call, index, parts } = answered
    const name = `${event.pid}.${turn}.${call}.${index}`
    const text = textOf(parts)
    if (!this.effects.returned(name).includes(text))
      this.#stage.violated(
        LAWS.results,
        `${name} has ${text}, its tool returned ${this.effects.returned(name)}`,
      )
  }

  /** The logs before that of a fork, each up to where the session leaves it. */
  #before(events: readonly StoredEvent[]): readonly (readonly StoredEvent[])[] {
    const continued = events.map((event) => payloadOf(event, 'session_continued')).find(Boolean)
    return (continued?.earlier ?? []).map(({ pid, through }) =>
      (this.#ledger.entry(pid)?.events ?? []).filter(({ seq }) => seq <= through),
    )
  }

  #modelOf(pid: Pid): SessionModel {
    const known = this.#models.get(pid)
    if (known !== undefined) return known
    const model = new SessionModel((law, what) => this.#stage.violated(law, `${pid}: ${what}`))
    this.#models.set(pid, model)
    return model
  }

  #promptsOf(pid: Pid): PromptLog {
    const known = this.#prompts.get(pid)
    if (known !== undefined) return known
    const prompts = new PromptLog(this.#summariesKeepAll, (law, what) =>
      this.#stage.violated(law, `${pid}: ${what}`),
    )
    this.#prompts.set(pid, prompts)
    return prompts
  }
}

/** What a lost request of this type is called. */
function lawOf({ type }: AgentRequest): string {
  if (type === 'cancel_turn' || type === 'pause' || type === 'shutdown') return LAWS.cancelLost
  return type === 'run' ? LAWS.inputLost : LAWS.answers
}

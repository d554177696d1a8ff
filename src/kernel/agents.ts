import type { AgentAct } from '../core/agent/act.ts'
import { answerIn } from '../core/agent/decide-request.ts'
import type { AgentAnswer, AgentRequest } from '../core/agent/request.ts'
import { toolCallName } from '../core/agent/state.ts'
import { accountOf } from '../core/allowance/account.ts'
import type { Amounts } from '../core/allowance/amounts.ts'
import { modelLimitUsedUp } from '../core/allowance/model-limits.ts'
import { decideTopUp } from '../core/allowance/top-up.ts'
import { RefusedError } from '../core/errors.ts'
import { refuseNote } from '../core/memory/memory-job.ts'
import { chargeOf, type MemoryNote, NO_MEMORY, usesOf } from '../core/memory/memory-note.ts'
import type { Intent } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { isRefusal, type Refusal, refusal } from '../core/refusal.ts'
import { askSoftLimit } from './ask-soft-limit.ts'
import { refusalChanges } from './audit.ts'
import { closedCallReason } from './carry.ts'
import { chargeIn } from './charge.ts'
import { performClosing } from './close-calls.ts'
import type { Edges } from './edges.ts'
import type { Work } from './executor.ts'
import type { Kernel } from './kernel.ts'
import { type Done, perform, performOne } from './perform.ts'
import type { PlanPart } from './plan-part.ts'
import { performRewind, previewRewind, type RewindPreview } from './rewind.ts'
import { interruptScope } from './stop-scope.ts'
import { WorkingRows } from './working-rows.ts'

/** Requests of callers. `allow` also moves amounts between accounts, only a charge exceeds a limit, and only the job of its memory notes it. */
export type CallerRequest = Exclude<AgentRequest, { type: 'allow' | 'exceed_limit' | 'note_memory' }>

/** Requests that may close tool calls: `run` ends a paused turn. */
const CLOSING: ReadonlySet<CallerRequest['type']> = new Set(['run', 'cancel_turn', 'shutdown'])

/** The methods of agents, and the acts of their executors. The rules are in `core/agent/`. */
export class Agents {
  readonly #edges: Edges
  readonly #kernel: Kernel

  constructor(edges: Edges, kernel: Kernel) {
    this.#edges = edges
    this.#kernel = kernel
  }

  /** One method of an agent. The answer is the decision, and is durable; a repeated request gets the same one. */
  async request(pid: Pid, actor: Actor, request: CallerRequest): Promise<AgentAnswer> {
    const asked = { pid, actor, at: this.#edges.clock.now() }
    const intent = { type: 'agent_request', ...asked, request } as const
    if (request.type === 'rewind')
      return this.#answered(await performRewind(this.#edges, { ...intent, request }), pid)
    const performed = CLOSING.has(request.type)
      ? await performClosing(this.#edges, this.#kernel.id, intent)
      : await perform(this.#edges, intent)
    return this.#answered(performed, pid)
  }

  /** What a rewind would answer, and the place behind which it would undo file changes. */
  async previewRewind(
    pid: Pid,
    actor: Actor,
    request: Extract<CallerRequest, { type: 'rewind' }>,
  ): Promise<RewindPreview> {
    const asked = { pid, actor, at: this.#edges.clock.now() }
    return previewRewind(this.#edges, { type: 'agent_request', ...asked, request })
  }

  /** Raises its allowance, in one transaction with the turn that goes on. */
  async allow(
    pid: Pid,
    actor: Actor,
    { id, amounts }: { readonly id: string; readonly amounts: Amounts },
  ): Promise<AgentAnswer> {
    const asked = { pid, actor, at: this.#edges.clock.now() }
    const intent: Intent = { type: 'agent_request', ...asked, request: { type: 'allow', id, amounts } }
    const edges = this.#edges
    const act = { ...asked, action: 'allowAgent', target: `process:${pid}` }
    const performed = await edges.store.write(function* () {
      const rows = new WorkingRows()
      const answer = yield* topUp(edges, rows, intent, amounts)
      return {
        answer,
        changes: isRefusal(answer) ? yield* refusalChanges(edges, answer, act) : rows.changes,
      }
    })
    if (isRefusal(performed)) throw new RefusedError(performed)
    return this.#answered(performed, pid)
  }

  /** One act of the executor, under the fence of its attempt. */
  act(work: Work, act: AgentAct): Promise<Done> {
    return this.#kernel.performAs(work, { type: 'agent_act', act })
  }

  /** Records the use of a model call and charges it, in one transaction: a limit that it exceeds ends the turn there. */
  async recordUsage(
    work: Work,
    usage: Extract<AgentAct, { type: 'record_usage' }>,
    amounts: Amounts,
  ): Promise<ProcessRow> {
    const { pid } = work.record
    const edges = this.#edges
    const { id: self, defaultEnvRef } = this.#kernel
    for (;;) {
      const fence = work.fence()
      const asked = { pid, actor: `process:${pid}`, at: edges.clock.now() } as const
      const answer = await edges.store.write<ProcessRow | Refusal>(function* () {
        const rows = new WorkingRows()
        const was = yield* rows.process(pid)
        const performed = yield* performOne(edges, rows, { type: 'agent_act', ...asked, act: usage, fence })
        if (performed.type === 'refused') return { answer: performed.refusal, changes: [] }
        if (performed.type === 'appended' && was !== null)
          yield* askSoftLimit(edges, rows, { was, now: performed.row, at: asked.at, defaultEnvRef })
        const replayKey = `usage:${usage.turn}.${usage.call}`
        const charging = { pid, actor: `kernel:${self}`, amounts, done: true, replayKey } as const
        const charged = yield* chargeIn(edges, self, rows, charging)
        if (isRefusal(charged)) return { answer: charged, changes: [] }
        return { answer: charged.row, changes: rows.changes }
      })
      if (!isRefusal(answer)) {
        this.#kernel.carryOn(answer)
        return answer
      }
      // As with every write of an executor: the fence may have risen during the write.
      if (answer.code !== 'stale_fence' || work.fence().fence <= fence.fence) throw new RefusedError(answer)
    }
  }

  /**
   * A note of the job that keeps the memory of an agent, with the charge for what it used, in one transaction. The same id is one note.
   * No call begins if nothing is left of a limit.
   */
  async noteMemory(pid: Pid, id: string, note: MemoryNote): Promise<ProcessRow> {
    const edges = this.#edges
    const self = this.#kernel.id
    const asked = { pid, actor: `kernel:${self}`, at: edges.clock.now() } as const
    const request = { type: 'note_memory', id, note } as const
    const answer = await edges.store.write<ProcessRow | Refusal>(function* () {
      const rows = new WorkingRows()
      const was = yield* rows.process(pid)
      const stale = refuseNote(note.job, yield* rows.process(note.job), self)
      if (stale !== undefined) return { answer: stale, changes: [] }
      if (was !== null && note.type === 'call_begun') {
        const usedUp = modelLimitUsedUp(yield* rows.account(accountOf(pid)))
        if (usedUp !== null) return { answer: nothingLeft(pid, usedUp), changes: [] }
      }
      const performed = yield* performOne(edges, rows, { type: 'agent_request', ...asked, request })
      if (performed.type === 'refused') return { answer: performed.refusal, changes: [] }
      if (performed.type !== 'appended' || was === null)
        return { answer: performed.row, changes: rows.changes }
      let row = performed.row
      for (const [index, use] of usesOf(was.record.agent?.memory ?? NO_MEMORY, note).entries()) {
        const replayKey = `memory:${id}:${index}`
        const charging = { pid, actor: asked.actor, amounts: chargeOf(use), done: true, replayKey } as const
        const charged = yield* chargeIn(edges, self, rows, charging)
        if (isRefusal(charged)) return { answer: charged, changes: [] }
        row = charged.row
      }
      return { answer: row, changes: rows.changes }
    })
    if (isRefusal(answer)) throw new RefusedError(answer)
    this.#kernel.carryOn(answer)
    return answer
  }

  /** The processes of closed tool calls are interrupted before the answer. The mark of the row is for a crash in between. */
  async #answered(performed: Awaited<ReturnType<typeof perform>>, pid: Pid): Promise<AgentAnswer> {
    if (performed.type === 'refused') throw new RefusedError(performed.refusal)
    const answer = performed.type === 'replayed' ? answerIn(performed.event) : answerOf(performed)
    if (answer === null) throw new Error(`A request to ${pid} without an answer`)
    this.#kernel.carryOn(performed.row)
    for (const ref of 'interrupts' in answer ? answer.interrupts : []) {
      const scope = { toolCall: toolCallName(pid, ref) }
      const reason = closedCallReason(pid)
      // Nothing is found if the call had ended, or had not begun.
      await interruptScope(this.#kernel, `kernel:${this.#kernel.id}`, scope, { reason, tree: false })
    }
    return answer
  }
}

function answerOf(performed: Exclude<Done, { type: 'replayed' }>): AgentAnswer | null {
  return performed.type === 'appended' ? (performed.answer ?? null) : null
}

function* topUp(
  edges: Edges,
  rows: WorkingRows,
  intent: Extract<Intent, { type: 'agent_request' }>,
  amounts: Amounts,
): PlanPart<Done | Refusal> {
  const performed = yield* performOne(edges, rows, intent)
  if (performed.type === 'refused') return performed.refusal
  // A repeated request has raised the allowance before.
  if (performed.type !== 'appended') return performed
  const was = yield* rows.account(accountOf(intent.pid))
  const account = was ?? { ...NO_LIMITS, id: accountOf(intent.pid) }
  const giver = account.parent === null ? null : yield* rows.account(account.parent)
  const decided = decideTopUp(account, giver, amounts)
  if (decided.type === 'refuse') return decided.refusal
  rows.add([{ type: 'account', was, account: decided.account }])
  if (decided.giver !== null) rows.add([{ type: 'account', was: giver, account: decided.giver }])
  return performed
}

function nothingLeft(pid: Pid, limit: string): Refusal {
  return refusal(
    'limit_exceeded',
    `Nothing is left of the allowance of ${limit} of ${pid}.`,
    'Give the agent more.',
  )
}

const NO_LIMITS = {
  parent: null,
  root: null,
  session: null,
  given: {},
  used: {},
  below: {},
  carved: {},
  settled: false,
} as const

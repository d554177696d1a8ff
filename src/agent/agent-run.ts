import { pause } from '../base/pause.ts'
import { fillsWindow } from '../core/agent/compaction.ts'
import { type AgentStep, nextStep } from '../core/agent/next-step.ts'
import { isOutsideModel } from '../core/agent/outside.ts'
import { type OpenToolCall, toolCallName } from '../core/agent/state.ts'
import { ReeveError, RefusedError } from '../core/errors.ts'
import { estimateRequest } from '../core/model/estimate.ts'
import type { ToolCall } from '../core/model/prompt.ts'
import { knownEvent, type StoredEvent } from '../core/process/event.ts'
import type { Ending } from '../core/process/intent.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { startSpecOf } from '../core/process/spec.ts'
import { closedCallReason } from '../kernel/carry.ts'
import type { Left, Parked, Work } from '../kernel/executor.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { interruptScope } from '../kernel/stop-scope.ts'
import { AgentContext } from './agent-context.ts'
import { AgentLedger } from './agent-ledger.ts'
import { AGENT_TIMES, type AgentParts } from './agent-parts.ts'
import { type AnswerEnd, ModelCaller, type TurnFailure } from './call-model.ts'
import { SessionCompactor, windowRemedy } from './compact-session.ts'
import { TurnFinisher } from './finish-turn.ts'
import { MemoryJobs } from './memory/memory-jobs.ts'
import type { AgentModel } from './open-for-agent.ts'
import { OutsideTurns } from './outside/outside-turns.ts'
import type { SessionHistory } from './session-history.ts'
import { SilenceWatch } from './silence-watch.ts'
import type { PendingCall } from './toolbox/toolbox.ts'
import { TurnHooks } from './turn-hooks.ts'
import { TurnReports } from './turn-reports.ts'
import { TurnSignal } from './turn-signal.ts'
import { undoFiles } from './undo-files.ts'

/** Answers in a row whose calls could not be executed: then the model does not know how to call. */
const MAX_INVALID_ANSWERS = 3
/** Refused writes in a row without a change of the record. Each is a race that the next look settles; more are a defect. */
const MAX_CONFLICTS = 5
const LEAVE_MS = 1_000

type Step<Type extends AgentStep['type']> = Extract<AgentStep, { type: Type }>

/**
 * One attempt at an agent: looks at the record, does the next step, and looks again, until the agent is idle or has ended. All state is in
 * the record and the log, so a crash between any two writes costs a model call at most.
 */
export class AgentRun {
  readonly #ledger: AgentLedger
  readonly #parts: AgentParts
  readonly #history: SessionHistory
  readonly #turnSignal: TurnSignal
  readonly #context: AgentContext
  readonly #caller: ModelCaller
  readonly #compactor: SessionCompactor
  readonly #finisher: TurnFinisher
  readonly #reports: TurnReports
  readonly #hooks: TurnHooks
  readonly #memory: MemoryJobs
  /** Null: Reeve calls the model of the agent. */
  readonly #outside: OutsideTurns | null
  #conflicts = { revision: 0, count: 0 }

  constructor(work: Work, kernel: Kernel, parts: AgentParts, history: SessionHistory) {
    this.#ledger = new AgentLedger(work, kernel)
    this.#parts = parts
    this.#history = history
    this.#turnSignal = new TurnSignal(kernel, work.record.pid)
    this.#context = new AgentContext(this.#ledger, parts, history)
    this.#caller = new ModelCaller(this.#ledger, parts, history)
    this.#memory = new MemoryJobs(kernel)
    this.#compactor = new SessionCompactor(this.#ledger, parts, history, this.#caller, this.#context)
    this.#finisher = new TurnFinisher(this.#ledger, parts, history, this.#caller)
    this.#reports = new TurnReports(this.#ledger, parts)
    this.#hooks = new TurnHooks(this.#ledger, parts)
    const isOutside = isOutsideModel(startSpecOf(work.record)['model'])
    this.#outside = isOutside ? new OutsideTurns(this.#ledger, parts, history) : null
  }

  async run(): Promise<Ending | Parked | Left> {
    const { kernel, pid } = this.#ledger
    const { silentMs } = { ...AGENT_TIMES, ...this.#parts.times }
    const report = () => this.#reports.silence(silentMs)
    const silence = new SilenceWatch({ clock: kernel.edges.clock, silentMs, report })
    const unsubscribe = kernel.feed.on(pid, (events) => {
      if (events === null || !events.every(isSilence)) silence.heard()
    })
    try {
      return await this.#drive()
    } finally {
      this.#turnSignal.close()
      unsubscribe()
      await silence.close()
    }
  }

  async #drive(): Promise<Ending | Parked | Left> {
    const { signal } = this.#ledger.work
    for (;;) {
      signal.throwIfAborted()
      try {
        const mark = this.#turnSignal.mark
        const record = await this.#look()
        const done = await this.#perform(record, mark)
        if (done !== null) return done
      } catch (error) {
        if (signal.aborted) throw signal.reason
        const done = await this.#afterError(error)
        if (done !== null) return done
      }
    }
  }

  /** An error never ends the agent: the next look settles a race, the turn ends with a defect, and trouble of the store is left to a later attempt. */
  async #afterError(error: unknown): Promise<Parked | Left | null> {
    try {
      if (!(error instanceof ReeveError)) return await this.#reports.defect(error)
      if (!(error instanceof RefusedError) || error.code === 'stale_fence') return await this.#leave()
      const { revision, outcome } = await this.#ledger.record()
      // Also a program of the agent may have ended: then the next look finds that.
      if (error.code === 'already_ended' && outcome !== null) return { status: 'parked' }
      const count = this.#conflicts.revision === revision ? this.#conflicts.count + 1 : 1
      this.#conflicts = { revision, count }
      return count < MAX_CONFLICTS ? null : await this.#reports.defect(error)
    } catch (second) {
      this.#ledger.kernel.edges.onTrouble(second, `driving ${this.#ledger.pid}`)
      return this.#leave()
    }
  }

  /** The next attempt begins a moment later, so that lasting trouble does not cause a busy loop. */
  async #leave(): Promise<Left> {
    await pause(this.#ledger.kernel.edges.clock, LEAVE_MS, this.#ledger.work.signal)
    return { status: 'left' }
  }

  async #look(): Promise<ProcessRecord> {
    const record = await this.#ledger.record()
    await this.#history.catchUp(record)
    return record
  }

  /** Null: look at the record again. */
  async #perform(record: ProcessRecord, mark: number): Promise<Parked | null> {
    const step = nextStep(record)
    if (this.#outside !== null && step !== null) {
      const signal = this.#signalOf(record.agent?.turn?.number ?? 0, mark)
      if (await this.#outside.perform(record, step, signal)) return null
    }
    switch (step?.type) {
      case undefined:
        throw new Error(`${record.pid} is no agent`)
      case 'none':
        // The end took the lease back; a stop aborts the signal of the attempt.
        if (step.why === 'ended') return { status: 'parked' }
        await this.#waitForChange(mark)
        return null
      case 'go_idle':
        await this.#beginMemoryJob(record)
        await this.#ledger.act({ type: 'go_idle' })
        return { status: 'parked' }
      case 'cut_call':
        await this.#ledger.act({ type: 'cut_call', turn: step.turn, call: step.call, why: 'holder lost' })
        await this.#look()
        await this.#chargeLost(record, step.turn)
        return null
      case 'run_tools':
        await this.#chargeLost(record, step.turn)
        await this.#runTools(step, mark)
        return null
      case 'call_model':
        await this.#chargeLost(record, step.turn)
        await this.#callModel(record, step, mark)
        return null
      case 'undo_files': {
        const asker = record.agent?.turn?.asker ?? record.originator
        await undoFiles(
          { ledger: this.#ledger, toolbox: this.#parts.toolbox },
          record,
          { turn: step.turn, since: step.since, asker },
          this.#signalOf(step.turn, mark),
        )
        return null
      }
      case 'end_turn': {
        const turn = record.agent?.turn
        if (turn === null || turn === undefined) return null
        if (this.#outside === null) await this.#chargeLost(record, step.turn)
        const signal = this.#signalOf(step.turn, mark)
        const beforeExit = () => this.#joinMemory(record, signal)
        await this.#finisher.finish(record, turn, { signal, beforeExit })
        return null
      }
    }
  }

  async #waitForChange(mark: number): Promise<void> {
    const { work } = this.#ledger
    const takeBack = work.lendSlot()
    try {
      await this.#turnSignal.changed(mark, work.signal)
    } finally {
      takeBack()
    }
  }

  /** The use of a call that a crash kept from being recorded. */
  async #chargeLost(record: ProcessRecord, turn: number): Promise<void> {
    for (const call of this.#history.uncharged(turn)) {
      await this.#caller.chargeEstimate(record, { turn, call })
      await this.#look()
    }
  }

  /** Aborted when the turn is over or paused, or this attempt is. */
  #signalOf(turn: number, mark: number): AbortSignal {
    return AbortSignal.any([this.#turnSignal.of(turn, mark), this.#ledger.work.signal])
  }

  async #callModel(given: ProcessRecord, step: Step<'call_model'>, mark: number): Promise<void> {
    const { turn, call } = step
    const signal = this.#signalOf(turn, mark)
    if (signal.aborted) return
    for (const ref of step.interruptFirst) await this.#interrupt(toolCallName(given.pid, ref))
    if ((await this.#history.invalidAnswers(turn)) >= MAX_INVALID_ANSWERS) {
      const message = `The model made ${MAX_INVALID_ANSWERS} answers in a row whose tool calls could not be executed.`
      await this.#ledger.act({ type: 'end_turn', turn, reason: 'invalid_tool_calls', message })
      return
    }
    if (call === 1 && step.purpose === 'answer' && !(await this.#hooks.start(turn, signal))) return
    if (await this.#context.sample(given, turn)) return
    await this.#reports.servers(turn)
    if (step.purpose === 'compaction') return this.#compact(given, { turn, call }, { signal })
    const opened = await this.#caller.openFrom(given, this.#history.progressOf(turn).model)
    // No call begins with a model that cannot be opened.
    if ('reason' in opened) return this.#settle(turn, opened)
    if (await this.#shortensFirst(given, { turn, call }, opened.model, signal)) return
    const begun = await this.#ledger.act({ type: 'begin_call', turn, call, model: opened.model.id })
    // Nothing is left of a limit: the turn has ended instead.
    if (begun.agent?.turn?.call?.number !== call) return
    await this.#history.catchUp(begun)
    const answered = await this.#caller.answer(begun, { turn, call }, signal)
    if (answered.type === 'overflow') await this.#overflowed(turn, answered)
    else await this.#settle(turn, answered)
  }

  /**
   * Shortens a session whose next prompt leaves no room for an answer. It is judged by its effect: if the prompt is still too long, or the
   * summary fails, an alert says so, and the session is not shortened by itself again. The call is made all the same.
   */
  async #shortensFirst(
    record: ProcessRecord,
    at: { readonly turn: number; readonly call: number },
    { id, facts: { contextWindow } }: AgentModel,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (contextWindow === undefined || this.#history.isCompactedInVain) return false
    const tokens = estimateRequest(await this.#caller.request(record))
    if (!fillsWindow(tokens, contextWindow)) return false
    if (this.#history.isCompactedIn(at.turn)) {
      await this.#alertInVain(
        at,
        `The session still takes about ${tokens} of ${contextWindow} tokens after it was shortened. ${windowRemedy(id)}`,
      )
      return true
    }
    const compacted = await this.#compactor.compact(record, at, { signal })
    if (compacted.type === 'failed') await this.#alertInVain(at, this.#parts.mask(compacted.message))
    return true
  }

  async #alertInVain({ turn, call }: { readonly turn: number; readonly call: number }, message: string) {
    const alert = 'compaction_without_effect'
    await this.#ledger.act({ type: 'alert', turn, alert, message, key: `window:${call}` })
  }

  /** A prompt that is too long is shortened once. If that was not enough, the turn ends. */
  async #overflowed(
    turn: number,
    { tokens, model }: { readonly tokens: number; readonly model: string },
  ): Promise<void> {
    const { mark } = this.#turnSignal
    const record = await this.#look()
    if (this.#history.isCompactedIn(turn)) {
      const message = `The session is still longer than the context window of the model after it was shortened. ${windowRemedy(model)}`
      await this.#ledger.act({
        type: 'alert',
        turn,
        alert: 'compaction_without_effect',
        message,
        key: 'context',
      })
      await this.#ledger.act({ type: 'end_turn', turn, reason: 'limit:context', message })
      return
    }
    const call = (record.agent?.turn?.calls ?? 0) + 1
    const signal = this.#signalOf(turn, mark)
    await this.#compact(record, { turn, call }, { signal, overflowed: tokens })
  }

  /** Returns whether the agent has long-term memory. A defect of it ends no agent; after trouble of the store the job of the next turn reads this one, too. */
  async #beginMemoryJob(record: ProcessRecord): Promise<boolean> {
    if (this.#outside !== null) return false
    try {
      const memory = await this.#parts.toolbox.memory?.(record)
      if (memory === undefined || memory === null) return false
      await this.#memory.begin(record)
      return true
    } catch (error) {
      if (error instanceof ReeveError) throw error
      this.#ledger.kernel.edges.onTrouble(error, `beginning the memory job of ${record.pid}`)
      return false
    }
  }

  /** What the session has now gets into memory first: the next segment begins with the new index. A job that takes too long goes on alone. */
  async #joinMemory(record: ProcessRecord, signal: AbortSignal): Promise<void> {
    if (!(await this.#beginMemoryJob(record))) return
    const { memoryMs } = { ...AGENT_TIMES, ...this.#parts.times }
    const waiter = this.#ledger.work
    await this.#memory.join(record.pid, { timeoutMs: memoryMs, signal, waiter })
  }

  async #compact(
    record: ProcessRecord,
    at: { readonly turn: number; readonly call: number },
    how: Parameters<SessionCompactor['compact']>[2],
  ): Promise<void> {
    await this.#joinMemory(record, how.signal)
    if (how.signal.aborted) return
    const compacted = await this.#compactor.compact(await this.#look(), at, how)
    if (compacted.type === 'failed') await this.#settle(at.turn, compacted)
  }

  async #settle(turn: number, answered: AnswerEnd | TurnFailure): Promise<void> {
    if (answered.type !== 'failed') return
    const { reason } = answered
    await this.#ledger.act({ type: 'end_turn', turn, reason, message: this.#parts.mask(answered.message) })
  }

  async #runTools({ turn, tools }: Step<'run_tools'>, mark: number): Promise<void> {
    const signal = this.#signalOf(turn, mark)
    const calls = await Promise.all(tools.map((tool) => this.#pendingCall(turn, tool)))
    const { toolbox } = this.#parts
    await toolbox.seen(this.#ledger.pid, this.#history.referencedFiles)
    try {
      await toolbox.run(this.#ledger.work, turn, calls, signal)
    } catch (error) {
      // The turn is over or paused: the record says which.
      if (!signal.aborted) throw error
    }
  }

  async #pendingCall(turn: number, open: OpenToolCall): Promise<PendingCall> {
    const { call, index, callId, tool } = open
    const part = await this.#history.toolCall(turn, call, index)
    const { input = {}, problem }: Partial<ToolCall> = part ?? {}
    return { call, index, callId, tool, input, ...(problem === undefined ? {} : { problem }) }
  }

  async #interrupt(toolCall: string): Promise<void> {
    const { kernel, pid } = this.#ledger
    const reason = closedCallReason(pid)
    // Nothing is found if the call had ended, or had not begun.
    await interruptScope(kernel, `kernel:${kernel.id}`, { toolCall }, { reason, tree: false })
  }
}

function isSilence(event: StoredEvent): boolean {
  const known = knownEvent(event)
  return known?.type === 'agent_alerted' && known.payload.alert === 'silent'
}

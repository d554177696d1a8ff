import type { AgentStep } from '../../core/agent/next-step.ts'
import { type ProgramState, unbudgeted } from '../../core/agent/outside.ts'
import { exact } from '../../core/allowance/amounts.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import { specOf, startSpecOf } from '../../core/process/spec.ts'
import type { AgentLedger } from '../agent-ledger.ts'
import type { AgentParts } from '../agent-parts.ts'
import { requestMessage } from '../kept-rpc/rpc-message.ts'
import { isTooLong, MAX_WRITE_BYTES, writeWhileAlive } from '../kept-rpc/write-message.ts'
import type { SessionHistory } from '../session-history.ts'
import { FIRST_SEQ } from './handshake.ts'
import { type OpenedProgram, openProgram } from './open-program.ts'
import { OutsideFailure } from './outside-failure.ts'
import { ProgramLog } from './program-log.ts'
import { promptBlocks } from './prompt-blocks.ts'
import { PromptRun, promptId } from './prompt-run.ts'

type CallStep = Extract<AgentStep, { type: 'call_model' }>

/**
 * The turns of an agent that is a program of its own. The state machine is that of every agent: a prompt is the model call of a step, and
 * what the program reports meanwhile are its items, its tool calls and their results.
 */
export class OutsideTurns {
  readonly #ledger: AgentLedger
  readonly #parts: AgentParts
  readonly #history: SessionHistory

  constructor(ledger: AgentLedger, parts: AgentParts, history: SessionHistory) {
    this.#ledger = ledger
    this.#parts = parts
    this.#history = history
  }

  /** Whether the step is done; else it is that of every agent. */
  async perform(record: ProcessRecord, step: AgentStep, signal: AbortSignal): Promise<boolean> {
    if (step.type === 'none' || step.type === 'end_turn') return false
    const { program, turn = null } = record.agent ?? {}
    const open = program?.prompt ?? null
    if (program !== undefined && open !== null && open.turn !== turn?.number) {
      // Its turn is over: the program is told, and has to answer before it is asked again.
      await this.#follow(record, program, AbortSignal.abort())
      return true
    }
    if (step.type === 'go_idle') return false
    try {
      if (program !== undefined && open !== null) await this.#goOn(record, program, signal)
      else await this.#prompt(record, step, signal)
    } catch (error) {
      if (!(error instanceof OutsideFailure)) throw error
      const { reason, message } = error
      await this.#ledger.act({
        type: 'end_turn',
        turn: step.turn,
        reason,
        message: this.#parts.mask(message),
      })
    }
    return true
  }

  async #prompt(
    record: ProcessRecord,
    step: Exclude<AgentStep, { type: 'none' | 'end_turn' | 'go_idle' }>,
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted) return
    if (step.type === 'call_model' && step.purpose === 'compaction')
      throw new OutsideFailure('setup_failed', 'An outside agent shortens its session by itself.')
    if (record.limits.allowance?.cost !== undefined)
      throw new OutsideFailure('setup_failed', unbudgeted(modelOf(record)).join(' '))
    const { turn } = step
    const opened = await openProgram(this.#parts.outside, record, signal)
    const log = new ProgramLog(this.#ledger, opened.program)
    if (opened.how !== 'kept') await this.#begun(record, turn, opened, log)
    const begun = step.type === 'call_model' ? await this.#beginCall(record, step) : record
    await this.#history.catchUp(begun)
    const call = begun.agent?.turn?.calls ?? 0
    const told = begun.agent?.head ?? 0
    const prompt = { turn, call, seq: 0, after: log.state.told, isFirst: opened.how === 'new' }
    const message = await this.#message(begun, { ...log.state, told, prompt })
    if (isTooLong(message))
      throw new OutsideFailure(
        'setup_failed',
        `An input to an outside agent has at most ${MAX_WRITE_BYTES} bytes.`,
      )
    const key = `${log.state.pid}:${promptId({ ...log.state, prompt })}`
    const isNoted = await log.record(turn, modelOf(begun), [], () => ({ told, prompt }), key, {
      numbers: 'prompt',
    })
    if (!isNoted) return
    const verbs = this.#parts.outside.verbsOf(begun)
    await writeWhileAlive(verbs, log.state.pid, message, FIRST_SEQ + (log.state.prompt?.seq ?? 0))
    await this.#run(begun, log, signal)
  }

  /** A new program is in the log, before anything is said to it. */
  async #begun(
    record: ProcessRecord,
    turn: number,
    { how, program }: OpenedProgram,
    log: ProgramLog,
  ): Promise<void> {
    await log.note(() => ({}), `${program.pid}:opened`)
    if (record.agent?.program === undefined) return
    const message = {
      new: 'The program of the agent had ended. A new one knows of the session what its first prompt tells.',
      loaded: 'The program of the agent had ended. A new one has loaded the session.',
      resumed: 'The program of the agent had ended. A new one has resumed the session.',
      kept: '',
    }[how]
    const key = `program:${program.pid}`
    await this.#ledger.act({ type: 'report_trouble', turn, code: 'program_replaced', message, key })
  }

  #beginCall(record: ProcessRecord, { turn, call }: CallStep): Promise<ProcessRecord> {
    return this.#ledger.act({ type: 'begin_call', turn, call, model: modelOf(record) })
  }

  /** An earlier holder began this prompt. */
  async #goOn(record: ProcessRecord, program: ProgramState, signal: AbortSignal): Promise<void> {
    await this.#history.catchUp(record)
    await this.#follow(record, program, signal)
  }

  async #follow(given: ProcessRecord, program: ProgramState, signal: AbortSignal): Promise<void> {
    const log = new ProgramLog(this.#ledger, program)
    const record = await this.#freshCall(given, log)
    const prompted = await this.#ledger.kernel.edges.store.ask({
      ask: 'eventAt',
      pid: record.pid,
      seq: program.prompt?.seq ?? 0,
    })
    const run = this.#runOf(record, log)
    await run.writeAgain(await this.#message(record, program), prompted?.position ?? 0)
    await this.#finish(record, log, run, signal)
  }

  /** What an earlier holder has shown of a call, and not recorded, comes again in another one. */
  async #freshCall(record: ProcessRecord, log: ProgramLog): Promise<ProcessRecord> {
    const turn = record.agent?.turn ?? null
    const { prompt } = log.state
    if (turn === null || turn.number !== prompt?.turn || turn.call === null || !turn.hasOutput) return record
    const steps = [{ type: 'cut', why: 'holder lost' }, { type: 'next_call' }] as const
    const key = `${log.state.pid}:again:${turn.number}.${turn.call.number}`
    await log.record(turn.number, modelOf(record), steps, () => ({}), key)
    return this.#ledger.record()
  }

  async #run(record: ProcessRecord, log: ProgramLog, signal: AbortSignal): Promise<void> {
    await this.#finish(record, log, this.#runOf(record, log), signal)
  }

  #runOf(record: ProcessRecord, log: ProgramLog): PromptRun {
    const { outside } = this.#parts
    const parts = { ledger: this.#ledger, agent: this.#parts, outside, log, record }
    return new PromptRun({ ...parts, model: modelOf(record) })
  }

  async #finish(record: ProcessRecord, log: ProgramLog, run: PromptRun, signal: AbortSignal): Promise<void> {
    const turn = log.state.prompt?.turn ?? 0
    const { call, dollars } = await run.run(signal)
    if (call === 0) return
    const cost = dollars === null ? null : await this.#costOf(dollars, log)
    // Tokens only some programs tell, and each in its own way.
    const tokens = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 }
    const usage = { turn, call, model: modelOf(record), ...tokens, cost, isEstimate: dollars !== null }
    await this.#ledger.charge(
      { type: 'record_usage', ...usage },
      {
        modelCalls: 1,
        ...(cost === null ? {} : { cost }),
      },
    )
  }

  /** The program tells the cost of its session so far. One that goes on with a session may count from nothing again. */
  async #costOf(dollars: number, log: ProgramLog): Promise<number> {
    const { agent } = await this.#ledger.record()
    const spent = agent?.totals.cost ?? 0
    const cost = exact((log.state.costBefore ?? 0) + dollars - spent)
    if (cost >= 0) return cost
    await log.note(() => ({ costBefore: spent }), `${log.state.pid}:cost:${spent}`)
    return dollars
  }

  async #message(record: ProcessRecord, program: ProgramState): Promise<JsonObject> {
    const { told, can, session, prompt } = program
    const { system = null } = specOf({ kind: record.kind, spec: startSpecOf(record) }, 'agent')
    const blocks = promptBlocks({
      entries: await this.#history.wholeEntries(),
      partsAt: await this.#history.promoted(),
      after: prompt?.after ?? 0,
      told,
      can,
      system,
      isFirst: prompt?.isFirst ?? false,
    })
    return requestMessage(promptId(program), 'session/prompt', { sessionId: session, prompt: blocks })
  }
}

function modelOf(record: ProcessRecord): string {
  return String(startSpecOf(record)['model'])
}

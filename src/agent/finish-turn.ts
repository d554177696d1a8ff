import { CHECK_CALL } from '../core/agent/decide-call.ts'
import type { AnswerRef } from '../core/agent/event.ts'
import { countTurn, decideNextTurn, type GoalCheck } from '../core/agent/goal.ts'
import { checkRequest, isYes, lastAnswer, parseOutput, repairText, resultText } from '../core/agent/output.ts'
import { MAX_OUTPUT_REPAIRS, type OpenTurn, type Until } from '../core/agent/state.ts'
import { RefusedError } from '../core/errors.ts'
import type { Json } from '../core/json/json.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { AgentLedger } from './agent-ledger.ts'
import type { AgentParts } from './agent-parts.ts'
import { askModel } from './ask-model.ts'
import { failureOf, type ModelCaller } from './call-model.ts'
import type { SessionHistory } from './session-history.ts'
import { undoResult } from './undo-files.ts'

/** A check that finds more is shortened: its beginning is compared with those of other turns, to notice a stall. */
const MAX_FOUND_CHARS = 2_000

interface Finishing {
  readonly signal: AbortSignal
  /** Called before the end of an agent that ends with this turn. Inputs that arrive meanwhile make the end a conflict. */
  readonly beforeExit: () => Promise<void>
}

/** Ends a turn whose model has answered: checks the goal and the schema first. */
export class TurnFinisher {
  readonly #ledger: AgentLedger
  readonly #parts: AgentParts
  readonly #history: SessionHistory
  readonly #caller: ModelCaller

  constructor(ledger: AgentLedger, parts: AgentParts, history: SessionHistory, caller: ModelCaller) {
    this.#ledger = ledger
    this.#parts = parts
    this.#history = history
    this.#caller = caller
  }

  async finish(record: ProcessRecord, turn: OpenTurn, { signal, beforeExit }: Finishing): Promise<void> {
    if (turn.cause === 'rewind' && turn.calls === 0) {
      const result = await undoResult(this.#ledger, turn.number, turn.from)
      await this.#ledger.act({ type: 'end_turn', turn: turn.number, reason: 'finished', result })
      return
    }
    const said = lastAnswer(await this.#history.wholeEntries(), turn.number)
    const { text = '' } = said ?? {}
    const output = await this.#output(turn, text, record.agent?.goal?.input ?? null)
    if (output.type === 'misfit') return this.#repair(turn, output.message)
    const until = record.agent?.goal?.until
    const check = until === undefined ? undefined : await this.#check(record, turn, until, text, signal)
    if (signal.aborted) return
    if (isLastTurn(record, check)) await beforeExit()
    if (signal.aborted) return
    await this.#ledger.act({
      type: 'end_turn',
      turn: turn.number,
      reason: 'finished',
      result: output.value,
      ...(said === null ? {} : { answer: { call: said.call, as: output.as } }),
      ...(turn.output === null ? {} : { fitsSchema: true }),
      ...(check === undefined ? {} : { check }),
    })
  }

  /** The turns of a goal loop have no input of their own: the input that asked for the loop has their schema. */
  async #output(
    turn: OpenTurn,
    text: string,
    goalInput: string | null,
  ): Promise<{ type: 'fits'; value: Json; as: AnswerRef['as'] } | { type: 'misfit'; message: string }> {
    const schema = turn.output === null ? null : await this.#history.schemaOf(turn.input ?? goalInput)
    if (schema === null) return { type: 'fits', value: resultText(text), as: 'text' }
    const parsed = parseOutput(text)
    if (parsed.type === 'not_json') return { type: 'misfit', message: parsed.message }
    const misfit = this.#parts.compileSchema(schema)(parsed.value)
    return misfit === undefined
      ? { type: 'fits', value: parsed.value, as: 'json' }
      : { type: 'misfit', message: misfit }
  }

  async #repair({ number: turn, output }: OpenTurn, misfit: string): Promise<void> {
    const repairs = output?.repairs ?? MAX_OUTPUT_REPAIRS
    if (repairs >= MAX_OUTPUT_REPAIRS) {
      const message = `The answer did not fit the schema after ${repairs} repairs: ${misfit}`
      await this.#ledger.act({ type: 'end_turn', turn, reason: 'invalid_output', message })
      return
    }
    const parts = [{ type: 'text', text: repairText(misfit) }]
    await this.#ledger.act({ type: 'add_system_item', turn, kind: 'repair', parts, key: `repair:${repairs}` })
  }

  async #check(
    record: ProcessRecord,
    turn: OpenTurn,
    until: Until,
    answer: string,
    signal: AbortSignal,
  ): Promise<GoalCheck | undefined> {
    if (until.type === 'model') return this.#judge(record, turn, until.check, answer, signal)
    const check = { run: until.run, key: `goal:${turn.number}`, turn: turn.number }
    try {
      const checked = await this.#parts.runCheck(this.#ledger.work, check, signal)
      return checked === null ? undefined : { holds: checked.succeeded, found: shortened(checked.output) }
    } catch (error) {
      if (!(error instanceof RefusedError) || error.code === 'stale_fence') throw error
      // The rules of the agent deny the command, for example.
      return { holds: false, found: shortened(`The check could not be started: ${error.message}`) }
    }
  }

  async #judge(
    record: ProcessRecord,
    { number: turn }: OpenTurn,
    check: string,
    answer: string,
    signal: AbortSignal,
  ): Promise<GoalCheck | undefined> {
    if (signal.aborted) return undefined
    const prompt = [{ type: 'user', parts: [{ type: 'text', text: checkRequest(check, answer) }] }] as const
    const request = { system: '', prompt, tools: [] }
    const at = { turn, call: CHECK_CALL }
    const parts = { ledger: this.#ledger, caller: this.#caller }
    const asked = await askModel(parts, record, at, { request, signal })
    if (asked.type === 'failed') return unchecked(asked.message)
    const { answer: judged, model, usage, text } = asked
    if (signal.aborted) {
      await this.#caller.chargeStopped(at, model, request, judged)
      return undefined
    }
    if (usage !== undefined) await this.#caller.charge(at, model, usage)
    if (judged.type === 'answered') return { holds: isYes(text), found: shortened(text) }
    if ('failure' in judged) return unchecked(failureOf(judged.failure).message)
    return unchecked('message' in judged ? judged.message : `The check was ${judged.type}.`)
  }
}

function isLastTurn({ spec, agent }: ProcessRecord, check: GoalCheck | undefined): boolean {
  const goal = agent?.goal ?? null
  return spec['once'] === true && (goal === null || decideNextTurn(countTurn(goal, check), check) !== 'go_on')
}

/** A check that failed is no verdict: the loop ends, because another turn would be paid for without knowing that it is needed. */
function unchecked(why: string): GoalCheck {
  return { holds: false, found: shortened(why), failed: true }
}

function shortened(text: string): string {
  return text.length <= MAX_FOUND_CHARS ? text : text.slice(-MAX_FOUND_CHARS)
}

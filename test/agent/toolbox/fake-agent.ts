import type { PendingCall, Toolbox } from '../../../src/agent/toolbox/toolbox.ts'
import type { AgentAct, AnswerItem } from '../../../src/core/agent/act.ts'
import { nextStep } from '../../../src/core/agent/next-step.ts'
import { type Json, type JsonObject, objectOf } from '../../../src/core/json/json.ts'
import type { ToolCallProblem } from '../../../src/core/model/prompt.ts'
import type { ProcessRecord } from '../../../src/core/process/record.ts'
import type { Executor, Parked, Work } from '../../../src/kernel/executor.ts'
import type { Kernel } from '../../../src/kernel/kernel.ts'

export interface FakeCall {
  readonly tool: string
  readonly input?: JsonObject
  readonly problem?: ToolCallProblem
}

/**
 * The tool calls of each answer of a model; after the last one it answers with a text, and the turn ends. A function gets the texts of
 * all results so far.
 */
export type Script = readonly FakeAnswer[]
type FakeAnswer = readonly FakeCall[] | ((texts: readonly string[]) => readonly FakeCall[])

/** A driver of agents without a model: `scripts` has the script of each agent, by name. It uses the toolbox as the real one does. */
export class FakeAgents implements Executor {
  readonly serves = [{ kind: 'agent', targets: null }] as const
  readonly #toolbox: Toolbox
  readonly #scripts: Readonly<Record<string, Script>>

  constructor(toolbox: Toolbox, scripts: Readonly<Record<string, Script>>) {
    this.#toolbox = toolbox
    this.#scripts = scripts
  }

  async run(work: Work, kernel: Kernel): Promise<Parked> {
    let { record } = work
    const act = async (given: AgentAct) => {
      record = (await kernel.agents.act(work, given)).row.record
    }
    for (;;) {
      work.signal.throwIfAborted()
      const step = nextStep(record)
      switch (step?.type) {
        case 'go_idle':
          await act({ type: 'go_idle' })
          return { status: 'parked' }
        case 'cut_call':
          await act({ type: 'cut_call', turn: step.turn, call: step.call, why: 'crash' })
          break
        case 'call_model': {
          const { turn, call } = step
          await act({ type: 'begin_call', turn, call, model: 'fake/model' })
          await act({
            type: 'record_answer',
            turn,
            call,
            model: 'fake/model',
            items: await this.#answer(kernel, record, call),
          })
          break
        }
        case 'run_tools':
          record = await this.#runTools(work, kernel, record, step.turn)
          break
        case 'end_turn':
          await act({ type: 'end_turn', turn: step.turn, reason: 'finished' })
          break
        default:
          throw new Error(`The fake agent cannot ${JSON.stringify(step)}`)
      }
    }
  }

  async #answer(
    { edges }: Kernel,
    { spec, pid }: ProcessRecord,
    call: number,
  ): Promise<readonly AnswerItem[]> {
    const answer = this.#scripts[String(spec['agent'])]?.[call - 1]
    if (answer === undefined) return [{ type: 'item', parts: [{ type: 'text', text: 'Done.' }] }]
    const calls = typeof answer === 'function' ? answer(await textsOf(edges, pid)) : answer
    return calls.map(({ tool, input = {}, problem }, index) => {
      const callId = `call_${call}_${index}`
      const part = { type: 'tool_call', callId, tool, input, ...(problem === undefined ? {} : { problem }) }
      return { type: 'tool_call', callId, tool, parts: [part] }
    })
  }

  async #runTools(work: Work, kernel: Kernel, record: ProcessRecord, turn: number): Promise<ProcessRecord> {
    const { pid } = record
    const calls = await pendingCalls(kernel, record)
    const over = new AbortController()
    const off = kernel.feed.on(pid, (events) => {
      if (events?.some(({ type }) => type === 'turn_ended') === true)
        over.abort(new Error('The turn is over.'))
    })
    try {
      await this.#toolbox.run(work, turn, calls, AbortSignal.any([work.signal, over.signal]))
    } catch (error) {
      if (!over.signal.aborted && !(error instanceof Error && 'code' in error && error.code === 'turn_ended'))
        throw error
    } finally {
      off()
    }
    const row = await kernel.edges.store.ask({ ask: 'process', pid })
    if (row === null) throw new Error(`${pid} is gone`)
    return row.record
  }
}

async function pendingCalls(
  { edges }: Kernel,
  { pid, agent }: ProcessRecord,
): Promise<readonly PendingCall[]> {
  const open = agent?.turn?.tools ?? []
  const events = await edges.store.ask({ ask: 'events', pid, after: 0, limit: 10_000 })
  return open.map(({ call, index, callId, tool }) => {
    const called = events.find(({ type, payload }) => {
      const { turn, call: inCall, index: at } = objectOf(payload)
      return type === 'tool_called' && turn === agent?.turn?.number && inCall === call && at === index
    })
    const input = objectOf(partOf(called?.payload)['input'])
    const { problem } = partOf(called?.payload)
    return { call, index, callId, tool, input, ...(isProblem(problem) ? { problem } : {}) }
  })
}

function partOf(payload: Json | undefined): JsonObject {
  const { parts } = objectOf(payload)
  return Array.isArray(parts) ? objectOf(parts[0]) : {}
}

function isProblem(value: Json | undefined): value is Json & ToolCallProblem {
  return objectOf(value)['type'] === 'malformed'
}

async function textsOf({ store }: Kernel['edges'], pid: string): Promise<readonly string[]> {
  const events = await store.ask({ ask: 'events', pid, after: 0, limit: 10_000 })
  return events
    .filter(({ type }) => type === 'tool_answered')
    .map(({ payload }) => String(partOf(payload)['text'] ?? ''))
}

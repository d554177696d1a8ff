import { messageOf } from '../../base/error-text.ts'
import { MAX_HOOK_CHARS } from '../../core/agent/hooks.ts'
import type { Need } from '../../core/capability/need.ts'
import { RefusedError } from '../../core/errors.ts'
import { type Json, type JsonObject, objectOf } from '../../core/json/json.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import { MAX_CALL_CHARS } from '../../core/script/limits.ts'
import { divergence, isCallable } from '../../core/script/script.ts'
import { builtInName, isProcessTool } from '../../core/tool/built-in-name.ts'
import type { CallAnswer, ScriptCall } from '../../script/messages.ts'
import { ToolError } from '../tools/agent-tool.ts'
import type { AgentTools } from './agent-tools.ts'
import { partsIn, problemOf, textOf } from './call-result.ts'
import type { Hooks } from './hooks.ts'
import { justificationOf } from './justification.ts'
import { registerCall } from './register-call.ts'
import type { RunningCall } from './running-calls.ts'
import { wholeTextOf } from './stored-output.ts'
import { effectsOf, OF_AGENT, unknownTool } from './tool-calls.ts'
import type { ToolboxParts } from './toolbox.ts'

/** The processes of the calls of one script. They are ruled on as calls of its agent: a script has no right of its own. */
export class ScriptCalls {
  readonly #parts: ToolboxParts
  readonly #tools: AgentTools
  readonly #hooks: Hooks
  readonly #running: RunningCall

  constructor(parts: ToolboxParts, tools: AgentTools, hooks: Hooks, running: RunningCall) {
    this.#parts = parts
    this.#tools = tools
    this.#hooks = hooks
    this.#running = running
  }

  /** Registers the process of a call, or finds that of an earlier attempt. Returns why there is none. */
  async begin(pid: Pid, call: ScriptCall, signal: AbortSignal): Promise<{ readonly refused: string } | null> {
    const { work, agent } = this.#running
    const kernel = this.#parts.kernel()
    const input = inputOf(call)
    const found = await kernel.edges.store.ask({ ask: 'process', pid })
    if (found !== null) {
      const diverged = divergence(call.n, found.record, { tool: call.tool, input })
      if (diverged !== undefined) throw new ToolError('script_diverged', diverged)
      return null
    }
    const all = (await this.#tools.of(agent)).filter(
      ({ name, tool }) => isCallable(name) && tool?.script === undefined,
    )
    const known = all.find(({ name }) => name === call.tool)
    if (known === undefined) return { refused: unknownTool(call.tool, all) }
    let effects: readonly Need[] | undefined
    try {
      effects = known.tool === null ? undefined : await effectsOf(known.tool, input)
    } catch (error) {
      return { refused: this.#parts.mask(messageOf(error)) }
    }
    const blocked = await this.#blocked(call, input, signal)
    if (blocked !== null) return { refused: blocked }
    try {
      await registerCall(kernel, work, { known, input, effects, pid })
      return null
    } catch (error) {
      if (!(error instanceof RefusedError) || OF_AGENT.has(error.code)) throw error
      return { refused: this.#parts.mask(`${error.message} ${error.remedy}`) }
    }
  }

  /** What the script gets for a call whose process has ended. */
  async answerOf(n: number, pid: Pid, signal: AbortSignal): Promise<CallAnswer> {
    const kernel = this.#parts.kernel()
    const row = await kernel.edges.store.ask({ ask: 'process', pid })
    const { mask } = this.#parts
    if (row === null || row.record.outcome === null)
      return { n, isError: true, json: JSON.stringify(`The call ${pid} is not kept any more.`) }
    const { record } = row
    const { outcome } = record
    if (outcome === null) throw new Error(`${pid} has not ended`)
    await this.#after(n, record, signal)
    if (outcome.status !== 'completed') {
      const problem = problemOf(record, outcome, await justificationOf(kernel, record))
      return { n, isError: true, json: JSON.stringify(mask(problem)) }
    }
    const json = isProcessTool(record.spec['tool'])
      ? JSON.stringify(await this.#textOf(outcome.result))
      : mask(JSON.stringify(outcome.result))
    return json.length <= MAX_CALL_CHARS
      ? { n, isError: false, json }
      : { n, isError: false, json: cut(json) }
  }

  /** The whole text of a result, without pictures. */
  async #textOf(result: Json): Promise<string> {
    const parts = partsIn(objectOf(result)['parts'])
    const hash = wholeTextOf(parts)
    const whole = hash === null ? null : await this.#parts.kernel().edges.store.blobs.get(hash)
    if (whole !== null) return Buffer.from(whole).toString('utf8')
    return parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n')
  }

  async #blocked({ n, tool }: ScriptCall, input: Json, signal: AbortSignal): Promise<string | null> {
    const ends = await this.#hook('before_tool', n, tool, { input }, signal)
    const end = ends.find(({ type }) => type === 'blocked')
    return end?.type === 'blocked' ? `A hook blocked this call; it did not run. ${end.text}` : null
  }

  async #after(n: number, { spec, outcome }: ProcessRecord, signal: AbortSignal): Promise<void> {
    const isError = outcome?.status !== 'completed'
    const result = textOf(outcome?.result ?? null).slice(0, MAX_HOOK_CHARS)
    const tool = builtInName(spec['tool']) ?? String(spec['tool'])
    await this.#hook('after_tool', n, tool, { input: spec['input'] ?? null, isError, result }, signal)
  }

  #hook(
    event: 'before_tool' | 'after_tool',
    n: number,
    tool: string,
    facts: { readonly [name: string]: Json },
    signal: AbortSignal,
  ) {
    const { work, agent } = this.#running
    const at = { event, place: `call.${n}`, turn: agent.agent?.turn?.number ?? 0, tool, facts }
    return this.#hooks.run(work, at, signal, agent)
  }
}

/** A text that is too long is cut, and says so: a script that needs the rest asks for less at a time. */
function cut(json: string): string {
  const value: unknown = JSON.parse(json)
  const text = typeof value === 'string' ? value : json
  return JSON.stringify(
    `${text.slice(0, MAX_CALL_CHARS / 2).toWellFormed()}\n(cut off: ${text.length} characters)`,
  )
}

function inputOf({ input }: ScriptCall): JsonObject {
  return objectOf(JSON.parse(input))
}

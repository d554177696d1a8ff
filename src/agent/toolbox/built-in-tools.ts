import { messageOf } from '../../base/error-text.ts'
import { isNativeAgent } from '../../core/agent/state.ts'
import { type Need, needText } from '../../core/capability/need.ts'
import { ReeveError } from '../../core/errors.ts'
import { type Json, objectOf } from '../../core/json/json.ts'
import type { Ending } from '../../core/process/intent.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import { startSpecOf } from '../../core/process/spec.ts'
import { builtInName, isScript } from '../../core/tool/built-in-name.ts'
import type { Parked, Work } from '../../kernel/executor.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { type AgentTool, type AgentToolContext, ToolError } from '../tools/agent-tool.ts'
import type { AgentTools } from './agent-tools.ts'
import type { RunningCalls } from './running-calls.ts'
import type { Scripts } from './scripts.ts'
import { storedOutput } from './stored-output.ts'
import { effectsOf } from './tool-calls.ts'
import { TOOL_TIMES, type ToolboxParts } from './toolbox.ts'

/** Executes the calls of built-in tools: those of Reeve, and those that `moreTools` adds. Only below a native agent. */
export class BuiltInTools {
  readonly #parts: ToolboxParts
  readonly #tools: AgentTools
  readonly #calls: RunningCalls
  readonly #scripts: Scripts

  constructor(parts: ToolboxParts, tools: AgentTools, calls: RunningCalls, scripts: Scripts) {
    this.#parts = parts
    this.#tools = tools
    this.#calls = calls
    this.#scripts = scripts
  }

  async effectsOf(record: ProcessRecord): Promise<readonly Need[]> {
    const { tool, input } = await this.#callOf(await this.#agentOf(record), record)
    return effectsOf(tool, input)
  }

  async run(work: Work, kernel: Kernel): Promise<Ending | Parked> {
    const { record, signal } = work
    try {
      const agent = await this.#agentOf(record)
      const { tool, input } = await this.#callOf(agent, record)
      await refuseOther(record, tool, input)
      const call = { work, agent }
      const script = tool.script?.(input)
      const output = await this.#calls.during(call, () =>
        script === undefined ? this.#within(work, tool, input) : this.#scripts.run(call, script),
      )
      if (output === 'parked') return { status: 'parked' }
      const { store } = kernel.edges
      const result = await storedOutput(
        { store, mask: this.#parts.mask },
        record.pid,
        output,
        tool.isBounded === true,
      )
      return { status: 'completed', result }
    } catch (error) {
      // The kernel turns the reason into the end: a stop, or a lease that went elsewhere.
      if (signal.aborted) throw signal.reason
      const remedy = error instanceof ReeveError ? ` ${error.remedy}` : ''
      return failed(this.#parts.mask(`${messageOf(error)}${remedy}`), error)
    }
  }

  /** Runs the tool until it is done, is stopped, or its time is over. A tool that ignores its signal is left behind. */
  async #within(work: Work, tool: AgentTool, input: unknown) {
    const { signal, record } = work
    signal.throwIfAborted()
    const { maxMs = { ...TOOL_TIMES, ...this.#parts.times }.maxRunMs } = tool
    const limit = new AbortController()
    const abortSignal = AbortSignal.any([signal, limit.signal])
    const stopped = Promise.withResolvers<never>()
    const onAbort = () => stopped.reject(abortSignal.reason)
    abortSignal.addEventListener('abort', onAbort, { once: true })
    const cancel =
      maxMs === null
        ? undefined
        : this.#parts.kernel().edges.clock.after(maxMs, () => limit.abort(outOfTime(tool, maxMs)))
    try {
      const running = tool.run(input, { pid: record.pid, abortSignal, ...ruledBytes(record) })
      return await Promise.race([running, stopped.promise])
    } finally {
      cancel?.()
      abortSignal.removeEventListener('abort', onAbort)
    }
  }

  /**
   * Another actor that registers such a process, with the pid of an agent as its parent, has passed no rule about its effects: only the agent's
   * own executor registers them with their effects, and that of a script of the agent.
   */
  async #agentOf({ parent, originator, pid }: ProcessRecord): Promise<ProcessRecord> {
    const row =
      parent === null ? null : await this.#parts.kernel().edges.store.ask({ ask: 'process', pid: parent })
    if (row !== null && originator === `process:${row.record.pid}`) {
      if (isNativeAgent(row.record)) return row.record
      if (isScript(row.record)) return this.#agentOf(row.record)
    }
    throw new ToolError('not_available', `${pid} is no call of an agent, and this tool is for agents alone.`)
  }

  /** The tool that a process is a call of, with the input for it. */
  async #callOf(agent: ProcessRecord, record: ProcessRecord): Promise<{ tool: AgentTool; input: Json }> {
    const input = startSpecOf(record)['input'] ?? null
    const { tool: written, hash, args } = objectOf(isScript(record) ? input : undefined)
    if (typeof written === 'string')
      return { tool: await this.#written(agent, written, hash), input: args ?? {} }
    const name = builtInName(record.spec['tool'])
    const tool = (await this.#tools.builtIn(agent)).find((one) => one.name === name)
    if (tool === undefined) throw new ToolError('not_available', `The tool ${name} is not available now.`)
    return { tool, input }
  }

  /** The version that was called, as long as it is not revoked. */
  async #written(agent: ProcessRecord, name: string, hash: Json | undefined): Promise<AgentTool> {
    const tool = (await this.#tools.written(agent)).find((one) => one.name === name)
    if (tool === undefined) throw new ToolError('not_available', `The tool ${name} was revoked.`)
    if (tool.hash !== hash)
      throw new ToolError('not_available', `The tool ${name} has another version now. Call it again.`)
    return tool
  }
}

/** A link may have been put into a path since the call was ruled on. An edited call was ruled on as it is now. */
async function refuseOther(record: ProcessRecord, tool: AgentTool, input: unknown): Promise<void> {
  if (record.effectiveSpec !== null) return
  const { needs } = objectOf(record.causedBy ?? undefined)
  const now = (await effectsOf(tool, input)).map(needText)
  if (Array.isArray(needs) && needs.join('\n') === now.join('\n')) return
  throw new ToolError(
    'refused',
    'What this call would touch has changed since it was allowed. Call it again.',
  )
}

/** The size that the caller knew when the call was ruled on. */
function ruledBytes({ effectiveSpec, causedBy }: ProcessRecord): Pick<AgentToolContext, 'ruledBytes'> {
  const { bytes } = objectOf(causedBy ?? undefined)
  return effectiveSpec === null && typeof bytes === 'number' ? { ruledBytes: bytes } : {}
}

function outOfTime({ name }: AgentTool, maxMs: number): ToolError {
  return new ToolError(
    'timed_out',
    `${name} was stopped after ${maxMs / 1_000} s; its effect is unverified, check before repeating.`,
  )
}

const MAX_REASON_CHARS = 8_000

/** An error of a tool is a result that the model reads. */
function failed(message: string, error: unknown): Ending {
  const text = message.slice(0, MAX_REASON_CHARS).toWellFormed()
  const code = error instanceof ToolError ? error.code : 'tool_error'
  return { status: 'failed', reason: text, result: { error: text, code } }
}

import { messageOf } from '../../base/error-text.ts'
import { didYouMean } from '../../base/nearest-name.ts'
import { MAX_HOOK_CHARS } from '../../core/agent/hooks.ts'
import { textOf as textOfParts } from '../../core/agent/prompt.ts'
import { type ToolCallRef, toolCallName } from '../../core/agent/state.ts'
import { missingBlobs } from '../../core/blob/blob-missing.ts'
import type { Need, NeedAttributes } from '../../core/capability/need.ts'
import { type ReeveError, RefusedError } from '../../core/errors.ts'
import { canonical } from '../../core/json/canonical.ts'
import type { ToolCallProblem } from '../../core/model/prompt.ts'
import { awaitsApproval } from '../../core/process/gate.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { Outcome, ProcessRecord } from '../../core/process/record.ts'
import { isProcessTool } from '../../core/tool/built-in-name.ts'
import { writeWithBlobs } from '../../kernel/blobs.ts'
import type { Work } from '../../kernel/executor.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { storeParts } from '../parts/stored-parts.ts'
import type { AgentTool } from '../tools/agent-tool.ts'
import type { AgentSessions } from './agent-sessions.ts'
import type { AgentTools, KnownTool } from './agent-tools.ts'
import { type CallResult, errorResult, resultOf, TOOL_UNAVAILABLE } from './call-result.ts'
import { isToolServed } from './connected-tools.ts'
import type { Hooks } from './hooks.ts'
import { justificationOf } from './justification.ts'
import { registerCall } from './register-call.ts'
import { callKey, type PendingCall, TOOL_TIMES, type ToolboxParts } from './toolbox.ts'

/** The process of each tool call: registers it, or finds the one that an earlier holder registered, and records its result. */
export class ToolCalls {
  readonly #parts: ToolboxParts
  readonly #tools: AgentTools
  readonly #sessions: AgentSessions
  readonly #hooks: Hooks

  constructor(parts: ToolboxParts, tools: AgentTools, sessions: AgentSessions, hooks: Hooks) {
    this.#parts = parts
    this.#tools = tools
    this.#sessions = sessions
    this.#hooks = hooks
  }

  async run(work: Work, turn: number, pending: PendingCall, signal: AbortSignal): Promise<void> {
    const { call, index } = pending
    const ref = { turn, call, index }
    const result = await this.#resultOf(work, ref, pending, signal)
    signal.throwIfAborted()
    await this.#record(work, ref, pending, result)
  }

  /** Why a hook does not let the call begin; null if none blocks it. */
  async #blocked(
    work: Work,
    ref: ToolCallRef,
    { tool, input }: PendingCall,
    signal: AbortSignal,
  ): Promise<CallResult | null> {
    const at = { event: 'before_tool', place: placeOf(ref), turn: ref.turn, tool, facts: { input } } as const
    const ends = await this.#hooks.run(work, at, signal)
    const end = ends.find(({ type }) => type === 'blocked')
    return end?.type === 'blocked'
      ? errorResult(`A hook blocked this call; it did not run. ${end.text}`)
      : null
  }

  /** The result with what hooks say about it. */
  async #noted(
    work: Work,
    ref: ToolCallRef,
    { tool, input }: PendingCall,
    result: CallResult,
    signal: AbortSignal,
  ): Promise<CallResult> {
    const said = textOfParts(result.parts).slice(0, MAX_HOOK_CHARS).toWellFormed()
    const facts = { input, isError: result.isError, result: said }
    const at = { event: 'after_tool', place: placeOf(ref), turn: ref.turn, tool, facts } as const
    const ends = await this.#hooks.run(work, at, signal)
    const notes = ends.flatMap((end) => (end.type === 'passed' && end.text !== '' ? [end.text] : []))
    const parts = notes.map((text) => ({ type: 'text', text: `Note of a hook: ${text}` }))
    return parts.length === 0 ? result : { ...result, parts: [...result.parts, ...parts] }
  }

  async #resultOf(
    work: Work,
    ref: ToolCallRef,
    pending: PendingCall,
    signal: AbortSignal,
  ): Promise<CallResult> {
    if (pending.problem !== undefined)
      return errorResult(await this.#problemText(work.record, pending, pending.problem))
    const kernel = this.#parts.kernel()
    const actor = `process:${work.record.pid}` as const
    const pid = await kernel.edges.pidForKey(actor, callKey(ref))
    const found = await kernel.edges.store.ask({ ask: 'process', pid })
    const blocked = found === null ? await this.#blocked(work, ref, pending, signal) : null
    if (blocked !== null) return blocked
    const begun = found?.record ?? (await this.#begin(work, ref, pending, pid))
    if (!('pid' in begun)) return begun
    const ended = await this.#ended(begun, signal)
    const result = resultOf(ended.record, ended.outcome, {
      mask: this.#parts.mask,
      justification: await justificationOf(kernel, ended.record),
    })
    return this.#noted(work, ref, pending, result, signal)
  }

  /** A tool that the prompt has not declared may be one of the agent's all the same: then a search declares it. */
  async #problemText(
    agent: ProcessRecord,
    { tool }: PendingCall,
    { type, message }: ToolCallProblem,
  ): Promise<string> {
    if (type !== 'unknown_tool') return message
    const { searchable } = await this.#tools.declared(agent)
    if (!searchable.some(({ name }) => name === tool)) return message
    return `${tool} is not declared in this prompt, so it did not run. Find it with tool_search first: then you can call it.`
  }

  /** Registers the process. A refusal becomes the result of the call. */
  async #begin(
    work: Work,
    ref: ToolCallRef,
    { tool: name, input }: PendingCall,
    pid: Pid,
  ): Promise<ProcessRecord | CallResult> {
    const { record: agent } = work
    const all = await this.#tools.of(agent)
    const known = all.find((one) => one.name === name)
    if (known === undefined) return errorResult(unknownTool(name, all))
    let effects: readonly Need[] | undefined
    try {
      effects = known.tool === null ? undefined : await effectsOf(known.tool, input)
    } catch (error) {
      return errorResult(this.#parts.mask(messageOf(error)))
    }
    try {
      const session = await this.#sessions.of(agent)
      const owner = { session, toolCall: toolCallName(agent.pid, ref) }
      const call = { known, input, effects, pid, ofModel: { openCall: ref, owner } }
      return await registerCall(this.#parts.kernel(), work, call)
    } catch (error) {
      if (!(error instanceof RefusedError) || OF_AGENT.has(error.code)) throw error
      return errorResult(this.#parts.mask(`${error.message} ${error.remedy}`))
    }
  }

  /** Waits for the end, as long as a program may begin the process. This program serves built-in tools itself. */
  async #ended(
    { pid, spec }: ProcessRecord,
    signal: AbortSignal,
  ): Promise<{ readonly record: ProcessRecord; readonly outcome: Outcome }> {
    const { lookMs, unservedMs } = { ...TOOL_TIMES, ...this.#parts.times }
    const kernel = this.#parts.kernel()
    const { clock } = kernel.edges
    const look = isProcessTool(spec['tool']) ? {} : { timeoutMs: lookMs }
    let unservedSince: number | null = null
    for (;;) {
      const waited = await kernel.waits.forEnd(pid, { signal, ...look })
      if (waited.type === 'interrupted') throw signal.reason
      if (waited.type === 'done') {
        const { record } = waited.value
        if (record.outcome !== null) return { record, outcome: record.outcome }
        continue
      }
      if (!(await this.#isUnserved(kernel, pid))) unservedSince = null
      else {
        unservedSince ??= clock.now() - lookMs
        if (clock.now() - unservedSince >= unservedMs) await stopUnserved(kernel, pid)
      }
    }
  }

  async #isUnserved(kernel: Kernel, pid: Pid): Promise<boolean> {
    const row = await kernel.edges.store.ask({ ask: 'process', pid })
    if (row === null || row.holder !== null || awaitsApproval(row.record)) return false
    return !(await isToolServed(kernel.edges, String(row.record.spec['tool'])))
  }

  async #record(
    work: Work,
    ref: ToolCallRef,
    { tool, input }: Pick<PendingCall, 'tool' | 'input'>,
    result: CallResult,
  ): Promise<void> {
    const { edges } = this.#parts.kernel()
    const said = canonical(result.parts).replaceAll(PIDS, 'p')
    const mark = (text: string) => edges.hash(text).slice(0, MARK_CHARS)
    const pair = { call: mark(`${tool} ${canonical(input)}`), result: mark(said) }
    try {
      await this.#write(work, ref, result, pair)
    } catch (error) {
      const missing = missingBlobs(error)
      if (missing === undefined) throw error
      const { changes } = result
      if (changes?.some(({ before }) => missing.includes(before ?? '')) === true) {
        // It stays known that the file was changed: only its content before is gone.
        const unkept = changes.map(({ path, before, after }) => ({ path, before, after }))
        return this.#record(work, ref, { tool, input }, { ...result, changes: unkept })
      }
      const lost = 'The call has ended, but its result is not kept any more. Check its effect.'
      await this.#write(work, ref, errorResult(lost), pair)
    }
  }

  async #write(
    work: Work,
    ref: ToolCallRef,
    { parts: given, isError, output, changes, unverified }: CallResult,
    pair: { readonly call: string; readonly result: string },
  ): Promise<void> {
    const { edges, agents } = this.#parts.kernel()
    const { parts, blobs } = storeParts(given)
    await writeWithBlobs(edges, blobs, () =>
      agents.act(work, {
        type: 'record_result',
        ...ref,
        parts,
        isError,
        pair,
        ...(output === undefined ? {} : { output }),
        ...(changes === undefined ? {} : { changes }),
        ...(unverified === undefined ? {} : { unverified }),
      }),
    )
  }
}

/** Where a call is in the session, for the keys of its hooks. */
function placeOf({ turn, call, index }: ToolCallRef): string {
  return `${turn}.${call}.${index}`
}

/** Enough of a hash for the few calls that the stall check compares: each result has two of them. */
const MARK_CHARS = 12

/** Two results that differ in pids only are the same for the stall check. */
const PIDS = /\bp_[0-9a-hjkmnp-tv-z]{12}\b/g

/** Refusals that are about the agent, or its holder, and not about the call. */
export const OF_AGENT: ReadonlySet<ReeveError['code']> = new Set([
  'stale_fence',
  'turn_ended',
  'stopping',
  'already_ended',
  'unknown_pid',
  'session_ended',
  'session_unknown',
])

/** The effects of a call of a built-in tool. A set that allows all of them need not allow the tool; a rule about the tool still holds. */
export async function effectsOf(tool: AgentTool, input: unknown): Promise<readonly Need[]> {
  await tool.parse(input)
  const resource = { kind: 'tool', path: tool.name } as const
  const needs = await tool.needs(input)
  const itself: Need = { right: 'execute', resource, attributes: { transparent: true, ...filesOf(needs) } }
  return [itself, ...needs]
}

/** The files that the tool touches, so that a rule about the tool may be about some files alone. */
function filesOf(needs: readonly Need[]): Pick<NeedAttributes, 'paths' | 'workspace' | 'bytes'> {
  const files = needs.flatMap(({ resource }) =>
    resource.kind === 'fs' && resource.path !== null ? [{ ...resource, path: resource.path }] : [],
  )
  const [file] = files
  if (file === undefined) return {}
  const { workspace } = file
  const bytes = needs.map(({ attributes }) => attributes.bytes).find((known) => known !== undefined)
  return {
    paths: [...new Set(files.map(({ path }) => path))],
    ...(workspace === undefined ? {} : { workspace }),
    ...(bytes === undefined ? {} : { bytes }),
  }
}

export function unknownTool(name: string, all: readonly KnownTool[]): string {
  const names = all.map((tool) => tool.name)
  return `There is no tool ${JSON.stringify(name)}, and no connected program serves one.${didYouMean(name, names)}`
}

async function stopUnserved(kernel: Kernel, pid: Pid): Promise<void> {
  const asked = { pid, actor: `kernel:${kernel.id}`, at: kernel.edges.clock.now() } as const
  const stop = { how: 'cancel', reason: TOOL_UNAVAILABLE, cause: null, replayKey: TOOL_UNAVAILABLE } as const
  await kernel.perform({ type: 'stop', ...asked, ...stop })
}

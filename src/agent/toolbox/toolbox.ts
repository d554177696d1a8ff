import type { HookEnd, HookPlace } from '../../core/agent/hooks.ts'
import type { SkillLine } from '../../core/agent/skills.ts'
import type { ToolCallRef } from '../../core/agent/state.ts'
import type { PutBack } from '../../core/files/plan-undo.ts'
import type { Json, JsonObject } from '../../core/json/json.ts'
import type { ToolCallProblem } from '../../core/model/prompt.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { Actor, ProcessRecord } from '../../core/process/record.ts'
import type { ScriptLimits } from '../../core/script/limits.ts'
import type { ToolDeclaration } from '../../core/tool/declaration.ts'
import type { Work } from '../../kernel/executor.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import type { InputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import type { AgentTool } from '../tools/agent-tool.ts'
import type { SeenFile } from '../tools/files/file-tracker.ts'
import type { PutBackAnswer } from '../tools/files/put-back.ts'
import type { MemoryStore } from './memory-store.ts'

/** The tools of native agents, as the executor of agents uses them. */
export interface Toolbox {
  /** The tools of this agent, now: those that its prompt declares, in a stable order. */
  declarations(agent: ProcessRecord): Promise<readonly ToolDeclaration[]>
  /**
   * Runs the calls as processes, in parallel, and records each result. Resolves when each has one; rejects if the signal is aborted.
   * Calls of an earlier holder are continued, never repeated.
   */
  run(work: Work, turn: number, calls: readonly PendingCall[], signal: AbortSignal): Promise<void>
  /** Runs the hooks of the agent for an event of its turn, each once. Absent where there are none. */
  hooks?(work: Work, at: HookPlace, signal: AbortSignal): Promise<readonly HookEnd[]>
  /** The skills of this agent, now. Without `tools` that use them it has none. */
  skills(agent: ProcessRecord): Promise<readonly SkillLine[]>
  /** What a model has read of loaded skills that are still trusted. */
  skillTexts(
    agent: ProcessRecord,
    names: readonly string[],
  ): Promise<readonly { readonly name: string; readonly text: string }[]>
  /** The long-term memory of the agent; null if it has none. Absent where agents have none. */
  memory?(agent: ProcessRecord): Promise<MemoryStore | null>
  /** Gives a file its earlier content, if nothing else has changed it. Absent where agents have no file tools. */
  putBack?(agent: ProcessRecord, undo: PutBack, asker: Actor): Promise<PutBackAnswer>
  /** The inputs of the agent have these files: it may change them as if it had read them. */
  seen(agent: Pid, files: readonly SeenFile[]): Promise<void>
}

/** A tool call of a model's answer. */
export interface PendingCall {
  readonly call: number
  readonly index: number
  readonly callId: string
  readonly tool: string
  readonly input: JsonObject
  readonly problem?: ToolCallProblem
}

/** The parts that composition passes in: the toolbox knows neither actions nor other executors. */
export interface ToolboxParts {
  readonly kernel: () => Kernel
  /** The verb `spawn` on behalf of a running process, under its fence. */
  readonly spawnAs: (work: Work, request: InputOf<'spawn'>) => Promise<ProcessRecord>
  /** Registers a command in the name of an agent, which may have ended. */
  readonly registerHook: (agent: ProcessRecord, request: InputOf<'spawn'>) => Promise<void>
  /** The verbs on behalf of an actor, with the same checks as at every door. */
  readonly actAs: (actor: Actor) => ReeveVerbs
  /** Masks secrets. Results of tools are masked when they are stored, so that prompts never change. */
  readonly mask: (text: string) => string
  /** Whether this program runs commands. */
  readonly hasCommands: boolean
  /** Where Reeve itself listens: no web page is fetched from there. */
  readonly ownAddresses: () => readonly { readonly address: string; readonly port: number }[]
  /** Further tools of an agent, such as those of its MCP servers. */
  readonly moreTools?: (agent: ProcessRecord) => Promise<readonly AgentTool[]>
  /** The files that the merge of a worktree would change. Absent where agents get no worktrees. */
  readonly mergedPaths?: (worktree: string) => Promise<readonly string[]>
  /** Compiles a JSON schema. Throws if it cannot be used. */
  readonly compileSchema: (schema: JsonObject) => (value: Json) => string | undefined
  readonly times?: Partial<ToolTimes>
  readonly scriptLimits?: Partial<ScriptLimits>
}

/** Times of tool calls, in milliseconds. */
export interface ToolTimes {
  /** How long a built-in tool may run, unless it says otherwise. */
  readonly maxRunMs: number
  /** How often a call that has not begun is looked at, and how long it waits for a program that serves it. */
  readonly lookMs: number
  readonly unservedMs: number
}

export const TOOL_TIMES: ToolTimes = { maxRunMs: 600_000, lookMs: 5_000, unservedMs: 30_000 }

/** The idempotency key of a call: its pid follows from the agent and from its position in the log, never from the provider's id. */
export function callKey({ turn, call, index }: ToolCallRef): string {
  return `tool:${turn}.${call}.${index}`
}

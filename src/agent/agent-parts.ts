import type { Json, JsonObject } from '../core/json/json.ts'
import type { ModelFacts } from '../core/model/facts.ts'
import type { ModelName } from '../core/model/prompt.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Work } from '../kernel/executor.ts'
import type { OpenedModel } from '../model/models.ts'
import type { LiveLogs } from './live/live-logs.ts'
import type { OutsideParts } from './outside/outside-parts.ts'
import type { Toolbox } from './toolbox/toolbox.ts'

/** The parts that composition gives to the executor of agents. */
export interface AgentParts {
  readonly models: {
    open(id: string, folder: string): Promise<OpenedModel>
    /** The facts of the model that agents call `id`, and that gives itself `name`. */
    factsOf(id: string, name: ModelName): ModelFacts
  }
  readonly toolbox: Toolbox
  /** The MCP servers of agents. */
  readonly servers: AgentServers
  readonly live: LiveLogs
  /** For agents that are programs of their own. */
  readonly outside: OutsideParts
  /**
   * Runs a shell line in the name of the agent, as a process of its own. The same key is the same process. Null: the signal was
   * aborted before the command ended.
   */
  runCheck(work: Work, check: GoalCommand, signal: AbortSignal): Promise<CheckedCommand | null>
  /** Returns how a value misses a JSON schema. Throws if the schema cannot be used. */
  compileSchema(schema: JsonObject): (value: Json) => string | undefined
  /** Masks secrets: models read the session log. */
  mask(text: string): string
  readonly times?: Partial<AgentTimes>
}

/** Times of agents, in milliseconds. */
export interface AgentTimes {
  /** How long an agent at work may have no event before it is reported as silent. */
  readonly silentMs: number
  /** How long a compaction and the end of an agent wait for the job that keeps its long-term memory. */
  readonly memoryMs: number
}

export const AGENT_TIMES: AgentTimes = { silentMs: 300_000, memoryMs: 60_000 }

export interface GoalCommand {
  readonly run: string
  readonly key: string
  /** The turn that it checks: the command is stopped if that turn ends meanwhile. */
  readonly turn: number
}

export interface CheckedCommand {
  readonly pid: Pid
  readonly succeeded: boolean
  /** The end of its output, masked. */
  readonly output: string
}

export interface AgentServers {
  /** The alerts about the servers of an agent since the last call. */
  takeAlerts(agent: Pid): readonly { readonly code: string; readonly message: string; readonly key: string }[]
  /** The agent is idle, or is driven elsewhere. */
  release(agent: Pid): void
}

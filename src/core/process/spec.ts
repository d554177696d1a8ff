import type { Hook } from '../agent/hooks.ts'
import type { Amounts } from '../allowance/amounts.ts'
import type { Preset } from '../capability/presets.ts'
import type { Json, JsonObject } from '../json/json.ts'
import type { MemorySpec } from '../memory/memory-spec.ts'
import type { Effort } from '../model/prompt.ts'
import type { Kind, ProcessRecord } from './record.ts'
import type { RestartPolicy } from './restart-policy.ts'
import type { TrackedProcess } from './tracked.ts'

/** The spec of each kind of process. Type aliases, because an interface would not count as JSON. */
export interface Specs {
  readonly command: CommandSpec
  readonly agent: AgentSpec
  readonly workflow: { readonly workflow: string; readonly input?: Json }
  readonly tool: { readonly tool: string; readonly input?: Json }
  readonly external: ExternalSpec
}

/** With a model it is an agent that Reeve drives. The schema in the verb `spawn` describes each field. */
type AgentSpec = {
  readonly agent: string
  readonly goal?: Json
  /** The image that it is made from, with the hash of its version: `reviewer@4f…`. */
  readonly image?: string
  readonly model?: string
  readonly fallbacks?: readonly string[]
  readonly effort?: Effort
  readonly maxOutputTokens?: number
  readonly system?: string
  readonly tools?: readonly string[]
  /** The names of tools that agents above it have written, and that it may use. */
  readonly writtenTools?: readonly string[]
  readonly once?: boolean
  readonly softLimits?: Amounts
  readonly mcpServers?: { readonly [name: string]: McpServerSpec }
  readonly program?: OutsideProgramSpec
  /** The rules of its own session. They only narrow: the rules of its asker bind it as well. */
  readonly preset?: Preset
  /** The JSON schema that the result of its goal must fit. */
  readonly output?: JsonObject
  /** Commands that run at its events. */
  readonly hooks?: readonly Hook[]
  /** Long-term memory in the folders `memory` and `knowledge` of its workspace. Off if it is left out. */
  readonly memory?: MemorySpec
}

/** The program of an outside agent: it speaks the Agent Client Protocol on its standard input and output. */
export type OutsideProgramSpec = {
  readonly argv?: readonly string[]
  readonly run?: string
  readonly env?: { readonly [name: string]: SecretOrText }
}

/** A value, or the name of a secret. */
export type SecretOrText = string | SecretRef
type SecretRef = { readonly secret: string }

/** An MCP server that Reeve starts as a command, or reaches over HTTP. */
export type McpServerSpec = McpCommandSpec | McpHttpSpec

export type McpCommandSpec = {
  readonly type: 'command'
  readonly argv?: readonly string[]
  readonly run?: string
  readonly env?: { readonly [name: string]: SecretOrText }
  readonly cwd?: string
  readonly timeoutMs?: number
}

export type McpHttpSpec = {
  readonly type: 'http'
  readonly url: string
  readonly headers?: { readonly [name: string]: SecretOrText }
  readonly auth?:
    | { readonly type: 'bearer'; readonly token: SecretRef }
    /** Client credentials. The secret is sent to this issuer alone, also if the server names another one. */
    | {
        readonly type: 'oauth'
        readonly issuer: string
        readonly clientId: string
        readonly clientSecret: SecretRef
        readonly scope?: string
      }
  readonly timeoutMs?: number
}

/** The schema in the verb `spawn` describes each field. */
export type CommandSpec = {
  readonly argv?: readonly string[]
  readonly run?: string
  readonly env?: { readonly [name: string]: string }
  readonly passEnv?: readonly string[]
  readonly inheritEnv?: 'whole' | 'part'
  readonly keepEnv?: readonly string[]
  readonly pty?: boolean | { readonly cols?: number; readonly rows?: number }
  readonly stdin?: 'null' | 'pipe' | { readonly text: string }
  readonly output?: 'merged' | 'tagged' | 'direct'
  readonly keepBytes?: number
  readonly timeoutMs?: number
  readonly idleTimeoutMs?: number
  readonly endSignal?: string
  readonly graceMs?: number
  readonly watch?: readonly WatchSpec[]
  readonly ready?: ReadySpec
  readonly notify?: 'complete' | 'failure' | 'none'
  readonly heartbeatMs?: number
  readonly restart?: RestartPolicy
  readonly limits?: {
    readonly memoryBytes?: number
    readonly cpuSeconds?: number
    readonly openFiles?: number
    readonly outputBytes?: number
  }
}

type WatchSpec = { readonly text?: string; readonly pattern?: string; readonly name?: string }

type ReadySpec = { readonly timeoutMs?: number } & (
  | { readonly log: string }
  | { readonly port: number }
  | { readonly http: string }
  | { readonly command: string }
)

type ExternalSpec = {
  readonly description: string
  readonly ref?: Json
  /** Of a tracked process: the OS process behind it. */
  readonly process?: TrackedProcess
}

/** The record of a process of one kind, with its spec typed. */
export type RecordOf<K extends Kind> = ProcessRecord<K, Specs[K]>

export function isKind<K extends Kind>(record: ProcessRecord, kind: K): record is RecordOf<K> {
  return record.kind === kind
}

/** The spec that executors start: a person may have changed it with the approval. */
export function startSpecOf({
  spec,
  effectiveSpec,
}: {
  readonly spec: JsonObject
  readonly effectiveSpec?: JsonObject | null
}): JsonObject {
  return effectiveSpec ?? spec
}

/** The spec of a record whose kind the caller knows, because only processes of that kind reach it. */
export function specOf<K extends Kind>(
  { kind: found, spec }: Pick<ProcessRecord, 'kind' | 'spec'>,
  kind: K,
): Specs[K] {
  if (found !== kind) throw new Error(`A ${found} where only a ${kind} can be`)
  const untyped: JsonObject = spec
  return untyped as Specs[K]
}

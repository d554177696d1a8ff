import './node-version.ts'
import { type ConnectOptions, connect as connectTo } from './client/connect.ts'
import type { Embedded } from './embed/embed.ts'
import type { EmbedOptions } from './embed/options.ts'
import type { Reeve, ServesTools, ServesWorkflows } from './verbs/reeve.ts'

export type { ConnectOptions } from './client/connect.ts'
export type { CommandsOptions } from './command/options.ts'
export type { QuestionAnswer, QuestionInput } from './core/approval/question.ts'
export type { Environment } from './core/environment/environment.ts'
export type { Secrets, Variables } from './core/environment/secrets.ts'
export { type ErrorCode, ReeveError, RefusedError, StoreError } from './core/errors.ts'
export type { Json, JsonObject } from './core/json/json.ts'
export type {
  OutgoingMessage,
  ReceiveAnswer,
  ReceivedMessage,
  ReceiveOptions,
} from './core/message/context-messages.ts'
export type { ReservedEvent, TypedEvent as StoredEvent } from './core/process/event.ts'
export type { Pid } from './core/process/pid.ts'
export type {
  Actor,
  EventType,
  Evidence,
  Kind,
  Lifetime,
  Outcome,
  Owner,
  ProcessRecord,
  Program,
  Recovery,
} from './core/process/record.ts'
export type { EndStatus, LiveStatus, Status } from './core/process/status.ts'
export { decodeValue, encodeValue } from './core/value/stored-value.ts'
export type { Value } from './core/value/value.ts'
export type { Embedded } from './embed/embed.ts'
export type { EmbedOptions } from './embed/options.ts'
export type { ExternalStop, OnStop } from './external/deliveries.ts'
export type { Durability, Store } from './store/contract.ts'
export type { Attachment, OutputPiece } from './verbs/attachment.ts'
export { defineTool, type ToolDefinition, type ToolToDefine } from './verbs/define-tool.ts'
export type { AgentFollowed, InboxNotice } from './verbs/follow-calls.ts'
export type {
  CallOptions,
  InputOf,
  OutputOf,
  Reeve,
  ReeveVerbs,
  ServesTools,
  ServesWorkflows,
  VerbName,
} from './verbs/reeve.ts'
export type { CommandSpec } from './verbs/shapes/command-spec.ts'
export type { StandardSchema } from './verbs/standard-schema.ts'
export type { ChildRequest, SignalAnswer, ToolContext, ToolHandler } from './verbs/tool-function.ts'
export type {
  Child,
  ChildOfWorkflow,
  ChildOutcome,
  RetryPolicy,
  StepInfo,
  StepOptions,
  WorkflowContext,
  WorkflowFunction,
  WorkflowOptions,
} from './verbs/workflow-function.ts'
export { StepError } from './workflow/step-error.ts'

/**
 * Runs a kernel inside this program.
 *
 * ```ts
 * const reeve = await embed({ store: 'reeve.db', tools: { greet: ({ input }) => `hello ${input}` } })
 * const { record } = await reeve.spawn({ kind: 'tool', spec: { tool: 'greet', input: 'world' } })
 * const ended = await reeve.wait({ pid: record.pid })
 * await reeve.close()
 * ```
 */
export async function embed(options: EmbedOptions): Promise<Embedded> {
  // Not a static import: an older Node would not come as far as the check of its version, and a client needs no kernel.
  const { embed } = await import('./embed/embed.ts')
  return embed(options)
}

/** A client that serves workflows and tools of its own program, too. */
export type Connected = Reeve & ServesWorkflows & ServesTools

/**
 * Talks to a daemon, which goes on when this client is closed. The same interface as `embed`.
 *
 * ```ts
 * const reeve = await connect()
 * const { record } = await reeve.spawn({ kind: 'command', spec: { run: 'make' } })
 * for await (const { bytes } of reeve.followOutput({ pid: record.pid })) process.stdout.write(bytes)
 * await reeve.close()
 * ```
 */
export async function connect(options: ConnectOptions = {}): Promise<Connected> {
  const reeve = await connectTo(options)
  // Loaded on demand: most clients serve nothing.
  let worker: Promise<import('./worker/worker.ts').Worker> | undefined
  const serving = () => {
    worker ??= import('./worker/worker.ts').then(({ Worker }) => new Worker(reeve))
    return worker
  }
  return {
    ...reeve,
    workflow: async (name, run, given) => (await serving()).add(name, run, given),
    tool: async (tool) => (await serving()).addTool(tool),
    async close(given) {
      try {
        await (await worker)?.close()
      } finally {
        await reeve.close(given)
      }
    },
  }
}

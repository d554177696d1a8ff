import * as z from 'zod'
import type { RetentionLimits } from '../actions/retention.ts'
import type { Revealed } from '../actions/reveal.ts'
import type { CommandsOptions } from '../command/options.ts'
import { PRESETS, type Preset } from '../core/capability/presets.ts'
import type { Secrets } from '../core/environment/secrets.ts'
import { IMAGE_REF } from '../core/image/image.ts'
import type { FloodLimits } from '../core/inbox/flood.ts'
import { BUILT_IN_WORKFLOWS } from '../core/memory/memory-spec.ts'
import type { OnStop } from '../external/deliveries.ts'
import type { AgentDefaults } from '../kernel/agent-file-reader.ts'
import { type ModelOptions, modelOptions } from '../model/options.ts'
import type { RedactOptions } from '../redaction/redaction.ts'
import type { Store } from '../store/contract.ts'
import type { ServedTool } from '../tool/served-tools.ts'
import type { ToolDefinition } from '../verbs/define-tool.ts'
import { amounts } from '../verbs/shapes/allowance.ts'
import { memory, memoryModel, memoryTimeoutMs } from '../verbs/shapes/memory.ts'
import { duration } from '../verbs/shapes/scalars.ts'
import type { RetryPolicy, WorkflowFunction } from '../verbs/workflow-function.ts'

export interface EmbedOptions {
  /** A file for SQLite, a `postgres://` URL, or a store of your own. A store that is opened here is closed here. */
  readonly store: string | Store
  /** The functions that run `tool` processes in this program, by name, and tools that `defineTool` made; or a list of such tools. */
  readonly tools?: Readonly<Record<string, ServedTool>> | readonly ToolDefinition[]
  /** The functions that run `workflow` processes in this program. */
  readonly workflows?: Readonly<Record<string, WorkflowFunction>>
  /**
   * Models for agents, by the ids that agents name: objects that a provider of the AI SDK makes. Ids like `anthropic/…` need none.
   *
   * ```ts
   * embed({ store: 'agents.db', models: { 'my/model': anthropic('claude-opus-5-5') } })
   * ```
   */
  readonly models?: Readonly<Record<string, unknown>>
  /** Servers and keys of providers, and facts and prices of models, as in the configuration of a daemon. */
  readonly modelOptions?: Partial<ModelOptions>
  /** What an agent without a parent gets where its request is silent: an image, a goal, a budget. */
  readonly agents?: AgentDefaults
  /** The job that keeps the long-term memory of agents: its model, if an agent names none, and how long one call of it may take. */
  readonly memory?: { readonly model?: string; readonly timeoutMs?: number }
  /** A folder whose `agents/`, `skills/` and `commands/` are for all agents, once a person trusts what is in them. */
  readonly home?: string
  /** Runs `command` processes, with their output, pipes and keeper in this folder. */
  readonly commands?: CommandsOptions
  /** Prunes ended processes by age and number, when it starts and then every ten minutes. Without it all are kept. */
  readonly retention?: RetentionLimits
  /** How many processes may run here at once. Commands are not counted, nor processes that wait. */
  readonly concurrency?: number
  /** Called with errors of background work; by default they become process warnings. */
  readonly onTrouble?: (error: unknown, doing: string) => void
  /** How often this kernel renews its row, after how long it counts as dead, how often it recovers others and prunes. */
  readonly times?: {
    readonly renewMs?: number
    readonly ttlMs?: number
    readonly sweepMs?: number
    readonly pruneMs?: number
  }
  /** How many notices of watch matches a session gets; missing members have their defaults. */
  readonly flood?: Partial<FloodLimits>
  /** The preset that every new session gets: `observe`, `ask`, `edit` or `full`. Without it a new session has no rules of its own. */
  readonly sessionPreset?: Preset
  /** The default and the maximal time of a `wait`. */
  readonly waits?: { readonly defaultMs?: number; readonly mostMs?: number }
  /**
   * Secrets in the output of commands and in their command lines are masked, unless this is `false`. `values` and `patterns`
   * (RE2, within a line) are masked as well.
   */
  readonly redact?: RedactOptions
  /**
   * Called with stops of external processes that have no PID on record: those that this program runs itself. Returns whether
   * the stop reached the process; only then is the signal confirmed to callers. After a restart it is called again with
   * stops that were not delivered.
   */
  readonly onStop?: OnStop
  /**
   * Values of the secrets that environments name (`{ secret: 'NAME' }`). Names that are missing here are looked up in the
   * environment variables of this program.
   */
  readonly secrets?: Secrets
  /** Called when an actor is shown secrets, with `reveal`. */
  readonly onReveal?: (revealed: Revealed) => void
}

const milliseconds = z.number().min(0)
const bytes = z.number().int().min(1).optional()
export const secretValues = z.array(z.string().min(1)).max(1_000)
/** RE2 patterns. */
export const secretPatterns = z.array(z.string().min(1).max(1_000)).max(100)
const COMMANDS = z.strictObject({
  home: z.string().min(1),
  most: z.number().int().min(1).max(10_000).optional(),
  graceMs: duration.min(0).optional(),
  environment: z.enum(['login', 'inherit']).optional(),
  shell: z.string().min(1).optional(),
  tree: z.enum(['auto', 'marker']).optional(),
  output: z
    .strictObject({ headBytes: bytes, tailBytes: bytes, totalBytes: bytes, minFreeBytes: bytes })
    .optional(),
})

const workflowFunction = z.custom<WorkflowFunction>((run) => typeof run === 'function', 'must be a function')

const workflowName = z
  .string()
  .min(1)
  .refine((name) => !name.startsWith(BUILT_IN_WORKFLOWS), `must not begin with ${BUILT_IN_WORKFLOWS}`)

/** A tool that `defineTool` made. */
export const TOOL = z.custom<ToolDefinition>(isDefinition, 'must be a tool that defineTool made')

const servedTool = z.custom<ServedTool>(
  (tool) => typeof tool === 'function' || isDefinition(tool),
  'must be a function, or a tool that defineTool made',
)

/** A list, or a record by name. Errors name the member of the form that was given. */
const servedTools = z.unknown().transform((given, context) => {
  const form = Array.isArray(given) ? z.array(TOOL) : z.record(z.string().min(1), servedTool)
  const parsed = form.safeParse(given)
  if (parsed.success) return parsed.data
  for (const { path, message } of parsed.error.issues) context.addIssue({ code: 'custom', path, message })
  return z.NEVER
})

/** The image, goal and budget of agents without a parent. */
const agentDefaults = z.strictObject({
  image: z.string().regex(IMAGE_REF, 'must be the name of an image, or name@hash').exactOptional(),
  goal: z.string().min(1).max(100_000).exactOptional(),
  budget: amounts.exactOptional(),
  memory: memory.exactOptional(),
})

/** Checks the options of `embed`. */
export const OPTIONS = z.strictObject({
  store: z.union(
    [z.string().min(1), z.custom<Store>(isStore)],
    'must be a file, a postgres:// URL, or a store',
  ),
  tools: servedTools.optional(),
  workflows: z.record(workflowName, workflowFunction).optional(),
  models: z
    .record(
      z.string().regex(/^[^/]+\/.+$/, 'must be the id of a model, as provider/model'),
      z.looseObject({}),
    )
    .optional(),
  modelOptions: modelOptions.partial().optional(),
  agents: agentDefaults.optional(),
  memory: z
    .strictObject({ model: memoryModel.exactOptional(), timeoutMs: memoryTimeoutMs.exactOptional() })
    .optional(),
  home: z.string().min(1).optional(),
  concurrency: z.number().int().min(1).max(100_000).optional(),
  onTrouble: z
    .custom<EmbedOptions['onTrouble']>((listener) => typeof listener === 'function', 'must be a function')
    .optional(),
  times: z
    .strictObject({
      renewMs: duration.min(1).optional(),
      ttlMs: duration.min(1).optional(),
      sweepMs: duration.min(1).optional(),
      pruneMs: duration.min(1).optional(),
    })
    .optional(),
  waits: z
    .strictObject({
      defaultMs: duration.min(1).optional(),
      mostMs: duration.min(1).optional(),
    })
    .optional(),
  sessionPreset: z.enum(PRESETS).optional(),
  commands: COMMANDS.optional(),
  retention: z
    .strictObject({
      maxAgeMs: z.number().int().min(0).optional(),
      maxEnded: z.number().int().min(0).optional(),
      toolCallMaxAgeMs: z.number().int().min(0).optional(),
      auditMaxAgeMs: z.number().min(0).optional(),
      auditMaxEntries: z.number().int().min(0).optional(),
    })
    .optional(),
  flood: z
    .strictObject({
      everyMs: duration.min(0).optional(),
      strikes: z.number().int().min(1).optional(),
      burst: z.number().int().min(1).max(1_000).optional(),
      burstMs: duration.min(0).optional(),
      silenceMs: duration.min(0).optional(),
    })
    .optional(),
  redact: z
    .union([
      z.boolean(),
      z.strictObject({
        values: secretValues.optional(),
        patterns: secretPatterns.optional(),
      }),
    ])
    .optional(),
  onStop: z
    .custom<EmbedOptions['onStop']>((listener) => typeof listener === 'function', 'must be a function')
    .optional(),
  secrets: z
    .custom<EmbedOptions['secrets']>(
      (secrets) => typeof Object(secrets).read === 'function',
      'must have a function read',
    )
    .optional(),
  onReveal: z
    .custom<EmbedOptions['onReveal']>((listener) => typeof listener === 'function', 'must be a function')
    .optional(),
})

/** The arguments of `workflow`. */
export const WORKFLOW = z.strictObject({
  name: workflowName,
  run: workflowFunction,
  options: z.strictObject({
    retry: z
      .strictObject({
        times: z.number().int().min(0),
        backoffMs: milliseconds.exactOptional(),
        factor: z.number().min(1).exactOptional(),
        maxBackoffMs: milliseconds.exactOptional(),
        when: z
          .custom<NonNullable<RetryPolicy['when']>>(
            (when) => typeof when === 'function',
            'must be a function',
          )
          .exactOptional(),
      })
      .exactOptional(),
    parkAfterMs: milliseconds.exactOptional(),
    graceMs: milliseconds.exactOptional(),
  }),
})

function isDefinition(tool: unknown): boolean {
  const { type, handler } = Object(tool)
  return type === 'tool' && typeof handler === 'function'
}

function isStore(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && 'ask' in value && 'write' in value && 'onCommit' in value
  )
}

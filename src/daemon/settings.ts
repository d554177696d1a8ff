import * as z from 'zod'
import { WAIT_TIMES } from '../actions/wait-times.ts'
import { MEMORY_TIMEOUT_MS } from '../agent/memory/memory-times.ts'
import { COMMAND_DEFAULTS } from '../command/defaults.ts'
import { PRESETS } from '../core/capability/presets.ts'
import { BASE_IMAGE } from '../core/image/built-in.ts'
import { IMAGE_REF } from '../core/image/image.ts'
import { FLOOD_LIMITS } from '../core/inbox/flood.ts'
import { secretPatterns, secretValues } from '../embed/options.ts'
import { SESSION_GRACE_MS } from '../mcp/session-grace.ts'
import { modelOptions } from '../model/options.ts'
import { amounts } from '../verbs/shapes/allowance.ts'
import { memoryModel, memoryTimeoutMs } from '../verbs/shapes/memory.ts'
import { duration } from '../verbs/shapes/scalars.ts'

const bytes = z.number().int().min(1)
const milliseconds = duration

const ADDRESS = /^(?<host>\[[0-9a-fA-F:.]+\]|[^\s:/[\]]+):(?<port>\d{1,5})$/

function isHttp(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

/** Standard variables of OpenTelemetry. Reeve's own variables go before them. */
const STANDARD_VARIABLES: Readonly<Record<string, string>> = {
  otelEndpoint: 'OTEL_EXPORTER_OTLP_ENDPOINT',
  otelHeaders: 'OTEL_EXPORTER_OTLP_HEADERS',
}

export const settingsSchema = z.strictObject({
  $schema: z.string().exactOptional().describe('where this schema is'),
  listen: z
    .union([
      z.literal('off'),
      z
        .string()
        .regex(ADDRESS)
        .refine((text) => Number(ADDRESS.exec(text)?.groups?.['port']) <= 65_535),
    ])
    .default('127.0.0.1:7337')
    .describe('the address to listen on, as host:port with 0 for any free port; off: only the Unix socket'),
  insecure: z
    .boolean()
    .default(false)
    .describe('listen beyond this machine without TLS: the network can then read tokens and output'),
  tlsCert: z.string().min(1).nullable().default(null).describe('a certificate file (PEM)'),
  tlsKey: z.string().min(1).nullable().default(null).describe('the file with its key (PEM)'),
  hosts: z
    .array(z.string().regex(/^[^\s:/]+(:\d{1,5})?$/))
    .max(100)
    .default([])
    .describe('additional host names of the daemon, behind a proxy for example: name or name:port'),
  store: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('a file for SQLite or a postgres:// URL; reeve.db in the home by default'),
  logLevel: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('the least severe level that is logged'),
  mostCommands: z
    .number()
    .int()
    .min(1)
    .max(10_000)
    .default(COMMAND_DEFAULTS.most)
    .describe('how many commands may run at once'),
  graceMs: milliseconds
    .default(COMMAND_DEFAULTS.graceMs)
    .describe('how long a command may take to end before it is forced, in milliseconds'),
  environment: z
    .enum(['login', 'inherit'])
    .default(COMMAND_DEFAULTS.environment)
    .describe("the base environment of commands: that of a login shell, or the daemon's"),
  inheritEnv: z
    .boolean()
    .default(false)
    .describe(
      'reeve run -d gives commands the environment of the shell, as reeve run in the foreground does',
    ),
  shell: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe("the shell that runs command lines; the user's own by default"),
  tree: z
    .enum(['auto', 'marker'])
    .default(COMMAND_DEFAULTS.tree)
    .describe('marker: use no cgroups, even if they are available'),
  outputHeadBytes: bytes
    .default(COMMAND_DEFAULTS.headBytes)
    .describe('how much of the beginning of each output log is kept'),
  outputTailBytes: bytes
    .default(COMMAND_DEFAULTS.tailBytes)
    .describe('how much of the end of each output log is kept'),
  outputTotalBytes: bytes
    .default(COMMAND_DEFAULTS.totalBytes)
    .describe('how much all output logs together may take; the oldest finished ones are removed first'),
  keepEndedMs: z
    .number()
    .int()
    .min(0)
    .default(14 * 24 * 60 * 60 * 1_000)
    .describe('how long ended processes and their output are kept, in milliseconds; 0: for ever'),
  keepEnded: z
    .number()
    .int()
    .min(0)
    .default(20_000)
    .describe('how many ended processes are kept, the latest ones; 0: all'),
  keepToolCallsMs: z
    .number()
    .int()
    .min(0)
    .default(24 * 60 * 60 * 1_000)
    .describe(
      'how long ended tool calls of an agent are kept that a compaction of its session left out, in milliseconds; 0: as other ended processes',
    ),
  keepAuditMs: z
    .number()
    .int()
    .min(0)
    .default(365 * 24 * 60 * 60 * 1_000)
    .describe('how long entries of the audit are kept, in milliseconds; 0: for ever'),
  keepAudit: z
    .number()
    .int()
    .min(0)
    .default(1_000_000)
    .describe('how many entries of the audit are kept, the latest ones; 0: all'),
  minFreeBytes: bytes
    .default(COMMAND_DEFAULTS.minFreeBytes)
    .describe('with less than this free on disk, commands that print are held back'),
  redact: z
    .boolean()
    .default(true)
    .describe(
      'mask secrets in the output of commands and in their command lines; false: show them to everyone',
    ),
  redactValues: secretValues.default([]).describe('additional texts that are secrets'),
  redactPatterns: secretPatterns
    .default([])
    .describe(
      'additional secrets, as RE2 patterns within a line; with a group, only the group is the secret',
    ),
  waitMs: milliseconds
    .min(1)
    .default(WAIT_TIMES.defaultMs)
    .describe('how long a wait without a timeout lasts, in milliseconds'),
  watchEveryMs: milliseconds
    .default(FLOOD_LIMITS.everyMs)
    .describe('one watch makes at most one notice in this time, in milliseconds'),
  watchStrikes: z
    .number()
    .int()
    .min(1)
    .max(1_000)
    .default(FLOOD_LIMITS.strikes)
    .describe('a watch is disabled after this many such times in a row with more matches'),
  watchBurst: z
    .number()
    .int()
    .min(1)
    .max(1_000)
    .default(FLOOD_LIMITS.burst)
    .describe('how many notices of all watches together a session gets at once'),
  watchBurstMs: milliseconds
    .default(FLOOD_LIMITS.burstMs)
    .describe('the time that watchBurst refers to, in milliseconds'),
  watchSilenceMs: milliseconds
    .default(FLOOD_LIMITS.silenceMs)
    .describe('for how long matches are held back when there are more, in milliseconds'),
  sessionGraceMs: milliseconds
    .refine(
      (ms) => ms === 0 || ms >= 120_000,
      'must be 0, or 120000 and more: clients show themselves every 30 seconds',
    )
    .default(SESSION_GRACE_MS)
    .describe("how long an MCP client's session lives on without a client, in milliseconds; 0: for ever"),
  sessionPreset: z
    .enum(PRESETS)
    .nullable()
    .default(null)
    .describe('the preset that every new session gets: observe, ask, edit or full; by default none'),
  approver: z
    .boolean()
    .default(false)
    .describe(
      'a person sits at each agent client on the socket (reeve mcp), and may be asked there for approvals',
    ),
  providers: modelOptions.shape.providers.describe(
    'servers of models, by the first part of model ids: type, baseURL, key, headers and limits; anthropic, openai and google need none',
  ),
  models: modelOptions.shape.models.describe(
    'facts of models, by id: contextWindow, maxOutputTokens, features and price; they replace those that Reeve knows',
  ),
  agentImage: z
    .string()
    .regex(IMAGE_REF, 'must be the name of an image, or name@hash')
    .default(BASE_IMAGE)
    .describe('the image of an agent that is started without one, and by no other process'),
  agentGoal: z
    .string()
    .min(1)
    .max(100_000)
    .nullable()
    .default(null)
    .describe('the goal of an agent that is started without one, and by no other process'),
  agentBudget: amounts
    .default({})
    .describe(
      'what an agent may use that is started without a budget, and by no other process: tokensIn, tokensOut, cost and others',
    ),
  memory: z
    .boolean()
    .default(false)
    .describe(
      'an agent that is started by no other process has long-term memory, unless it or its image says otherwise',
    ),
  memoryModel: memoryModel
    .nullable()
    .default(null)
    .describe('the model that keeps long-term memory, for agents that name none; by default their own'),
  memoryTimeoutMs: memoryTimeoutMs
    .default(MEMORY_TIMEOUT_MS)
    .describe('how long one call of that model may take, in milliseconds'),
  otelEndpoint: z
    .string()
    .refine(isHttp, 'must be an http:// or https:// URL, without a password: that belongs in otelHeaders')
    .nullable()
    .default(null)
    .describe('where to send OpenTelemetry traces and metrics, over OTLP as JSON; by default nowhere'),
  otelHeaders: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('headers for otelEndpoint, as key=value with commas between, such as an API key'),
  otelIntervalMs: milliseconds
    .min(100)
    .default(10_000)
    .describe('how often telemetry is sent, in milliseconds'),
})

export type Settings = Omit<z.output<typeof settingsSchema>, '$schema'>
export type SettingName = keyof Settings

export interface Setting {
  readonly name: SettingName
  /** As on a command line: `--log-level`. */
  readonly flag: string
  readonly variable: string
  /** A standard variable with the same meaning; null for most settings. */
  readonly standardVariable: string | null
  readonly description: string
  readonly isSwitch: boolean
  /** It may contain a password. */
  readonly isSecret: boolean
  readonly default: unknown
}

/** Settings that may contain a password. */
const SECRET: ReadonlySet<SettingName> = new Set(['store', 'redactValues', 'otelHeaders'])

const names = Object.keys(settingsSchema.shape).filter((name) => name !== '$schema') as SettingName[]

/** A schema that parses few values is slower when it is compiled first. */
export const PARSED_ONCE = { jitless: true }

/** All settings, in the order of the documentation. */
export const settings: readonly Setting[] = names.map((name) => {
  const shape = settingsSchema.shape[name]
  const fallback: unknown = shape.parse(undefined, PARSED_ONCE)
  return {
    name,
    flag: `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    variable: `REEVE_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`,
    standardVariable: STANDARD_VARIABLES[name] ?? null,
    description: shape.description ?? '',
    isSwitch: typeof fallback === 'boolean',
    isSecret: SECRET.has(name),
    default: fallback,
  }
})

/** The JSON Schema of reeve.json, for editors and other tools. */
export function configurationJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(settingsSchema, { io: 'input' })
  return { $schema, title: 'reeve.json', description: 'The configuration of a Reeve daemon.', ...schema }
}

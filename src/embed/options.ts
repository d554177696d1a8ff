import * as z from 'zod'
import { PRESETS } from '../core/capability/presets.ts'
import type { Store } from '../store/contract.ts'
import type { ToolHandler } from '../tool/in-process.ts'
import { duration } from '../verbs/shapes/scalars.ts'
import type { RetryPolicy, WorkflowFunction } from '../verbs/workflow-function.ts'
import type { EmbedOptions } from './embed.ts'

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

/** The options of `embed`. */
export const OPTIONS = z.strictObject({
  store: z.union(
    [z.string().min(1), z.custom<Store>(isStore)],
    'must be a file, a postgres:// URL, or a store',
  ),
  tools: z
    .record(
      z.string().min(1),
      z.custom<ToolHandler>((tool) => typeof tool === 'function', 'must be a function'),
    )
    .optional(),
  workflows: z.record(z.string().min(1), workflowFunction).optional(),
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
  name: z.string().min(1),
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

function isStore(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && 'ask' in value && 'write' in value && 'onCommit' in value
  )
}

import * as z from 'zod'
import type { DelegatedPaths } from '../../core/lien/lien.ts'
import type { Kind } from '../../core/process/record.ts'
import type { TrackedProcess } from '../../core/process/tracked.ts'
import { agentFields } from './agent.ts'
import { commandSpec } from './command-spec.ts'
import { json } from './json.ts'

/** One closed schema per kind. */
export const specs = {
  command: commandSpec,
  agent: z.strictObject({
    agent: z.string().min(1).describe('the name of the agent'),
    goal: json.optional().describe('its goal'),
    ...agentFields,
  }),
  workflow: z.strictObject({
    workflow: z.string().min(1).describe('the name of the workflow'),
    input: json.optional().describe('its input'),
  }),
  tool: z.strictObject({
    tool: z.string().min(1).describe('the name of the tool'),
    input: json.optional().describe('its input'),
  }),
  external: z.strictObject({
    description: z.string().min(1).describe('what it does'),
    ref: json.optional().describe('where it is found outside of Reeve'),
  }),
} as const satisfies Record<Kind, z.ZodType>

/** The OS process that `track` identified. */
const trackedProcess = z.strictObject({
  osPid: z.number().int(),
  startTime: z.string(),
  boot: z.string(),
  host: z.string(),
  pidNamespace: z.string(),
}) satisfies z.ZodType<TrackedProcess>

/** The paths that `spawnAgent` made canonical. */
const delegatedPaths = z.strictObject({
  host: z.string(),
  paths: z.array(z.string()),
  foldsCase: z.literal(true).exactOptional(),
}) satisfies z.ZodType<DelegatedPaths>

/** The same specs as a record holds them: JSON has no member that is undefined. */
export const storedSpecs = {
  command: commandSpec,
  agent: specs.agent.extend({ goal: json.exactOptional(), paths: delegatedPaths.exactOptional() }),
  workflow: specs.workflow.extend({ input: json.exactOptional() }),
  tool: specs.tool.extend({ input: json.exactOptional() }),
  external: specs.external.extend({ ref: json.exactOptional(), process: trackedProcess.exactOptional() }),
} as const satisfies Record<Kind, z.ZodType>

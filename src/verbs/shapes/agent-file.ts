import * as z from 'zod'
import { AGENT_FILE_KINDS } from '../../core/agent-file/agent-file.ts'

const AGENT_FILE_STATES = ['trusted', 'untrusted', 'invalid'] as const

/** A file that defines something for agents, and whether it counts. */
export const agentFileShape = z.strictObject({
  kind: z.enum(AGENT_FILE_KINDS),
  name: z.string(),
  description: z.string(),
  path: z.string().describe('of a skill its folder'),
  workspace: z.string().nullable().describe('the folder that it is for; null: the home'),
  hash: z.string().describe('of its content; of a skill, of all its files'),
  state: z
    .enum(AGENT_FILE_STATES)
    .describe('trusted: it counts; untrusted: it does nothing until a person trusts this version'),
  problem: z.string().nullable().describe('why it cannot be used'),
})

/** A hash as a caller names a version. */
export const versionHash = z.string().min(1).max(200)

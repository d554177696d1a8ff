import * as z from 'zod'
import { count } from './scalars.ts'

const POLICY_FILE_STATES = ['trusted', 'untrusted', 'invalid', 'missing'] as const

export const policyProblem = z.strictObject({ line: count, message: z.string(), remedy: z.string() })

/** A policy file, as it is on disk and as it counts. */
export const policyFileShape = z.strictObject({
  folder: z.string().describe('the workspace'),
  path: z.string(),
  state: z
    .enum(POLICY_FILE_STATES)
    .describe(
      'trusted: all of it counts; untrusted: its asks and denies count; invalid: its last good version counts; missing: its last version counts',
    ),
  hash: z.string().nullable().describe('of the file on disk; null if it is missing or unreadable'),
  problems: z.array(policyProblem),
  rules: z.array(z.string()).describe('the rules of the file on disk, each in one line'),
  activates: z.array(z.string()).describe('the rules that would begin to count if a person trusted it'),
  kept: z
    .array(z.string())
    .describe('rules of earlier versions that count until a person trusts or forgets the file'),
})

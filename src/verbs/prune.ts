import * as z from 'zod'
import type { KeepReason } from '../core/process/prune.ts'
import { count, duration, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

const REASONS = [
  'live',
  'just_ended',
  'carrying',
  'live_tree',
  'live_parent',
  'referenced',
  'unread',
] as const satisfies readonly KeepReason[]

/** Never a live one, nor what a live one refers to; beyond a limit, nor what an unread notice tells of. A pruned pid is refused for 90 days. */
export const prune = verb({
  summary: 'Removes ended processes with their events, notices and output: some, or all beyond a limit.',
  route: 'POST /prune',
  needs: 'admin',
  input: z
    .strictObject({
      olderThanMs: duration.exactOptional().describe('those that ended longer ago'),
      keep: count.exactOptional().describe('how many ended processes stay, the latest ones'),
      pids: z.array(processRef).min(1).max(1_000).exactOptional().describe('these, and no others'),
    })
    .refine(
      ({ olderThanMs, keep, pids }) =>
        pids === undefined
          ? olderThanMs !== undefined || keep !== undefined
          : olderThanMs === undefined && keep === undefined,
      'say olderThanMs, keep, or both; or pids alone',
    ),
  output: z.strictObject({
    pruned: z.array(z.string()),
    kept: z
      .array(z.strictObject({ pid: z.string(), reason: z.enum(REASONS) }))
      .describe('processes within the limits given that are not removed, and why'),
  }),
  codes: ['unknown_pid', 'ambiguous_pid', 'pruned_pid', 'denied'],
})

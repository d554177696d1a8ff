import * as z from 'zod'
import { KEEP_REASONS } from '../core/process/prune.ts'
import { processCodes } from './shapes/codes.ts'
import { age, count, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const prune = verb({
  summary: 'Removes ended processes with their events, notices and output: some, or all beyond a limit.',
  description:
    'Live processes and processes that a live one refers to are kept. Limits also keep processes with an unread notice. A pruned pid is refused for 90 days.',
  route: 'POST /prune',
  needs: 'admin',
  input: () =>
    z
      .strictObject({
        olderThanMs: age.exactOptional().describe('processes that ended longer ago, in milliseconds'),
        keep: count.exactOptional().describe('how many ended processes to keep; the latest stay'),
        pids: z.array(processRef).min(1).max(1_000).exactOptional().describe('these processes only'),
      })
      .refine(
        ({ olderThanMs, keep, pids }) =>
          pids === undefined
            ? olderThanMs !== undefined || keep !== undefined
            : olderThanMs === undefined && keep === undefined,
        'give olderThanMs, keep, or both; or pids alone',
      ),
  output: () =>
    z.strictObject({
      pruned: z.array(z.string()),
      kept: z
        .array(z.strictObject({ pid: z.string(), reason: z.enum(KEEP_REASONS) }))
        .describe('processes beyond the limits that are not removed, and why'),
    }),
  codes: processCodes,
})

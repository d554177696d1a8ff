import * as z from 'zod'
import { EXPORT_FORMATS } from '../core/agent/export/export-item.ts'
import { processCodes } from './shapes/codes.ts'
import { count, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const exportAgent = verb({
  summary:
    'Exports the session log of an agent, in pages: JSON lines, Markdown, or a UI message stream of the AI SDK.',
  description:
    'Concatenate the texts of the pages. A turn that was rolled back is left out; a turn that may still be rolled back comes with a later page.',
  route: 'GET /agents/{pid}/export',
  needs: 'read',
  // The items were masked before they became text.
  masking: 'none',
  input: () =>
    z.strictObject({
      pid: processRef,
      format: z.enum(EXPORT_FORMATS).default('jsonl'),
      after: count.default(0).describe('the `after` of an earlier page, to continue there'),
      limit: z.number().int().min(1).max(1_000).default(500).describe('the maximum number of items, roughly'),
    }),
  output: () =>
    z.strictObject({
      text: z.string(),
      after: count.describe('where the next page begins'),
      more: z.boolean().describe('there is more now'),
    }),
  codes: [...processCodes, 'invalid_request'],
})

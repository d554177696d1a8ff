import * as z from 'zod'
import { processCodes } from './shapes/codes.ts'
import { reveal } from './shapes/output.ts'
import { shownRecord } from './shapes/record.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const show = verb({
  summary: 'Shows one process.',
  route: 'GET /processes/{pid}',
  needs: 'read',
  input: () => z.strictObject({ pid: processRef, reveal }),
  output: () => shownRecord,
  codes: processCodes,
})

import * as z from 'zod'
import { record } from './shapes/record.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const changeCwd = verb({
  summary: 'Changes the working folder of a live process.',
  route: 'POST /processes/{pid}/cwd',
  needs: 'operate',
  input: z.strictObject({ pid: processRef, cwd: z.string().min(1).max(4_096) }),
  output: record,
  codes: ['unknown_pid', 'ambiguous_pid', 'already_ended', 'denied'],
})

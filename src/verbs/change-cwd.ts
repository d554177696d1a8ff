import * as z from 'zod'
import { record } from './shapes/record.ts'
import { folder, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const changeCwd = verb({
  summary: 'Changes the working folder of a live process.',
  route: 'POST /processes/{pid}/cwd',
  needs: 'operate',
  input: () => z.strictObject({ pid: processRef, cwd: folder }),
  output: () => record,
  codes: ['unknown_pid', 'ambiguous_pid', 'already_ended', 'denied'],
})

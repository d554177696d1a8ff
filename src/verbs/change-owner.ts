import * as z from 'zod'
import { owner } from './shapes/owner.ts'
import { record } from './shapes/record.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const changeOwner = verb({
  summary: 'Moves a live process to another owner.',
  route: 'POST /processes/{pid}/owner',
  needs: 'operate',
  input: () => z.strictObject({ pid: processRef, owner: owner.describe('the new owner') }),
  output: () => record,
  codes: ['unknown_pid', 'ambiguous_pid', 'already_ended', 'session_unknown', 'session_ended', 'denied'],
})

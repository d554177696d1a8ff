import * as z from 'zod'
import { json } from './shapes/json.ts'
import { record } from './shapes/record.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const setExternalRef = verb({
  summary: 'Records where an external process is found outside of Reeve.',
  description: 'The first reference counts.',
  route: 'POST /processes/{pid}/external-ref',
  needs: 'operate',
  input: () => z.strictObject({ pid: processRef, ref: json.describe('for example a URL') }),
  output: () => record,
  codes: ['unknown_pid', 'ambiguous_pid', 'already_ended', 'not_external', 'denied'],
})

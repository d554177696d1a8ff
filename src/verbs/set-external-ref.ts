import * as z from 'zod'
import { json } from './shapes/json.ts'
import { record } from './shapes/record.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** The first reference counts. */
export const setExternalRef = verb({
  summary: 'Says where an external process is found outside.',
  route: 'POST /processes/{pid}/external-ref',
  needs: 'operate',
  input: z.strictObject({ pid: processRef, ref: json }),
  output: record,
  codes: ['unknown_pid', 'ambiguous_pid', 'already_ended', 'not_external', 'denied'],
})

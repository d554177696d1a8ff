import * as z from 'zod'
import { worker } from './shapes/worker.ts'
import { verb } from './verb.ts'

export const retireWorker = verb({
  summary: 'Announces that a worker is gone. Processes that it still holds are queued again.',
  route: 'DELETE /workers/{worker}',
  needs: 'operate',
  repeat: 'always',
  input: () => z.strictObject({ worker }),
  output: () => z.strictObject({}),
  codes: ['denied'],
})

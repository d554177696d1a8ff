import * as z from 'zod'
import { owner } from './shapes/owner.ts'
import { question } from './shapes/question.ts'
import { record } from './shapes/record.ts'
import { askerReason, recognised } from './shapes/registration.ts'
import { pid } from './shapes/scalars.ts'
import { spawn, spawnKey } from './spawn.ts'
import { verb } from './verb.ts'

export const ask = verb({
  summary: 'Asks a person a question, with choices or for a text.',
  description:
    'Registers a process of the tool `human.ask`, which waits for the reply, also while the daemon is down. `wait` for it: the reply is its result. A person may also deny it, and a stop withdraws it.',
  route: 'POST /questions',
  needs: 'operate',
  repeat: spawnKey,
  idempotencyHeader: true,
  input: () =>
    z.strictObject({
      ...question,
      reason: askerReason.exactOptional(),
      ...recognised,
      parent: pid.exactOptional().describe('the pid of its parent'),
      owner: owner.exactOptional().describe('the scope that it belongs to'),
    }),
  output: () =>
    z.strictObject({
      type: z.enum(['registered', 'existing']).describe('existing: the question was asked before'),
      record: record.describe('the process that waits for the reply'),
      approval: z.string().describe('the id that people reply to'),
    }),
  codes: spawn.codes,
})

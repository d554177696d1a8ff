import * as z from 'zod'
import { BUILT_IN_WORKFLOWS } from '../core/memory/memory-spec.ts'
import { count, duration } from './shapes/scalars.ts'
import { toolDeclarations, worker } from './shapes/worker.ts'
import { verb } from './verb.ts'

export const announceWorker = verb({
  summary: 'Announces that a program is alive and serves workflows and tools under these names.',
  description:
    'Repeat it before `ttlMs` have passed. Otherwise other workers take over the processes that it holds.',
  route: 'PUT /workers/{worker}',
  needs: 'operate',
  repeat: 'always',
  input: () =>
    z.strictObject({
      worker,
      workflows: z
        .array(
          z
            .string()
            .min(1)
            .max(200)
            .refine(
              (name) => !name.startsWith(BUILT_IN_WORKFLOWS),
              `must not begin with ${BUILT_IN_WORKFLOWS}`,
            ),
        )
        .max(1_000)
        .default([])
        .describe('names of the workflows that it serves'),
      tools: toolDeclarations.default([]).describe('the tools that it serves'),
    }),
  output: () =>
    z.strictObject({
      renewMs: duration,
      ttlMs: duration,
      position: count.describe('the current position of the change feed'),
    }),
  codes: ['denied'],
})

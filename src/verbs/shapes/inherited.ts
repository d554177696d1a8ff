import * as z from 'zod'
import { variableName, variableValue } from './variables.ts'

/** Resource limits, by the names that prlimit(1) uses. */
const RESOURCES = [
  'as',
  'core',
  'cpu',
  'data',
  'fsize',
  'locks',
  'memlock',
  'msgqueue',
  'nice',
  'nofile',
  'nproc',
  'rss',
  'rtprio',
  'rttime',
  'sigpending',
  'stack',
]

const limit = z.number().int().min(0).nullable()

/**
 * The environment that a program inherits from its starter. It is sent to the keeper and stored in no record, event or log: a
 * person's environment holds secrets. Only a caller on the daemon's own socket may send it.
 */
export const inherited = z.strictObject({
  env: z.record(variableName, variableValue).describe('the environment variables'),
  umask: z.number().int().min(0).max(0o777).exactOptional().describe('the file mode mask'),
  rlimits: z
    .record(
      z.string().refine((name) => RESOURCES.includes(name), 'must be a resource limit'),
      z.tuple([limit, limit]),
    )
    .exactOptional()
    .describe('soft and hard resource limits by name, like nofile; null: unlimited'),
})

export type Inherited = z.output<typeof inherited>

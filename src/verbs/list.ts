import * as z from 'zod'
import { filter } from './shapes/filter.ts'
import { record } from './shapes/record.ts'
import { cursor, pageSize } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** In order of registration. `shared` marks what is listed only because of a grant. */
export const list = verb({
  summary: 'Lists processes; without a status, those that have not ended.',
  route: 'GET /processes',
  needs: 'read',
  input: z.strictObject({ filter: filter.default({}), after: cursor.exactOptional(), limit: pageSize }),
  output: z.strictObject({
    processes: z.array(z.strictObject({ record, shared: z.boolean() })),
    next: z.string().nullable(),
  }),
  codes: [],
})

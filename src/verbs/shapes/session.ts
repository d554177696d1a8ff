import * as z from 'zod'
import type { Grant } from '../../core/session/grant.ts'
import type { Session } from '../../core/session/session.ts'
import { amounts } from './allowance.ts'
import { json } from './json.ts'
import { time } from './scalars.ts'

/** `carry`: its end is still being carried to the processes whose lifetime it is. */
export const session = z.strictObject({
  id: z.string(),
  label: z.string().nullable(),
  openedAt: time,
  touchedAt: time,
  endedAt: time.nullable(),
  deleted: z.boolean(),
  carry: z.boolean(),
  allowance: amounts.exactOptional(),
  workspaces: z
    .array(z.string())
    .readonly()
    .exactOptional()
    .describe('the folders that its agent works in; their rules bind the session'),
  sessionsAbove: z.array(z.string()).exactOptional().describe('the sessions above it, its parent first'),
}) as z.ZodType<Session>

export const turn = z.strictObject({
  id: z.string(),
  session: z.string(),
  openedAt: time,
  endedAt: time.nullable(),
  carry: z.boolean(),
})

export const grantShape = z.strictObject({
  session: z.string(),
  pid: z.string(),
  descriptor: json,
  at: time,
}) as z.ZodType<Grant>

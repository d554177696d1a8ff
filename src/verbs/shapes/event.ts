import * as z from 'zod'
import type { StoredEvent } from '../../core/process/event.ts'
import { json } from './json.ts'
import { actor } from './record.ts'
import { count, time } from './scalars.ts'

export const storedEvent = z.strictObject({
  position: count,
  pid: z.string(),
  seq: count,
  type: z.string(),
  at: time,
  actor,
  replayKey: z.string().nullable(),
  payload: json,
}) as z.ZodType<StoredEvent>

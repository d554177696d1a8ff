import * as z from 'zod'
import type { Owner } from '../../core/process/record.ts'
import { selector, sessionId, turnId } from './scalars.ts'

/** What a process may belong to; all that are given must match. */
export const selectors = {
  session: sessionId.exactOptional(),
  turn: turnId.exactOptional(),
  toolCall: selector.exactOptional(),
  terminal: selector.exactOptional(),
  extension: selector.exactOptional(),
  hook: selector.exactOptional(),
  sandbox: selector.exactOptional(),
  source: selector.exactOptional(),
}

/** The scope a process belongs to. */
export const owner: z.ZodType<Owner, Owner> = z
  .strictObject(selectors)
  .refine(
    (given) => given.turn === undefined || given.session !== undefined,
    'a turn belongs to a session: name that too',
  )

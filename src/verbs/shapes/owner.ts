import * as z from 'zod'
import { OWNER_SELECTORS, type Owner, type OwnerSelector } from '../../core/process/record.ts'
import { selector, sessionId, turnId } from './scalars.ts'

/** The same schema for each selector. */
export function eachSelector<Schema extends z.ZodType>(schema: Schema): { [name in OwnerSelector]: Schema } {
  const shape = OWNER_SELECTORS.map((name) => [name, schema])
  return Object.fromEntries(shape) as { [name in OwnerSelector]: Schema }
}

/** Selectors of a scope; all that are given must match. */
export const selectors = {
  ...eachSelector(selector.exactOptional()),
  session: sessionId.exactOptional(),
  turn: turnId.exactOptional(),
}

/** The scope a process belongs to. */
export const owner: z.ZodType<Owner, Owner> = z
  .strictObject(selectors)
  .refine(
    (given) => given.turn === undefined || given.session !== undefined,
    'a turn belongs to a session: name that too',
  )

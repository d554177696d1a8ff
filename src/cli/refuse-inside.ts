import { ReeveError } from '../core/errors.ts'
import type { Context } from './context.ts'

/** The variable that every program of Reeve has in its environment. */
const PROGRAM_MARKER = 'REEVE_PROCESS'

/**
 * Refuses what only a person does in a program that Reeve started: an agent's command must not answer for a person by accident. A
 * program that removes the variable acts as its user, and the daemon cannot tell them apart.
 */
export function refuseInside({ around }: Context<object>, doing: string): void {
  const inside = around.env[PROGRAM_MARKER]
  if (inside === undefined || inside === '') return
  throw new ReeveError(
    'forbidden',
    `${doing} is for people, and this runs inside of the process ${inside.split('@')[0]}.`,
    'Run it in a terminal of your own.',
  )
}

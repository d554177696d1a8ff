import { ReeveError } from '../core/errors.ts'
import { isInsideProgram, MARKER } from '../os/program-marks.ts'
import type { Context } from './context.ts'

/**
 * Refuses what only a person does in a program that Reeve started: an agent's command must not answer for a person by accident. A
 * program that removes the variable acts as its user, and the daemon cannot tell them apart.
 */
export function refuseInside({ around }: Context<object>, doing: string): void {
  if (!isInsideProgram(around.env)) return
  const [name = ''] = (around.env[MARKER] ?? '').split('@')
  throw new ReeveError(
    'forbidden',
    `${doing} is for people, and this runs inside of ${name === '' ? 'a Reeve process' : `the process ${name}`}.`,
    'Run it in a terminal of your own.',
  )
}

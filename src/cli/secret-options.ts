import type { ReeveVerbs } from '../verbs/reeve.ts'
import { UsageError } from './usage-error.ts'

export const SECRET = {
  type: 'texts',
  value: 'NAME[=VAR]',
  about: 'a secret of reeve secret, as the variable VAR, or one of its own name',
} as const

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/

/** The environment of a command that is given secrets: their names alone go to the daemon. */
export async function environmentWith(
  reeve: ReeveVerbs,
  given: readonly string[],
): Promise<{ readonly envRef?: string }> {
  if (given.length === 0) return {}
  const variables = Object.fromEntries(given.map(secretIn))
  return reeve.putEnvironment({ variables, policy: {}, options: {} })
}

function secretIn(text: string): readonly [variable: string, value: { readonly secret: string }] {
  const at = text.indexOf('=')
  const secret = at === -1 ? text : text.slice(0, at)
  const variable = at === -1 ? text : text.slice(at + 1)
  if (secret === '' || !VARIABLE.test(variable))
    throw new UsageError(
      `--secret was given ${text}, and ${JSON.stringify(variable)} is no name for a variable.`,
      'Give the name of a secret, or NAME=VARIABLE: --secret npm.token=NPM_TOKEN',
    )
  return [variable, { secret }]
}

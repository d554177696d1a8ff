import type { ReeveVerbs } from '../verbs/reeve.ts'
import { UsageError } from './usage-error.ts'

export const SECRET = {
  type: 'texts',
  value: 'NAME[=VAR]',
  about: 'a secret set with reeve secret, as the variable VAR, or under its own name',
} as const

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Stores the environment of a command that uses secrets. The daemon gets their names only. */
export async function putSecretEnvironment(
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
      `--secret was given ${text}, but ${JSON.stringify(variable)} is not a valid variable name.`,
      'Give the name of a secret, or NAME=VARIABLE: --secret npm.token=NPM_TOKEN',
    )
  return [variable, { secret }]
}

import { own } from '../json/json.ts'
import { type Refusal, refusal } from '../refusal.ts'
import type { Environment } from './environment.ts'

/** The source of the secrets that environments name. Read when a process starts; never stored. */
export interface Secrets {
  /** By name. Throws a `ReeveError` if they cannot be read safely. */
  read(): Readonly<Record<string, string>>
}

export type Variables = Readonly<Record<string, string>>

export const SECRET_NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/

/** `{ "secret": "env:NAME" }` names a variable of the program that starts the process, and no secret of the home. */
export const FROM_ENV = 'env:'

/** The value of a secret: that of the home first, then the variable of the same name. An empty value counts as missing. */
export function secretValue(
  name: string,
  {
    secrets,
    env,
  }: { readonly secrets: Variables; readonly env: Readonly<Record<string, string | undefined>> },
): string | undefined {
  const value = name.startsWith(FROM_ENV)
    ? own(env, name.slice(FROM_ENV.length))
    : (own(secrets, name) ?? own(env, name))
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The names of secrets in an environment. */
export function secretsNamedIn(environment: Environment | null): readonly string[] {
  return Object.values(environment?.variables ?? {}).flatMap((value) =>
    typeof value === 'string' ? [] : [value.secret],
  )
}

/** The variables of an environment with the values of its secrets. All or none: a program must not run without one. */
export function resolveVariables(
  environment: Environment | null,
  lookUp: (secret: string) => string | undefined,
):
  | { readonly type: 'resolved'; readonly variables: Variables }
  | { readonly type: 'refused'; readonly refusal: Refusal } {
  const missing = secretsNamedIn(environment).filter((name) => lookUp(name) === undefined)
  if (missing.length > 0) return { type: 'refused', refusal: unknownSecrets([...new Set(missing)]) }
  const variables = Object.entries(environment?.variables ?? {}).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : (lookUp(value.secret) ?? ''),
  ])
  return { type: 'resolved', variables: Object.fromEntries(variables) }
}

function unknownSecrets(names: readonly string[]): Refusal {
  const [first = ''] = names
  const isVariable = first.startsWith(FROM_ENV)
  return refusal(
    'secret_unknown',
    names.length === 1 ? `The secret ${first} is not set.` : `The secrets ${names.join(', ')} are not set.`,
    isVariable
      ? `Start the daemon with the variable ${first.slice(FROM_ENV.length)}.`
      : `Run reeve secret set ${first}, and start it again.`,
    { names },
  )
}

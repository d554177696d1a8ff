import { isSecretName } from '../../redaction/secret-name.ts'

/**
 * Variables that carry keys and passwords by their name. A command gets them only when it names them: what an agent runs
 * must not see, and print, the keys that the daemon itself was given.
 */
export function withoutSecrets(
  env: Readonly<Record<string, string | undefined>>,
  named: readonly string[] = [],
): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (named.includes(entry[0]) || !isSecretName(entry[0])),
  )
  return Object.fromEntries(kept)
}

/** Whether a variable carries a key or a password, by its name alone. */
export function isSecretName(name: string): boolean {
  return SECRET.test(name)
}

const SECRET =
  /(^|_)(API_?KEY|ACCESS_?KEY(_ID)?|SECRET(_?KEY)?|PRIVATE_?KEY|TOKEN|PAT|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|CONNECTION_STRING|DSN)(_|$)|^(PGPASSWORD|DATABASE_URL|REDIS_URL|MONGO(DB)?_URI)$|(KEY|TOKEN|SECRET|PASSWORD|_AUTH)$/i

/** The values of those variables that carry one. */
export function secretsIn(variables: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(variables).flatMap(([name, value]) =>
    value !== undefined && isSecretName(name) ? [value] : [],
  )
}

/** The option of a command line whose value is a secret: `--password`, `--api-key`, `--github-token`. */
export function isSecretOption(word: string): boolean {
  return OPTION.test(word)
}

const OPTION =
  /^--?([a-z0-9]+[-_])*(password|passwd|passphrase|token|secret|api[-_]?key|access[-_]?key|secret[-_]?key|private[-_]?key|credentials?)$/i

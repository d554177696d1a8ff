import { simulate } from './run.ts'

/** The laws that a seed breaks without a planted bug. */
export async function lawsBroken(
  seed: number,
  hasRules = false,
  often: readonly string[] = [],
): Promise<readonly string[]> {
  const { violations } = await simulate(seed, { hasRules, often })
  return violations.map(({ law, what }) => `${law}: ${what}`)
}

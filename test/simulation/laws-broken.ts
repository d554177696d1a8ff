import { type RunOptions, simulate } from './run.ts'

/** The laws that a seed breaks without a planted bug. */
export async function lawsBroken(
  seed: number,
  options: Pick<RunOptions, 'kind' | 'often'> = {},
): Promise<readonly string[]> {
  const { violations } = await simulate(seed, options)
  return violations.map(({ law, what }) => `${law}: ${what}`)
}

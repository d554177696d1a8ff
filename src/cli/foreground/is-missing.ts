import { existsSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'

/** Whether there is no such program, as a shell would look for it: 127 rather than 126. */
export function isMissing(
  { spec, cwd }: { readonly spec: { readonly argv?: readonly string[] }; readonly cwd?: string },
  path: string,
): boolean {
  const [program] = spec.argv ?? []
  if (program === undefined) return false
  if (program.includes('/')) return !existsSync(resolve(cwd ?? '.', program))
  return !path.split(delimiter).some((folder) => folder !== '' && existsSync(join(folder, program)))
}

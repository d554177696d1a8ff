import { statSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { isExecutable } from '../os/file-access.ts'

export type FoundProgram = 'runnable' | 'not executable' | 'missing'

/** Looks for a program as a shell does: by its path from the working folder, or in each folder of PATH. */
export function findProgram(
  program: string,
  { path, cwd }: { readonly path: string; readonly cwd: string },
): FoundProgram {
  if (program.includes('/')) return stateOf(resolve(cwd, program))
  const folders = path.split(delimiter).filter((folder) => folder !== '')
  const states = folders.map((folder) => stateOf(resolve(cwd, join(folder, program))))
  return (
    states.find((state) => state === 'runnable') ?? states.find((state) => state !== 'missing') ?? 'missing'
  )
}

function stateOf(file: string): FoundProgram {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return 'missing'
  return isExecutable(file) ? 'runnable' : 'not executable'
}

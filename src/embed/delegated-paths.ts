import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { messageOf } from '../base/error-text.ts'
import { invalidRequest } from '../core/agent/refusals.ts'
import { RefusedError } from '../core/errors.ts'
import { coveringPath, type DelegatedPaths } from '../core/lien/lien.ts'
import type { ProcessRecord } from '../core/process/record.ts'

/** Paths in the workspace of an agent in their canonical form: absolute, without links and `..`, in the case that the file system has. */
export async function pathsIn(
  agent: ProcessRecord,
  given: readonly string[],
): Promise<Omit<DelegatedPaths, 'host'>> {
  const { cwd } = agent
  if (cwd === null) throw invalid(agent, 'it has no workspace', given[0] ?? '')
  const { resolveIn } = await import('../agent/tools/files/workspace-path.ts')
  const root = await realpath(cwd).catch(() => cwd)
  const found: string[] = []
  for (const path of given) {
    const { real, isInside } = await resolveIn(root, path).catch((error: unknown) => {
      throw invalid(agent, messageOf(error).replace(/\.$/, ''), path)
    })
    if (!isInside) throw invalid(agent, `${path} is outside of its workspace ${root}`, path)
    found.push(real)
  }
  const folds = (await foldsCase(root)) ? ({ foldsCase: true } as const) : {}
  return { paths: outermost(found, folds), ...folds }
}

/** A path below another one of them adds nothing. */
function outermost(paths: readonly string[], folds: Pick<DelegatedPaths, 'foldsCase'>): readonly string[] {
  const unique = [...new Set(paths)].sort()
  return unique.filter(
    (path, index) =>
      coveringPath({ paths: unique.filter((_, other) => other !== index), ...folds }, path) === undefined,
  )
}

/** Whether a folder is found under its name in the other case, too. */
async function foldsCase(folder: string): Promise<boolean> {
  for (let path = folder; dirname(path) !== path; path = dirname(path)) {
    const name = basename(path)
    const other = name === name.toLowerCase() ? name.toUpperCase() : name.toLowerCase()
    if (other === name) continue
    const [own, found] = await Promise.all(
      [name, other].map((one) => stat(join(dirname(path), one)).catch(() => null)),
    )
    return own != null && found != null && own.ino === found.ino && own.dev === found.dev
  }
  return false
}

function invalid(agent: ProcessRecord, problem: string, path: string): RefusedError {
  const refused = invalidRequest(agent, problem, 'Name files or folders inside the workspace of the parent.')
  return new RefusedError({ ...refused, details: { path } })
}

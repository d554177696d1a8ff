import { isObject } from '../../base/is-object.ts'
import type { JsonObject } from '../json/json.ts'
import type { Pid } from '../process/pid.ts'
import type { ProcessRecord } from '../process/record.ts'

/** The paths that an agent alone may write below, while it lives. */
export interface Lien {
  readonly holder: Pid
  /** For people and models. */
  readonly name: string
  /** Canonical: absolute, without links and `..`. */
  readonly paths: readonly string[]
  /** The file system takes `src` and `SRC` for one name. */
  readonly foldsCase?: true
}

/**
 * All liens of one host. They are one row, so that two registrations which ask for overlapping paths change the same row, also if the
 * workspaces of their agents are inside each other.
 */
export interface Liens {
  readonly host: string
  readonly liens: readonly Lien[]
}

/** The paths in the spec of an agent: it may write below them only. They bind it also before and after its lien. */
export interface DelegatedPaths extends Pick<Lien, 'paths' | 'foldsCase'> {
  readonly host: string
}

/** Enough for a fan-out of careful agents, and few enough for one row. */
export const MAX_PATHS = 50
export const MAX_LIENS = 1_000

export function delegatedPaths({ spec }: Pick<ProcessRecord, 'spec'>): DelegatedPaths | null {
  const { paths: given } = spec
  if (!isObject(given)) return null
  const { host, paths, foldsCase } = given
  if (typeof host !== 'string' || !Array.isArray(paths)) return null
  const texts = paths.filter((path) => typeof path === 'string')
  return { host, paths: texts, ...(foldsCase === true ? { foldsCase } : {}) }
}

export function pathsInSpec({ host, paths, foldsCase }: DelegatedPaths): JsonObject {
  return { host, paths: [...paths], ...(foldsCase === true ? { foldsCase } : {}) }
}

/** The row without the lien of a process that has ended; null if it has none. */
export function withoutLien(row: Liens, holder: Pid): Liens | null {
  const liens = row.liens.filter((lien) => lien.holder !== holder)
  return liens.length === row.liens.length ? null : { ...row, liens }
}

/** The path of a lien that the path is, or is below. */
export function coveringPath(lien: Pick<Lien, 'paths' | 'foldsCase'>, path: string): string | undefined {
  return lien.paths.find((held) => isBelow(path, held, lien.foldsCase === true))
}

/** The path of a lien that has a file in common with the path. */
export function overlappingPath(lien: Lien, path: string, foldsCase: boolean): string | undefined {
  const folds = foldsCase || lien.foldsCase === true
  return lien.paths.find((held) => isBelow(path, held, folds) || isBelow(held, path, folds))
}

function isBelow(path: string, folder: string, folds: boolean): boolean {
  const [inner, outer] = folds ? [folded(path), folded(folder)] : [path, folder]
  return inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`)
}

function folded(path: string): string {
  return path.normalize('NFC').toLowerCase()
}

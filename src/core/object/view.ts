import type { Pid } from '../process/pid.ts'
import type { ProcessRecord } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'
import { OBJECT_RIGHTS, type ObjectRight } from './object.ts'

export const VIEW_MODES = ['read_only', 'mutable', 'copy_on_write', 'ephemeral'] as const
/**
 * How a process sees the objects of the process that it was forked from. Its own namespace is always its own.
 *
 * | mode          | sees objects of the base | writes to their names                                   |
 * | mutable       | none: there is no base   | –                                                       |
 * | read_only     | as they were at the fork | are refused                                             |
 * | copy_on_write | as they were at the fork | go to its own namespace, and the base does not see them |
 * | ephemeral     | as they were at the fork | as copy_on_write, and are gone unless they are merged   |
 */
export type ViewMode = (typeof VIEW_MODES)[number]

/** A namespace as it was after an event of its process. Versions never change, so nothing is copied. */
export interface ViewBase {
  readonly pid: Pid
  /** The last event that counts. */
  readonly through: number
  /** Earlier events do not count. */
  readonly since?: number
  /** Names, and folders of names; null for all. */
  readonly roots: readonly string[] | null
  readonly mode: ViewMode
}

/** What a process sees besides its own namespace. */
export interface View {
  readonly mode: ViewMode
  /** The nearest first. */
  readonly bases: readonly ViewBase[]
  /** Its own earlier objects are not in the view: it began again with `exec`. */
  readonly since?: number
}

/** The request for a view on the objects of another process. */
export interface ViewRequest {
  readonly mode: Exclude<ViewMode, 'mutable'>
  /** The process whose view it begins with; the parent if it is left out. */
  readonly of?: Pid
  /** The last event of that process that counts; its newest one if it is left out. */
  readonly at?: number
  /** Names, and folders of names; all if it is left out. */
  readonly roots?: readonly string[]
}

/** Each lookup of a name asks each base at most once. */
const MAX_VIEW_BASES = 16
export const MAX_VIEW_ROOTS = 64

/** The namespaces of a view, its own one first, in which a name is looked up. */
export function levelsOf({ pid, revision, view }: ProcessRecord): readonly [ViewBase, ...ViewBase[]] {
  const since = view?.since === undefined ? {} : { since: view.since }
  return [{ pid, through: revision, ...since, roots: null, mode: 'mutable' }, ...(view?.bases ?? [])]
}

/** The view of a process that is forked from another one, with at most the rights of that view. */
export function forkView(of: ProcessRecord, { mode, at, roots }: ViewRequest): View {
  const [own, ...more] = levelsOf(of)
  const through = at ?? of.revision
  const asked = roots ?? null
  // Before its last exec it had another view.
  const isBeforeExec = own.since !== undefined && through < own.since
  const { since: _since, ...earlier } = own
  const first = { ...(isBeforeExec ? earlier : own), through }
  const bases = [first, ...more].map((base) => ({
    ...base,
    roots: commonRoots(base.roots, asked),
    mode: base.mode === 'read_only' ? base.mode : mode,
  }))
  return { mode, bases: bases.filter((base) => base.roots === null || base.roots.length > 0) }
}

/** Whether a process may be forked from another one with such a view. */
export function refuseView(of: ProcessRecord, { at, roots = [] }: ViewRequest): Refusal | undefined {
  if (at !== undefined && (at < 1 || at > of.revision))
    return refusal(
      'invalid_request',
      `${of.pid} has ${of.revision} events, and no view of it begins at event ${at}.`,
      'Name one of its events, or leave it out for its state now.',
    )
  if (roots.length > MAX_VIEW_ROOTS)
    return refusal(
      'limit_exceeded',
      `A view of ${of.pid} with ${roots.length} roots has too many: at most ${MAX_VIEW_ROOTS}.`,
      'Name a folder of names instead of the names in it.',
      { limit: 'roots', asked: roots.length },
    )
  if ((of.view?.bases.length ?? 0) < MAX_VIEW_BASES) return undefined
  return refusal(
    'limit_exceeded',
    `The view of ${of.pid} is ${MAX_VIEW_BASES} forks deep, which is as deep as views are.`,
    'Merge a fork into its parent, and fork the parent.',
    { limit: 'views' },
  )
}

/** What a view may do with an object of a base, or of its own namespace. */
export function rightsIn(mode: ViewMode): readonly ObjectRight[] {
  return mode === 'read_only' ? OBJECT_RIGHTS.filter((right) => right !== 'write') : OBJECT_RIGHTS
}

/** Whether a name is one of the roots, or below one. */
export function isBelowRoots(name: string, roots: readonly string[] | null): boolean {
  return roots === null || roots.some((root) => isBelow(name, root))
}

function isBelow(name: string, root: string): boolean {
  return name === root || name.startsWith(`${root}/`)
}

function commonRoots(a: readonly string[] | null, b: readonly string[] | null): readonly string[] | null {
  if (a === null || b === null) return a ?? b
  return [...a.filter((root) => isBelowRoots(root, b)), ...b.filter((root) => isBelowRoots(root, a))].filter(
    (root, index, all) => all.indexOf(root) === index,
  )
}

import { fileSubject, type Machine } from '../core/capability/folder-subjects.ts'
import { foldersAbove } from '../core/capability/in-workspace.ts'
import { allSetsIn, type RuleSet } from '../core/capability/rule-set.ts'
import type { Registration } from '../core/process/record.ts'
import type { Session } from '../core/session/session.ts'
import type { Edges } from './edges.ts'
import type { PlanPart } from './plan-part.ts'
import { ruleSetsOf, type Subject, withFolders } from './rule-facts.ts'
import type { MissingPlace, RuledRegistration } from './rule-on-registration.ts'
import type { WorkingRows } from './working-rows.ts'
import type { FolderPolicies, PolicyFileFound } from './workspaces.ts'

/** Where something is done, as far as rules know it. */
export type Place = Pick<RuledRegistration, 'session' | 'places' | 'looksLeft' | 'boundBy'> & {
  readonly registration: Pick<Registration, 'kind' | 'cwd'>
}

/** The rules that bind a subject where it acts. */
interface Bound {
  readonly type: 'bound'
  readonly subject: Subject
  readonly sets: readonly RuleSet[]
  /** The folder that relative paths in rules of the home and of sessions begin in. */
  readonly workspace: string | null
}

/** The rule sets of a subject and of the folders that it acts in. `isBound`: false for one that policy files do not bind. */
export function* setsAt(
  { machine = null }: Pick<Edges, 'machine'>,
  rows: WorkingRows,
  place: Place,
  bare: Subject,
  isBound: boolean,
): PlanPart<
  | Bound
  | { readonly type: 'missing'; readonly missing: MissingPlace }
  /** A policy file cannot be used, and no version of it is in the store. */
  | { readonly type: 'invalid'; readonly subject: Subject; readonly file: PolicyFileFound }
> {
  const placed = yield* placeOf(rows, place, bare)
  if (placed.type === 'folders') return { type: 'missing', missing: placed }
  const subject = withFolders(bare, placed.folders, machine, place.boundBy)
  const files = isBound ? placed.files : []
  const stored = yield* ruleSetsOf(subject)
  // Most tools: every registration passes here.
  if (files.length === 0)
    return { type: 'bound', subject, sets: allSetsIn(stored), workspace: placed.workspace }
  const broken = brokenIn(files, stored, machine)
  if (broken !== undefined) return { type: 'invalid', subject, file: broken }
  const changed = files.filter((file) => isOther(file, stored, machine))
  if (changed.length > 0 && place.looksLeft > 0)
    return { type: 'missing', missing: { type: 'files', files: changed } }
  return { type: 'bound', subject, sets: allSetsIn(stored), workspace: placed.workspace }
}

interface Placed {
  readonly type: 'placed'
  /** The folders whose rules bind, those of the sessions' workspaces and of the command's folder. */
  readonly folders: readonly string[]
  readonly files: readonly PolicyFileFound[]
  /** The folder that relative paths in rules of the home and of sessions begin in. */
  readonly workspace: string | null
}

/**
 * Where a registration takes place. The workspaces of its sessions bind wherever a command runs, so that no agent escapes their rules
 * by another folder; and every folder above the command's counts, so that none escapes them by a policy file in between.
 */
function* placeOf(
  rows: WorkingRows,
  { registration: { kind, cwd }, session: known, places }: Place,
  subject: Subject,
): PlanPart<Placed | Extract<MissingPlace, { type: 'folders' }>> {
  const sessions: Session[] = []
  const folders = new Set<string>()
  // The nearest first.
  for (let index = subject.sets.length - 1; index >= 0; index--) {
    const set = subject.sets[index]
    if (!set?.startsWith('session:')) continue
    const id = set.slice('session:'.length)
    const session = known?.id === id ? known : yield* rows.session(id)
    if (session === null) continue
    sessions.push(session)
    for (const workspace of session.workspaces ?? []) folders.add(workspace)
  }
  // A command without a folder starts in that of the daemon.
  const folder = kind === 'command' ? (cwd ?? '.') : null
  if (folder === null && folders.size === 0) return NOWHERE
  const own = [...folders]
  const asked = folder === null ? own : [...own, folder]
  const unknown = places === undefined ? [] : asked.filter((one) => !places.has(one))
  if (unknown.length > 0) return { type: 'folders', folders: unknown, sessions }
  // Where no host looks, the rules that are stored for a folder bind all the same.
  const lookedAt = (one: string) => places?.get(one) ?? asItIs(one)
  // A workspace binds by the path that it was opened with as well: it may have become a link since.
  const found = [...own.map(asItIs), ...asked.map(lookedAt)].filter((place) => place !== null)
  const files = new Map(found.flatMap((place) => place.files.map((file) => [file.path, file] as const)))
  const first = firstWorkspace(sessions, subject)
  return {
    type: 'placed',
    folders: [...new Set(found.flatMap((place) => foldersAbove(place.folder)))],
    files: [...files.values()],
    workspace:
      (first !== undefined
        ? lookedAt(first)?.folder
        : folder === null
          ? null
          : lookedAt(folder)?.files.at(-1)?.folder) ?? null,
  }
}

const NOWHERE: Placed = { type: 'placed', folders: [], files: [], workspace: null }

/** The first folder of the session that the subject acts in, or of the nearest one above that has any. */
function firstWorkspace(sessions: readonly Session[], { session: id }: Subject): string | undefined {
  const acting = sessions.find((session) => session.id === id)
  const chain = acting === undefined ? [] : [acting.id, ...(acting.sessionsAbove ?? [])]
  return chain
    .map((one) => sessions.find((session) => session.id === one)?.workspaces?.[0])
    .find((folder) => folder !== undefined)
}

function brokenIn(
  files: readonly PolicyFileFound[],
  stored: readonly RuleSet[],
  machine: Machine,
): PolicyFileFound | undefined {
  return files.find(
    ({ problems, folder }) =>
      problems.length > 0 && [machine, null].every((on) => setOf(folder, stored, on) === undefined),
  )
}

/** Whether the store has another version of a file than the one that is there now. */
function isOther(
  { problems, folder, hash }: PolicyFileFound,
  stored: readonly RuleSet[],
  machine: Machine,
): boolean {
  return problems.length === 0 && setOf(folder, stored, machine)?.source?.hash !== hash
}

function setOf(folder: string, stored: readonly RuleSet[], machine: Machine): RuleSet | undefined {
  const subject = fileSubject(folder, machine)
  return stored.find((set) => set.subject === subject)
}

function asItIs(folder: string): FolderPolicies | null {
  return folder.startsWith('/') ? { folder, files: [] } : null
}

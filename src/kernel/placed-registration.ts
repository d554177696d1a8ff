import { fileSubject, foldersAbove } from '../core/capability/in-workspace.ts'
import type { RuleSet } from '../core/capability/rule-set.ts'
import type { Session } from '../core/session/session.ts'
import type { PlanPart } from './plan-part.ts'
import type { Subject } from './rule-facts.ts'
import type { Missing, RuledRegistration } from './rule-on-registration.ts'
import type { WorkingRows } from './working-rows.ts'
import type { FolderPolicies, PolicyFileFound } from './workspaces.ts'

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
export function* placeOf(
  rows: WorkingRows,
  { registration: { kind, cwd }, session: known, places }: RuledRegistration,
  subject: Subject,
): PlanPart<Placed | Extract<Missing, { type: 'folders' }>> {
  const sessions: Session[] = []
  for (const id of sessionsIn(subject)) {
    const session = known?.id === id ? known : yield* rows.session(id)
    if (session !== null) sessions.push(session)
  }
  const own = [...new Set(sessions.flatMap(({ workspaces = [] }) => workspaces))]
  // A command without a folder starts in that of the daemon.
  const folder = kind === 'command' ? (cwd ?? '.') : null
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

/** The sessions whose rules bind a subject, the nearest first. */
function sessionsIn({ sets }: Subject): readonly string[] {
  return sets.flatMap((set) => (set.startsWith('session:') ? [set.slice('session:'.length)] : [])).reverse()
}

/** The first folder of the session that the subject acts in, or of the nearest one above that has any. */
function firstWorkspace(sessions: readonly Session[], { session: id }: Subject): string | undefined {
  const acting = sessions.find((session) => session.id === id)
  const chain = acting === undefined ? [] : [acting.id, ...(acting.sessionsAbove ?? [])]
  return chain
    .map((one) => sessions.find((session) => session.id === one)?.workspaces?.[0])
    .find((folder) => folder !== undefined)
}

export function brokenIn(
  files: readonly PolicyFileFound[],
  stored: readonly RuleSet[],
): PolicyFileFound | undefined {
  return files.find(({ problems, folder }) => problems.length > 0 && setOf(folder, stored) === undefined)
}

/** Whether the store has another version of a file than the one that is there now. */
export function isOther({ problems, folder, hash }: PolicyFileFound, stored: readonly RuleSet[]): boolean {
  return problems.length === 0 && setOf(folder, stored)?.source?.hash !== hash
}

function setOf(folder: string, stored: readonly RuleSet[]): RuleSet | undefined {
  const subject = fileSubject(folder)
  return stored.find((set) => set.subject === subject)
}

function asItIs(folder: string): FolderPolicies | null {
  return folder.startsWith('/') ? { folder, files: [] } : null
}

import { fileSubject, foldersAbove } from '../core/capability/in-workspace.ts'
import type { RuleSet } from '../core/capability/rule-set.ts'
import { know } from '../store/contract.ts'
import type { PlanPart } from './plan-part.ts'
import type { Subject } from './rule-facts.ts'
import type { Missing, RuledRegistration } from './rule-on-registration.ts'
import type { FolderPolicies, PolicyFileFound } from './workspaces.ts'

interface Placed {
  readonly type: 'placed'
  /** The folders whose rules bind, the widest first: those of the session's workspace and of the command's folder. */
  readonly folders: readonly string[]
  readonly files: readonly PolicyFileFound[]
  /** The folder that relative paths in rules of the home and of sessions begin in. */
  readonly workspace: string | null
}

/**
 * Where a registration takes place. The workspace of the session binds wherever a command runs, so that no agent escapes its rules
 * by another folder; and every folder above the command's counts, so that none escapes them by a policy file in between.
 */
export function* placeOf(
  { registration: { kind, cwd }, session: known, places }: RuledRegistration,
  { session: id }: Subject,
): PlanPart<Placed | Extract<Missing, { type: 'folders' }>> {
  const session = id === null ? null : known?.id === id ? known : yield* know({ ask: 'session', id })
  const own = session?.workspaces ?? []
  // A command without a folder starts in that of the daemon.
  const asked = [...own, ...(kind === 'command' ? [cwd ?? '.'] : [])]
  const unknown = places === undefined ? [] : asked.filter((folder) => !places.has(folder))
  if (unknown.length > 0) return { type: 'folders', folders: unknown, session }
  // Where no host looks, the rules that are stored for a folder bind all the same.
  const found = asked.flatMap((folder) => places?.get(folder) ?? asItIs(folder))
  const files = new Map(found.flatMap(({ files }) => files.map((file) => [file.path, file] as const)))
  return {
    type: 'placed',
    folders: [...new Set(found.flatMap(({ folder }) => foldersAbove(folder)))],
    files: [...files.values()],
    workspace: (own.length > 0 ? found[0]?.folder : found[0]?.files.at(-1)?.folder) ?? null,
  }
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

function asItIs(folder: string): readonly FolderPolicies[] {
  return folder.startsWith('/') ? [{ folder, files: [] }] : []
}

import { type Machine, workspaceSubject } from '../capability/folder-subjects.ts'
import { foldersAbove, isUsableFolder } from '../capability/in-workspace.ts'
import { type Refusal, refusal } from '../refusal.ts'
import type { PermissionRequest } from './approval.ts'

export const RULE_LEVELS = ['home', 'workspace'] as const
/** Where the rule of an answer for every time is stored. */
export type RuleLevel = (typeof RULE_LEVELS)[number]

/** The part of a request that says where its action runs. */
interface LevelFacts extends Pick<PermissionRequest, 'boundBy'> {
  readonly action: Pick<PermissionRequest['action'], 'cwd'>
}

/** The folders that the session of the asker works in, and the machine of this kernel. */
interface WorkspaceFacts {
  readonly workspaces: readonly string[]
  readonly machine: Machine
}

/**
 * The subject that gets a rule of the level `workspace`: the innermost workspace of the asker that has the folder of the action, or
 * this folder itself. Its rules bind the request already, so that the new one counts for it.
 */
export function workspaceOfRequest(
  id: string,
  { action: { cwd }, boundBy }: LevelFacts,
  { workspaces, machine }: WorkspaceFacts,
): string | Refusal {
  const folder = folderOf(cwd, workspaces)
  if (folder === null || !isUsableFolder(folder)) return withoutWorkspace(id)
  const subject = workspaceSubject(folder, machine)
  return boundBy?.includes(subject) === true ? subject : withoutWorkspace(id)
}

function folderOf(cwd: string | null, workspaces: readonly string[]): string | null {
  if (cwd === null) return workspaces[0] ?? null
  return foldersAbove(cwd).findLast((folder) => workspaces.includes(folder)) ?? cwd
}

function withoutWorkspace(id: string): Refusal {
  return refusal(
    'invalid_input',
    `The approval ${id} is about no folder whose rules bind it.`,
    'Store the rule for the home.',
    { approval: id, field: 'level' },
  )
}

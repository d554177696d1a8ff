import type { Pid } from '../process/pid.ts'

/** The facts about a file just before an agent changes it. Hashes are null if there is no file. */
export interface ChangeFacts {
  /** The content that the agent read or wrote last; undefined if it never did. */
  readonly known: string | null | undefined
  /** The content now. */
  readonly current: string | null
  /** The last change by a tool of Reeve, if one is known. */
  readonly lastChange?: { readonly by: Pid; readonly hash: string | null } | undefined
}

export type ChangeVerdict =
  | { readonly type: 'allowed' }
  /** The agent does not know the content that it would replace. */
  | { readonly type: 'not_read' }
  /** The file changed since the agent read it. `by`: the agent whose tool wrote the present content; null if it is not known. */
  | { readonly type: 'changed'; readonly by: Pid | null }

/** Whether an agent may change a file. A file that does not exist may be made, unless the agent knows it as one that exists. */
export function judgeChange({ known, current, lastChange }: ChangeFacts): ChangeVerdict {
  if (known === current || (known === undefined && current === null)) return { type: 'allowed' }
  if (known === undefined) return { type: 'not_read' }
  return { type: 'changed', by: lastChange?.hash === current ? lastChange.by : null }
}

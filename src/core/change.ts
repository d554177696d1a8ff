import type { Environment } from './environment/environment.ts'
import type { Group } from './group/group.ts'
import type { Notice } from './inbox/notice.ts'
import type { Holder } from './lease/holder.ts'
import type { ProcessEvent } from './process/event.ts'
import type { ProcessRow, Tombstone } from './process/row.ts'
import type { Grant } from './session/grant.ts'
import type { Session, Turn } from './session/session.ts'

/**
 * What a decision does to the store: rows as they become, with the rows they were decided on (`was`), so that a
 * store without serial transactions can tell that somebody was faster. All changes of one decision happen, or none.
 */
export type Change =
  | {
      readonly type: 'process'
      readonly was: ProcessRow | null
      readonly row: ProcessRow
      readonly events: readonly ProcessEvent[]
    }
  | { readonly type: 'prune'; readonly was: ProcessRow; readonly tombstone: Tombstone }
  | { readonly type: 'notice'; readonly notice: Notice }
  | { readonly type: 'drop_notices'; readonly scope: string }
  | { readonly type: 'group'; readonly was: Group | null; readonly group: Group }
  /** A group that is complete has said so: nothing is left to count. */
  | { readonly type: 'group_gone'; readonly id: string }
  | { readonly type: 'session'; readonly was: Session | null; readonly session: Session }
  | { readonly type: 'turn'; readonly was: Turn | null; readonly turn: Turn }
  /** With its turns. */
  | { readonly type: 'session_gone'; readonly id: string }
  | { readonly type: 'grant'; readonly grant: Grant }
  | { readonly type: 'revoke'; readonly session: string; readonly pid: string }
  | { readonly type: 'environment'; readonly ref: string; readonly environment: Environment }
  /** Announces or renews: valid for `ttlMs` from now, by the store's own clock. */
  | { readonly type: 'holder'; readonly holder: Holder; readonly ttlMs: number }
  | { readonly type: 'holder_gone'; readonly id: string }

import type * as z from 'zod'
import type { TypedEvent } from '../core/process/event.ts'
import type { Attachment, OutputPiece } from './attachment.ts'
import type { CallOptions, OutputOf } from './reeve.ts'
import type { filter } from './shapes/filter.ts'

/** The calls that last: each gives items as they come, until it is aborted or its subject has ended. */
export interface FollowCalls {
  /** The events of all processes from a position on, then new ones as they come: no gap, no repeat. Ends when it is aborted. */
  follow(
    input?: {
      /** The position to continue after. */
      readonly after?: number
      /** The processes whose events to follow. */
      readonly filter?: z.input<typeof filter>
      /** Shows secrets instead of masking them: for an admin or the host, and recorded with the processes. */
      readonly reveal?: boolean
    },
    options?: CallOptions,
  ): AsyncIterable<TypedEvent>
  /**
   * A command's output from an offset on, then as it comes: every gap is named, nothing is repeated. Ends with the command's
   * outcome.
   */
  followOutput(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      readonly pid: string
      /** A byte offset in the output log; 0 by default. */
      readonly offset?: number
      /** Shows secrets instead of masking them: for an admin or the host, and recorded with the process. */
      readonly reveal?: boolean
      /**
       * For a person at a terminal, as with `attach`: nothing is masked for the host, and no reveal is recorded. With a token it
       * is `reveal` for an admin, and has no effect for others.
       */
      readonly terminal?: boolean
    },
    options?: CallOptions,
  ): AsyncIterable<OutputPiece>
  /**
   * An agent that Reeve drives, as it works: a snapshot with the last items of its session log, then each new item once and in order,
   * and the output of the model call that is under way. A slow reader misses no item; output of a call that has ended meanwhile is
   * skipped, because the items have it. Ends with the agent.
   */
  followAgent(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      readonly pid: string
      /** Continues after the item with this `seq`, without a snapshot. */
      readonly from?: number
      /** Continues the output of the call that is under way at this offset, the `next` of the last fragment. */
      readonly offset?: number
      /** How many items the snapshot has, roughly; 100 by default. */
      readonly last?: number
      /** Large parts are included, up to 1 MiB each; without it they are references. */
      readonly blobs?: boolean
    },
    options?: CallOptions,
  ): AsyncIterable<AgentFollowed>
  /**
   * The notices of a scope, as they come. Ends when it is aborted. With a `consumer` it begins after the notices that this
   * consumer has acknowledged. With `take` each notice belongs to this consumer alone until it is acknowledged, or until
   * `visibilityMs` have passed and it is delivered again.
   */
  inbox(
    input: {
      /** `session:<id>`, `process:<pid>` or `human:<name>`. */
      readonly scope: string
      /** The name of a consumer, which has a cursor of its own. */
      readonly consumer?: string
      /** The position to continue after. */
      readonly after?: number
      /** Takes each notice, instead of only reading it. */
      readonly take?: { readonly visibilityMs?: number }
      /** Skips notices about processes that this turn has read. */
      readonly turn?: string
    },
    options?: CallOptions,
  ): AsyncIterable<InboxNotice>
  /**
   * A two-way terminal, which begins with the last `scrollback` bytes of the output. Many clients may be attached at once. For
   * the host nothing is masked: it stands for the person at the terminal.
   */
  attach(
    input: { readonly pid: string; readonly scrollback?: number },
    options?: CallOptions,
  ): Promise<Attachment>
}

/** What a follower of an agent gets. */
export type AgentFollowed =
  | { readonly type: 'snapshot'; readonly page: OutputOf<'agentLog'> }
  | { readonly type: 'item'; readonly item: OutputOf<'agentLog'>['items'][number] }
  /** After the items of one read: the agent as it is now. */
  | {
      readonly type: 'state'
      readonly phase: OutputOf<'agentLog'>['phase']
      readonly record: OutputOf<'agentLog'>['record']
    }
  /** Output of the model call under way. `next`: where to continue. */
  | {
      readonly type: 'fragment'
      readonly turn: number
      readonly call: number
      readonly stream: OutputOf<'outputStreams'>['parts'][number]['stream']
      readonly offset: number
      readonly next: number
      readonly text: string
    }
  /** Output that is no longer kept. */
  | {
      readonly type: 'gap'
      readonly turn: number
      readonly call: number
      readonly from: number
      readonly to: number
    }
  | { readonly type: 'ended'; readonly outcome: NonNullable<OutputOf<'show'>['outcome']> }

export type InboxNotice = OutputOf<'notices'>['notices'][number]

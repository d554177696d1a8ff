import type * as z from 'zod'
import type { StoredEvent } from '../core/process/event.ts'
import type { Actor } from '../core/process/record.ts'
import { abandon } from './abandon.ts'
import { acknowledge } from './acknowledge.ts'
import { announceWorker } from './announce-worker.ts'
import { answer } from './answer.ts'
import { append } from './append.ts'
import { budget } from './budget.ts'
import { changeCwd } from './change-cwd.ts'
import { changeOwner } from './change-owner.ts'
import { changes } from './changes.ts'
import { charge } from './charge.ts'
import { claimWork } from './claim-work.ts'
import { closeInput } from './close-input.ts'
import { deleteSession } from './delete-session.ts'
import { doWork } from './do-work.ts'
import type { WorkflowFunction, WorkflowOptions } from './durable-function.ts'
import { end } from './end.ts'
import { endSession } from './end-session.ts'
import { endTurn } from './end-turn.ts'
import { environment } from './environment.ts'
import { events } from './events.ts'
import { grant } from './grant.ts'
import { grants } from './grants.ts'
import { holders } from './holders.ts'
import { interrupt } from './interrupt.ts'
import { kill } from './kill.ts'
import { killAll } from './kill-all.ts'
import { list } from './list.ts'
import { liveCount } from './live-count.ts'
import { log } from './log.ts'
import { notices } from './notices.ts'
import { openSession } from './open-session.ts'
import { openTurn } from './open-turn.ts'
import { output } from './output.ts'
import { outputStreams } from './output-streams.ts'
import { poll } from './poll.ts'
import { prune } from './prune.ts'
import { putEnvironment } from './put-environment.ts'
import { recover } from './recover.ts'
import { refreshEnvironment } from './refresh-environment.ts'
import { removeHolder } from './remove-holder.ts'
import { resize } from './resize.ts'
import { restart } from './restart.ts'
import { retireWorker } from './retire-worker.ts'
import { revoke } from './revoke.ts'
import { screen } from './screen.ts'
import { search } from './search.ts'
import { send } from './send.ts'
import { sessions } from './sessions.ts'
import { setExternalRef } from './set-external-ref.ts'
import type { filter } from './shapes/filter.ts'
import { show } from './show.ts'
import { signal } from './signal.ts'
import { spawn } from './spawn.ts'
import { spawnMany } from './spawn-many.ts'
import { status } from './status.ts'
import { submit } from './submit.ts'
import { takeNotices } from './take-notices.ts'
import { touchSession } from './touch-session.ts'
import { track } from './track.ts'
import { transferGrants } from './transfer-grants.ts'
import { usage } from './usage.ts'
import { wait } from './wait.ts'
import { waitAll } from './wait-all.ts'
import { waitAny } from './wait-any.ts'
import { waitFor } from './wait-for.ts'
import { whoami } from './whoami.ts'
import { workflows } from './workflows.ts'
import { write } from './write.ts'

/** Every act there is. Adding one is a file, and a line here. */
export const verbs = {
  abandon,
  acknowledge,
  liveCount,
  announceWorker,
  answer,
  append,
  budget,
  changeCwd,
  changes,
  charge,
  claimWork,
  closeInput,
  deleteSession,
  doWork,
  end,
  endSession,
  endTurn,
  workflows,
  environment,
  events,
  grant,
  grants,
  holders,
  interrupt,
  kill,
  killAll,
  list,
  log,
  notices,
  openSession,
  openTurn,
  output,
  poll,
  prune,
  putEnvironment,
  recover,
  setExternalRef,
  refreshEnvironment,
  removeHolder,
  changeOwner,
  resize,
  restart,
  retireWorker,
  revoke,
  screen,
  search,
  send,
  sessions,
  show,
  signal,
  spawn,
  spawnMany,
  status,
  whoami,
  outputStreams,
  submit,
  takeNotices,
  touchSession,
  track,
  transferGrants,
  usage,
  wait,
  waitAll,
  waitAny,
  waitFor,
  write,
} as const

export type VerbName = keyof typeof verbs
export type InputOf<Name extends VerbName> = z.input<(typeof verbs)[Name]['input']>
export type ParsedInputOf<Name extends VerbName> = z.output<(typeof verbs)[Name]['input']>
export type OutputOf<Name extends VerbName> = z.output<(typeof verbs)[Name]['output']>

export interface CallOptions {
  /** Calls the call off; a wait then answers `interrupted`, and the process lives on. */
  readonly signal?: AbortSignal
}

/** A verb that needs nothing may be called with nothing. */
type Given<Name extends VerbName> =
  Record<string, never> extends InputOf<Name> ? [input?: InputOf<Name>] : [input: InputOf<Name>]

type Acts = {
  readonly [Name in VerbName]: (...given: [...Given<Name>, options?: CallOptions]) => Promise<OutputOf<Name>>
}

/** What may be done on behalf of somebody. */
export interface ReeveVerbs extends Acts {
  /** The kernel that does it: the `holder` of what it executes. */
  readonly kernel: string
  /** The events of all processes from a position on, then as they come: no gap, no repeat. Ends when it is called off. */
  follow(
    input?: {
      readonly after?: number
      readonly filter?: z.input<typeof filter>
      /** Shows secrets instead of masking them: for an admin or the host, and noted with the processes. */
      readonly reveal?: boolean
    },
    options?: CallOptions,
  ): AsyncIterable<StoredEvent>
  /** A command's output from an offset on, then as it comes: no gap unsaid, no repeat. Ends with the command's outcome. */
  followOutput(
    input: {
      readonly pid: string
      readonly offset?: number
      /** Shows secrets instead of masking them: for an admin or the host, and noted with the process. */
      readonly reveal?: boolean
      /**
       * For a terminal that a person sits at, as `attach`: nothing is masked for the host, and nothing noted. With a token it is
       * `reveal` for an admin, and nothing for others.
       */
      readonly terminal?: boolean
    },
    options?: CallOptions,
  ): AsyncIterable<OutputPiece>
  /**
   * What a scope is told, as it comes; ends when it is called off. With a `consumer`, from where that one has acknowledged
   * on. With `take` each is this consumer's alone until it is acknowledged, or its time is up and it is given again.
   */
  inbox(
    input: {
      readonly scope: string
      readonly consumer?: string
      readonly after?: number
      readonly take?: { readonly visibilityMs?: number }
      readonly turn?: string
    },
    options?: CallOptions,
  ): AsyncIterable<InboxNotice>
  /**
   * A two-way terminal with `scrollback` bytes of what was printed before. Many may be attached at once. Of the host it is a
   * person's own, and nothing is masked.
   */
  attach(
    input: { readonly pid: string; readonly scrollback?: number },
    options?: CallOptions,
  ): Promise<Attachment>
}

export type InboxNotice = OutputOf<'notices'>['notices'][number]

/** A piece of an output log. `gap`: bytes that are not kept any more, right before it. */
export interface OutputPiece {
  readonly offset: number
  readonly bytes: Uint8Array
  readonly gap: { readonly from: number; readonly to: number } | null
  /** With the last piece of `followOutput`, which has no bytes: how the command ended. */
  readonly outcome?: NonNullable<OutputOf<'show'>['outcome']>
}

/** A live terminal: what is printed, what is typed, and how large it is. Letting go of it changes nothing. */
export interface Attachment extends AsyncIterable<OutputPiece> {
  write(text: string | Uint8Array): Promise<{ readonly bytes: number }>
  resize(size: { readonly cols: number; readonly rows: number }): Promise<void>
  detach(): void
}

/** Serves durable functions of this program. */
export interface ServesWorkflows {
  /** Runs the workflow processes of this name here, from now until `close`. */
  workflow(name: string, run: WorkflowFunction, options?: WorkflowOptions): Promise<void>
}

/** What Reeve does for a program, whether the kernel runs inside it or in a daemon. */
export interface Reeve extends ReeveVerbs {
  /** Acts as somebody else, `reeve.as('session:s1')`, and can be handed to them: it leads nowhere else. */
  as(actor: Actor): ReeveVerbs
  /** In order: commands that live as long as the daemon are ended, unless `keep` says otherwise; the rest goes on. */
  close(options?: { readonly keep?: boolean }): Promise<void>
}

// Written by `node scripts/write-verb-calls.ts` from the verbs; do not edit.
import type { Amounts } from '../core/allowance/amounts.ts'
import type { Environment } from '../core/environment/environment.ts'
import type { Json, JsonObject } from '../core/json/json.ts'
import type { Owner, ProcessRecord } from '../core/process/record.ts'
import type { CallOptions, OutputOf } from './reeve.ts'

/** The verbs as methods. */
export interface VerbCalls {
  /**
   * Asks to give up on a process whose holder does not answer.
   *
   * A process without a holder ends at once as `abandoned`. A process with a holder ends when its lease expires.
   *
   * Needs the role `admin`. Refuses with `unknown_pid`, `ambiguous_pid`, `already_ended`, `denied`.
   */
  abandon(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** The reason, as it is recorded. */
      reason: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'abandon'>>
  /**
   * Marks notices as handled, so that they are not delivered again.
   *
   * `positions` marks notices as done for all consumers. `through` moves the cursor of this consumer only: earlier notices are no longer delivered to it, and other consumers still get them.
   *
   * Needs the role `operate`. Refuses with `denied`.
   */
  acknowledge(
    input: {
      /** Session:<id>, process:<pid> or human:<name>. */
      scope: string
      /** The name of a consumer, which has a cursor of its own. */
      consumer: string
      /** Positions of notices that are done. */
      positions?: number[]
      /** The position up to which this consumer has handled all notices. */
      through?: number
      /** The reader whose cursor moves, if several readers are one consumer. */
      reader?: ReaderInput
    },
    options?: CallOptions,
  ): Promise<{
    /** Positions of notices that are done now. */
    acknowledged: number[]
    /** Positions of notices that another consumer has taken meanwhile; they are not changed. */
    lost: number[]
    /** The cursor of this consumer now. */
    through: number
  }>
  /**
   * Reads the session log of an agent: its last items, or a page before or after a `seq`.
   *
   * Without `after` the items are those of the current branch: a turn that was rolled back is left out. With `after` they are all items since, in the order of the log; a `turn_ended` with the reason `rolled_back` says that its turn is no longer on the branch. A page may have fewer items than asked for if they are large.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `invalid_request`.
   */
  agentLog(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** The maximum number of items, roughly. Default: `100`. */
      last?: number | undefined
      /** The `before` of a page, to continue towards the beginning. */
      before?: number
      /** The `seq` to continue after. */
      after?: number
      /** Large parts are included, up to 1 MiB each and 4 MiB in all; without it they are references. Default: `false`. */
      blobs?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'agentLog'>>
  /**
   * Counts the processes that have not ended.
   *
   * For the whole store the cost does not depend on the number of processes. With `maxAgeMs`, older processes are not counted.
   *
   * Needs the role `read`. Refuses with `denied`.
   */
  liveCount(
    input?: {
      /** Counts the processes of this session and of the sessions below it only. */
      session?: string
      /** Counts processes up to this age only, in milliseconds. */
      maxAgeMs?: number
    },
    options?: CallOptions,
  ): Promise<OutputOf<'liveCount'>>
  /**
   * Announces that a program is alive and serves workflows and tools under these names.
   *
   * Repeat it before `ttlMs` have passed. Otherwise other workers take over the processes that it holds.
   *
   * Needs the role `operate`. Refuses with `denied`.
   */
  announceWorker(
    input: {
      /** The id of the worker. */
      worker: string
      /** Names of the workflows that it serves. Default: `[]`. */
      workflows?: string[] | undefined
      /** The tools that it serves. Default: `[]`. */
      tools?:
        | {
            /** By which it is called. */
            name: string
            /** What it does. */
            description: string
            /** The JSON Schema of its input. */
            inputSchema: JsonObject
            /** What may follow when the program of a call is lost. */
            recovery: 'bound' | 'rerunnable'
          }[]
        | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'announceWorker'>>
  /**
   * Answers a wait through its one-shot key.
   *
   * Anyone who has the key may answer, once.
   *
   * Needs the role `operate`.
   */
  answer(
    input: {
      /** The one-shot key. */
      key: string
      /** What the wait answers with. */
      value?: Json | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'answer'>>
  /**
   * Appends events of types that their processes declared.
   *
   * Over one process or several: all events are appended, or none. Only its executor may append to a process that is being executed.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `already_ended`, `not_holding`, `undeclared_event`, `payload_mismatch`, `payload_too_large`, `replay_key_required`, `replay_conflict`, `denied`.
   */
  append(
    input: {
      /** The events, in their order. */
      events: {
        /** A whole pid. */
        pid: string
        /** A type that the process declared. */
        type: string
        /** Fits the schema of the type. */
        payload: Json
        /** The same key makes a repeated call safe. */
        replayKey?: string
      }[]
    },
    options?: CallOptions,
  ): Promise<OutputOf<'append'>>
  /**
   * Reads the audit: who was shown secrets, was given access or lost it, and was denied something.
   *
   * The newest entries come first. With `next` there are more, even if this page is empty: one call looks at a bounded number of entries.
   *
   * Needs the role `admin`. Refuses with `denied`.
   */
  audit(
    input?: {
      /** Only entries of this actor, for example session:s1. */
      actor?: string
      /** Only entries about this target, for example process:p_7k3m9q2x4t8v. */
      target?: string
      /** Only entries with this decision. */
      decision?:
        | 'allowed'
        | 'asked'
        | 'denied'
        | 'approved'
        | 'refused'
        | 'expired'
        | 'withdrawn'
        | 'granted'
        | 'revoked'
        | 'revealed'
        | 'repeated'
      /** Only entries of this time or later, in milliseconds since 1970. */
      since?: number
      /** In order of position; after continues with later ones. Default: `false`. */
      oldestFirst?: boolean | undefined
      /** Next of an earlier answer. */
      after?: number
      /** The maximum number of items. Default: `100`. */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'audit'>>
  /**
   * Shows what a process with its descendants, or a session, may use and has used.
   *
   * For the root of a tree, `total` is the total of the tree.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `session_unknown`, `denied`.
   */
  budget(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid?: string
      /** The id of a session. */
      session?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'budget'>>
  /**
   * Changes the working folder of a live process.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `already_ended`, `denied`.
   */
  changeCwd(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** The working folder, an absolute path. */
      cwd: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'changeCwd'>>
  /**
   * Reads the events of all processes, in the one order that all readers see.
   *
   * Continue after the `position` of the answer: no event is missed or repeated. 0 is the oldest event that is kept. A reader that begins at 0 passes `prunedThrough` of the answer on, and is refused only if more has been pruned since. One call scans a bounded number of events. With `more` there are events after `position`, even if this page is empty.
   *
   * Needs the role `read`. Refuses with `behind_pruned`, `denied`.
   */
  changes(
    input?: {
      /** The position to continue after. Default: `0`. */
      after?: number | undefined
      /** PrunedThrough of the first answer. Default: `0`. */
      prunedThrough?: number | undefined
      /** The processes whose events to read. */
      filter?: FilterInput
      /** The maximum number of items. Default: `100`. */
      limit?: number | undefined
      /** Shows secrets instead of masking them; needs the role admin, and is recorded with the process. Default: `false`. */
      reveal?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'changes'>>
  /**
   * Charges a process for work: before the work, so that too much is refused, or after it.
   *
   * It changes the account of this process only, and no account above it.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `already_ended`, `denied`, `limit_exceeded`, `invalid_input`, `replay_conflict`.
   */
  charge(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** How much of each to charge. */
      amounts: Amounts
      /** The work is done: exceeding a limit ends the process, with the reason limit:<name>. Default: `false`. */
      done?: boolean | undefined
      /** Calls under the same key are charged once. */
      replayKey?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'charge'>>
  /**
   * Claims the leases of workflow and tool processes that a worker serves; waits if there are none.
   *
   * The answer also lists processes that the worker holds without knowing it, for example after a lost answer, and processes that it no longer holds.
   *
   * Needs the role `operate`. Refuses with `not_found`, `denied`.
   */
  claimWork(
    input: {
      /** The id of the worker. */
      worker: string
      /** Pids that it executes already. Default: `[]`. */
      known?: string[] | undefined
      /** The maximum number of new claims. Default: `10`. */
      limit?: number | undefined
      /** How long to wait for work, in milliseconds. Default: `0`. */
      timeoutMs?: number | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'claimWork'>>
  /**
   * Closes a command's standard input.
   *
   * In a terminal it sends Ctrl-D, and the program decides what that means.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `not_command`, `not_served`, `already_ended`, `not_begun`, `no_input`, `input_closed`, `input_full`.
   */
  closeInput(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'closeInput'>>
  /**
   * Deletes a session and the sessions below it, and reports what that changed.
   *
   * It revokes the grants of these sessions, clears the wake targets that point at them and stops the processes whose lifetime they are. It changes nothing else.
   *
   * Needs the role `operate`. Refuses with `session_unknown`, `denied`.
   */
  deleteSession(
    input: {
      /** The id of a session. */
      session: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'deleteSession'>>
  /**
   * Writes what a worker did on a process that it holds.
   *
   * Every act carries the fence of the claim. An act with a stale fence changes nothing. All acts may be repeated.
   *
   * Needs the role `operate`. Refuses with `stale_fence`, `already_ended`, `stopping`, `not_waiting`, `conflict`, `payload_mismatch`, `payload_too_large`, `replay_conflict`, `undeclared_event`, `unknown_pid`, `pruned_pid`, `denied`, `environment_unknown`.
   */
  doWork(
    input: {
      /** The id of the worker. */
      worker: string
      /** A whole pid. */
      pid: string
      /** The fence of the claim. */
      fence: number
      /** What it did. */
      act: WorkInput
    },
    options?: CallOptions,
  ): Promise<OutputOf<'doWork'>>
  /**
   * Reports the end of an external process.
   *
   * Reeve does not execute external processes: the program that runs one reports its end. A call that is repeated under the same replay key gets the first answer.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `already_ended`, `not_holding`, `replay_conflict`, `denied`.
   */
  end(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** How it ended. */
      status: 'completed' | 'failed' | 'cancelled'
      /** The exit code, if there is one. */
      exitCode?: number
      /** The reason, as it is recorded. */
      reason?: string
      /** The result of the process. */
      result?: Json | undefined
      /** The same key makes a repeated call safe. */
      replayKey: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'end'>>
  /**
   * Ends a session and the sessions below it, and stops the processes whose lifetime they are.
   *
   * Needs the role `operate`. Refuses with `session_unknown`, `denied`.
   */
  endSession(
    input: {
      /** The id of a session. */
      session: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'endSession'>>
  /**
   * Ends a turn, and stops the processes whose lifetime it is.
   *
   * Needs the role `operate`. Refuses with `turn_unknown`, `denied`.
   */
  endTurn(
    input: {
      /** The id of a session. */
      session: string
      /** The id of a turn. */
      turn: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'endTurn'>>
  /**
   * Lists the workflows that are served now, and how many programs serve each.
   *
   * By name, as announced by live holders.
   *
   * Needs the role `read`. Refuses with `denied`.
   */
  workflows(input?: Record<string, never>, options?: CallOptions): Promise<OutputOf<'workflows'>>
  /**
   * Lists the tools that are served now, and how many programs serve each.
   *
   * By name, as announced by live holders. A tool that was not made with `defineTool` has no `declaration`.
   *
   * Needs the role `read`. Refuses with `denied`.
   */
  tools(input?: Record<string, never>, options?: CallOptions): Promise<OutputOf<'tools'>>
  /**
   * Reads an execution environment.
   *
   * Needs the role `read`. Refuses with `environment_unknown`, `denied`.
   */
  environment(
    input: {
      /** The reference that putEnvironment answered. */
      envRef: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'environment'>>
  /**
   * Reads the events of a process.
   *
   * After a `seq`, or the last ones with `tail`. A page may have fewer than `limit` events if they are large; it is empty only if there are no more. `count` is the number of all its events.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`.
   */
  events(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** The seq to continue after. Default: `0`. */
      after?: number | undefined
      /** Reads the last events, this many. */
      tail?: number
      /** The maximum number of items. Default: `100`. */
      limit?: number | undefined
      /** Shows secrets instead of masking them; needs the role admin, and is recorded with the process. Default: `false`. */
      reveal?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'events'>>
  /**
   * Exports the session log of an agent, in pages: JSON lines, Markdown, or a UI message stream of the AI SDK.
   *
   * Concatenate the texts of the pages. A turn that was rolled back is left out; a turn that may still be rolled back comes with a later page.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `invalid_request`.
   */
  exportAgent(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** Default: `"jsonl"`. */
      format?: ('jsonl' | 'markdown' | 'ui-messages') | undefined
      /** The `after` of an earlier page, to continue there. Default: `0`. */
      after?: number | undefined
      /** The maximum number of items, roughly. Default: `500`. */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'exportAgent'>>
  /**
   * Makes processes visible to a session.
   *
   * A grant gives no right but to see. All processes are granted, or none.
   *
   * Needs the role `operate`. Refuses with `session_unknown`, `session_ended`, `unknown_pid`, `ambiguous_pid`, `denied`.
   */
  grant(
    input: {
      /** The id of a session. */
      session: string
      /** Pids or names of processes. */
      pids: string[]
      /** Stored with each grant, for the session. */
      descriptor?: Json | undefined
      /** The reason, as it is recorded. */
      reason?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'grant'>>
  /**
   * Lists the grants of a session.
   *
   * Needs the role `read`. Refuses with `denied`.
   */
  grants(
    input: {
      /** The id of a session. */
      session: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'grants'>>
  /**
   * Lists who may hold leases: kernels, keepers and workers, and what each holds.
   *
   * It also lists holders that have a lease and no row (any more). Only their ids are known.
   *
   * Needs the role `admin`. Refuses with `denied`.
   */
  holders(input?: Record<string, never>, options?: CallOptions): Promise<OutputOf<'holders'>>
  /**
   * Lists approvals: requests to people, and their answers. The oldest, the newest or the most urgent first.
   *
   * A session sees its own requests, and a process its own and those below it, and has no queue by priority.
   *
   * Needs the role `read`.
   */
  approvals(
    input?: {
      /** Only approvals in this state. Default: `"pending"`. */
      state?: ('pending' | 'answered' | 'withdrawn' | 'expired' | 'any') | undefined
      /** Asked: the oldest first; newest: the newest first; priority: the queue of people, which are the pending ones with the highest priority first; one page. Default: `"asked"`. */
      order?: ('asked' | 'newest' | 'priority') | undefined
      /** With the order priority: what this person is asked, and what any person may answer. */
      person?: string
      /** `next` of the page before. */
      after?: number
      /** The maximum number of items. Default: `100`. */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'approvals'>>
  /**
   * Shows an approval: the exact action, who asks and why, and how it was answered.
   *
   * A session sees its own requests, and a process its own and those below it.
   *
   * Needs the role `read`. Refuses with `approval_unknown`.
   */
  approval(
    input: {
      /** The id of the approval. */
      id: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'approval'>>
  /**
   * Approves a request: the process that waits for it begins.
   *
   * The first answer wins; a later one gets the recorded decision. People and the host may answer. A session may not answer for itself, nor for one above or below it, and approves for one time only.
   *
   * Needs the role `operate`. Refuses with `approval_unknown`, `denied`, `person_required`, `limit_exceeded`.
   */
  approve(
    input: {
      /** The id of the approval. */
      id: string
      /** How far the yes reaches: this time, the same action of the asking process or session, or every time; the request lists those that it offers. Default: `"once"`. */
      grant?: ('once' | 'process' | 'session' | 'always') | undefined
      /** With always: `alwaysRule` of the request as it was shown, so that no other rule is stored. */
      rule?: JsonObject
      /** With always: where the rule is stored; home by default, or the workspace of the asker that the action runs in. */
      level?: 'home' | 'workspace'
      /** Runs this whole spec instead of the requested one, once; it is ruled on as the request was. */
      spec?: JsonObject
    },
    options?: CallOptions,
  ): Promise<OutputOf<'approve'>>
  /**
   * Denies a request: the process that waits for it ends without having begun.
   *
   * The first answer wins; a later one gets the recorded decision.
   *
   * Needs the role `operate`. Refuses with `approval_unknown`, `denied`, `person_required`.
   */
  deny(
    input: {
      /** The id of the approval. */
      id: string
      /** What the asker should do instead. */
      advice?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'deny'>>
  /**
   * Answers several requests at once, each for one time.
   *
   * Each answer counts by itself: one that is refused leaves the others as they are. The results are in the order of the answers.
   *
   * Needs the role `operate`. Refuses with `person_required`.
   */
  answerApprovals(
    input: {
      /** One answer for each approval. */
      answers: (
        | {
            type: 'approve'
            /** The id of the approval. */
            id: string
          }
        | {
            type: 'deny'
            /** The id of the approval. */
            id: string
            /** What the asker should do instead. */
            advice?: string
          }
      )[]
    },
    options?: CallOptions,
  ): Promise<OutputOf<'answerApprovals'>>
  /**
   * Asks a person a question, with choices or for a text.
   *
   * Registers a process of the tool `human.ask`, which waits for the reply, also while the daemon is down. `wait` for it: the reply is its result. A person may also deny it, and a stop withdraws it.
   *
   * Needs the role `operate`. Refuses with `conflict`, `name_in_use`, `survived`, `not_ours`, `pruned_pid`, `payload_too_large`, `unknown_pid`, `already_ended`, `stopping`, `session_unknown`, `session_ended`, `turn_unknown`, `turn_ended`, `lifetime_without_scope`, `environment_unknown`, `environment_forbidden`, `depth_exceeded`, `group_conflict`, `denied`, `invalid_request`, `too_many_commands`, `limit_exceeded`, `invalid_rule`, `not_found`, `untrusted`.
   */
  ask(
    input: {
      /** What the person is asked. */
      question: string
      /** The person replies with one of these; without them with a text. */
      choices?: string[]
      /** How long the question waits for a reply; forever without it. */
      timeoutMs?: number
      /** The name of the person who is asked; any person without it. */
      person?: string
      /** Higher ones are shown first; 0 by default. */
      priority?: number
      /** Why you want this, for the person who is asked; kept with the request alone. */
      reason?: string
      /** Chosen by the caller: the same pid with the same request is the same process. */
      pid?: string
      /** The same key of the same caller with the same request is the same process. */
      idempotencyKey?: string
      /** A name for the process, to use instead of its pid. */
      name?: string
      /** The pid of its parent. */
      parent?: string
      /** The scope that it belongs to. */
      owner?: Owner
    },
    options?: CallOptions,
  ): Promise<OutputOf<'ask'>>
  /**
   * Replies to a question: the process that waits for it ends with the reply as its result.
   *
   * The reply is a text, or one of the choices if the question has any. The first answer wins; a later one gets the recorded decision.
   *
   * Needs the role `operate`. Refuses with `approval_unknown`, `payload_too_large`, `denied`, `person_required`.
   */
  reply(
    input: {
      /** The id of the approval. */
      id: string
      /** The reply. */
      value: Json
    },
    options?: CallOptions,
  ): Promise<OutputOf<'reply'>>
  /**
   * Lists the rules about the effects of sessions and processes.
   *
   * Needs the role `admin`. Refuses with `denied`.
   */
  policies(input?: Record<string, never>, options?: CallOptions): Promise<OutputOf<'policies'>>
  /**
   * Adds a rule: what sessions and processes may do, may not do, or may do only when a person approves.
   *
   * The strictest rule that matches wins: deny, then ask, then allow. An allow closes the set: what nothing allows is then denied. No rule binds the host or people.
   *
   * Needs the role `admin`. Refuses with `invalid_rule`, `conflict`, `limit_exceeded`, `denied`, `session_unknown`, `session_ended`, `unknown_pid`.
   */
  addRule(
    input: {
      /** Home: every session and process of this home; workspace: those that work in a folder; session: one session; process: one process and everything below it. Default: `{"type":"home"}`. */
      to?:
        | (
            | {
                type: 'home'
              }
            | {
                type: 'workspace'
                /** The working folder, an absolute path. */
                folder: string
              }
            | {
                type: 'session'
                /** The id of a session. */
                session: string
              }
            | {
                type: 'process'
                /** A whole pid. */
                pid: string
              }
          )
        | undefined
      /** Effect (allow, ask, deny), resource (as in shell:git push, tool:deploy, fs:src/**), and optionally rights, constraints, requestable, reviewer, justification, match, nonmatch, hosts, expiresAt, uses, delegable, revocable, answerWithinMs (of an ask). */
      rule: JsonObject
    },
    options?: CallOptions,
  ): Promise<OutputOf<'addRule'>>
  /**
   * Removes a rule, from the next check on.
   *
   * Answers for longer that people gave to its requests are removed with it. A set that was closed by an allow stays closed; clearRules opens it.
   *
   * Needs the role `admin`. Refuses with `not_found`, `conflict`, `denied`.
   */
  removeRule(
    input: {
      /** The id of the rule. */
      id: string
      /** Home: every session and process of this home; workspace: those that work in a folder; session: one session; process: one process and everything below it. Default: `{"type":"home"}`. */
      from?:
        | (
            | {
                type: 'home'
              }
            | {
                type: 'workspace'
                /** The working folder, an absolute path. */
                folder: string
              }
            | {
                type: 'session'
                /** The id of a session. */
                session: string
              }
            | {
                type: 'process'
                /** A whole pid. */
                pid: string
              }
          )
        | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'removeRule'>>
  /**
   * Gives a subject the rules of a preset, in place of those of an earlier preset.
   *
   * observe reads; ask reads, and asks a person for everything else; edit also writes files of the workspace; full does everything. null removes the preset, and the set is as open as its other rules leave it.
   *
   * Needs the role `admin`. Refuses with `invalid_rule`, `not_available`, `denied`, `session_unknown`, `session_ended`, `unknown_pid`.
   */
  setPreset(
    input: {
      /** Home: every session and process of this home; workspace: those that work in a folder; session: one session; process: one process and everything below it. Default: `{"type":"home"}`. */
      to?:
        | (
            | {
                type: 'home'
              }
            | {
                type: 'workspace'
                /** The working folder, an absolute path. */
                folder: string
              }
            | {
                type: 'session'
                /** The id of a session. */
                session: string
              }
            | {
                type: 'process'
                /** A whole pid. */
                pid: string
              }
          )
        | undefined
      /** Observe, ask, edit, full; null for none. */
      preset: string | null
    },
    options?: CallOptions,
  ): Promise<OutputOf<'setPreset'>>
  /**
   * Removes all rules of a subject, and opens its set again.
   *
   * Needs the role `admin`. Refuses with `conflict`, `invalid_rule`, `denied`.
   */
  clearRules(
    input?: {
      /** Home: every session and process of this home; workspace: those that work in a folder; session: one session; process: one process and everything below it. Default: `{"type":"home"}`. */
      from?:
        | (
            | {
                type: 'home'
              }
            | {
                type: 'workspace'
                /** The working folder, an absolute path. */
                folder: string
              }
            | {
                type: 'session'
                /** The id of a session. */
                session: string
              }
            | {
                type: 'process'
                /** A whole pid. */
                pid: string
              }
          )
        | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'clearRules'>>
  /**
   * Passes on an allow that a session or process holds, only narrower.
   *
   * The held rule must be delegable. The new one counts only while every rule of its chain does. Sessions and processes pass on what they hold to what they own; the host and people name the holder in from.
   *
   * Needs the role `operate`. Refuses with `invalid_rule`, `conflict`, `limit_exceeded`, `denied`, `session_unknown`, `session_ended`, `unknown_pid`.
   */
  delegateRule(
    input: {
      /** A session, or a process. */
      from?:
        | {
            type: 'session'
            /** The id of a session. */
            session: string
          }
        | {
            type: 'process'
            /** A whole pid. */
            pid: string
          }
      /** A session, or a process. */
      to:
        | {
            type: 'session'
            /** The id of a session. */
            session: string
          }
        | {
            type: 'process'
            /** A whole pid. */
            pid: string
          }
      /** Effect (allow, ask, deny), resource (as in shell:git push, tool:deploy, fs:src/**), and optionally rights, constraints, requestable, reviewer, justification, match, nonmatch, hosts, expiresAt, uses, delegable, revocable, answerWithinMs (of an ask). */
      rule: JsonObject
    },
    options?: CallOptions,
  ): Promise<OutputOf<'delegateRule'>>
  /**
   * Takes back a rule that was delegated, from the next check on.
   *
   * What was passed on from it no longer counts either. Sessions and processes take back what they passed on.
   *
   * Needs the role `operate`. Refuses with `not_found`, `conflict`, `denied`.
   */
  revokeDelegated(
    input: {
      /** The id of the rule. */
      id: string
      /** A session, or a process. */
      to:
        | {
            type: 'session'
            /** The id of a session. */
            session: string
          }
        | {
            type: 'process'
            /** A whole pid. */
            pid: string
          }
    },
    options?: CallOptions,
  ): Promise<OutputOf<'revokeDelegated'>>
  /**
   * Shows the policy file of a folder, or of the nearest folder above it.
   *
   * It says whether a person trusts the file, which of its rules would count then, and its errors.
   *
   * Needs the role `admin`. Refuses with `not_found`, `denied`.
   */
  policyFile(
    input: {
      /** The working folder, an absolute path. */
      folder: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'policyFile'>>
  /**
   * Trusts the policy file of a folder, or no longer.
   *
   * What the file allows counts from now on, and rules of its earlier versions no longer do. The hash is that of policyFile: a file that has changed since is refused. null: what it allows no longer counts.
   *
   * Needs the role `admin`. Refuses with `not_found`, `conflict`, `policy_invalid`, `denied`.
   */
  trustPolicy(
    input: {
      /** The working folder, an absolute path. */
      folder: string
      /** Of the version to trust, from policyFile; null: no longer. */
      hash: string | null
    },
    options?: CallOptions,
  ): Promise<OutputOf<'trustPolicy'>>
  /**
   * Removes the rules of a policy file, also those of its earlier versions.
   *
   * If the file is still there, the next command in its folder loads it again, untrusted.
   *
   * Needs the role `admin`. Refuses with `not_found`, `denied`.
   */
  forgetPolicy(
    input: {
      /** The working folder, an absolute path. */
      folder: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'forgetPolicy'>>
  /**
   * Checks the text of a policy file: its form, its rules and their examples.
   *
   * It changes nothing.
   *
   * Needs the role `read`.
   */
  checkPolicy(
    input: {
      /** The content of the file. */
      text: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'checkPolicy'>>
  /**
   * Explains what the rules say about a command, a tool or a resource.
   *
   * Nothing is started, asked for or used up.
   *
   * Needs the role `admin`. Refuses with `policy_invalid`, `session_unknown`, `session_ended`, `unknown_pid`, `denied`.
   */
  explainRules(
    input: {
      /** Whose rules; without it those of every session of the home. */
      subject?:
        | {
            type: 'session'
            /** The id of a session. */
            session: string
          }
        | {
            type: 'process'
            /** A whole pid. */
            pid: string
          }
      /** What would be done. */
      what:
        | {
            type: 'run'
            /** A line for the shell. */
            run: string
          }
        | {
            type: 'argv'
            /** A program and its arguments. */
            argv: string[]
          }
        | {
            type: 'tool'
            /** The name of a tool. */
            tool: string
          }
        | {
            type: 'resource'
            /** As in write fs:src/main.ts. */
            resource: string
          }
      /** The working folder, an absolute path. */
      cwd?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'explainRules'>>
  /**
   * Asks all processes of a scope to stop.
   *
   * All given selectors must match. A scope may be one tool call, a turn, or a whole session; agents and workflows are asked, too. A session without further selectors includes the sessions below it.
   *
   * Needs the role `operate`. Refuses with `empty_scope`, `not_found`, `denied`.
   */
  interrupt(
    input: {
      /** At least one selector. */
      scope: {
        /** The id of a session. */
        session?: string
        /** The id of a turn. */
        turn?: string
        /** A selector of the owner. */
        toolCall?: string
        /** A selector of the owner. */
        terminal?: string
        /** A selector of the owner. */
        extension?: string
        /** A selector of the owner. */
        hook?: string
        /** A selector of the owner. */
        sandbox?: string
        /** A selector of the owner. */
        source?: string
        /** A whole pid. */
        pid?: string
      }
      /** The reason, as it is recorded. */
      reason?: string
      /** Also the descendants of the processes that match. Default: `false`. */
      tree?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'interrupt'>>
  /**
   * Ends a process and everything it started.
   *
   * Asks first, forces when the grace is over, then checks. It answers when the process has ended, with its real outcome; a process that survives is an error that names it. If the store cannot be written, a command is ended all the same: `unrecorded` says that it is gone, and that its record follows when the store can be written again.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `survived`, `not_ours`.
   */
  kill(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** How long it may take to end before it is forced; 0: it is never forced. */
      graceMs?: number
      /** The reason, as it is recorded. */
      reason?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'kill'>>
  /**
   * Ends all live processes, and counts them.
   *
   * All live processes or those that a filter selects, and programs that ended commands left running.
   *
   * Needs the role `operate`. Refuses with `denied`.
   */
  killAll(
    input?: {
      /** The processes to end; all live ones by default. */
      filter?: FilterInput
      /** How long each may take to end before it is forced, in milliseconds. */
      graceMs?: number
      /** The reason, as it is recorded. */
      reason?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'killAll'>>
  /**
   * Lists processes; without a status, those that have not ended.
   *
   * In order of registration, or the newest first. `shared` marks processes that are visible through a grant only.
   *
   * Needs the role `read`. Refuses with `denied`.
   */
  list(
    input?: {
      /** Which processes. */
      filter?: FilterInput
      /** The cursor of an earlier answer, to continue after it. */
      after?: string
      /** The maximum number of items. Default: `100`. */
      limit?: number | undefined
      /** The last registered first; after continues with older ones. Default: `false`. */
      newestFirst?: boolean | undefined
      /** With the TCP ports that commands listen on. Default: `false`. */
      ports?: boolean | undefined
      /** The turn that reads: notices of the listed ends are not delivered again in this turn. */
      turn?: string
      /** With what each may use and has used. Default: `false`. */
      budgets?: boolean | undefined
      /** Shows secrets instead of masking them; needs the role admin, and is recorded with the process. Default: `false`. */
      reveal?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<{
    /** A page of processes. */
    processes: {
      /** The process as its events describe it. */
      record: ProcessRecord
      /** It is visible through a grant only. */
      shared: boolean
      /** Present while the disk is full: output that is written when there is space. */
      heldBack?: {
        /** When that began, in milliseconds since 1970. */
        since: number
        /** How many bytes are held in memory. */
        bytes: number
      }
      /** With `ports`: the TCP ports that a command listens on, if it listens on any. */
      ports?: number[]
      /** With `budgets`: of processes that have an allowance or were charged, or whose descendants were. */
      budget?: {
        /** The limit of each; a missing name has no limit. */
        given: Amounts
        /** Used by the process itself. */
        used: Amounts
        /** Used by the process and its descendants. */
        total: Amounts
        /** What it may still use or pass on; allowances of its descendants are subtracted. */
        left: Amounts
      }
    }[]
    /** The cursor of the next page; null if there is none. */
    next: string | null
  }>
  /**
   * Reads lines of a command's output: the last 200, or a page from either end.
   *
   * Lines are numbered from 0 over the lines that are kept.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `not_command`, `not_served`, `no_output`.
   */
  log(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** The end of the log that the page is counted from. Default: `"end"`. */
      from?: ('start' | 'end') | undefined
      /** How many lines to skip from there. Default: `0`. */
      offset?: number | undefined
      /** The maximum number of lines. Default: `200`. */
      limit?: number | undefined
      /** Of a command with output: tagged, this stream only. */
      stream?: 'stdout' | 'stderr' | 'text' | 'thinking' | 'tool_arguments' | 'label'
      /** One of the readers of the session: the others still get the notice of the end. */
      reader?: ReaderInput
      /** Escape sequences such as colours: kept or stripped; render: as a terminal would show the output, also where text overwrites other text. Default: `"strip"`. */
      ansi?: ('keep' | 'strip' | 'render') | undefined
      /** Shows secrets instead of masking them; needs the role admin, and is recorded with the process. Default: `false`. */
      reveal?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'log'>>
  /**
   * Reads the notices of a scope.
   *
   * Reading takes nothing: any number of readers may read. It shows notices that are not done, after the position `after`, or after those that this consumer has acknowledged.
   *
   * Needs the role `read`. Refuses with `denied`.
   */
  notices(
    input: {
      /** Session:<id>, process:<pid> or human:<name>. */
      scope: string
      /** Continue after what this consumer has acknowledged. */
      consumer?: string
      /** Next of an earlier answer. */
      after?: number
      /** The maximum number of items. Default: `100`. */
      limit?: number | undefined
      /** The last notices instead of the first. Default: `false`. */
      newest?: boolean | undefined
      /** Also notices that are done. Default: `false`. */
      all?: boolean | undefined
      /** Skip notices about processes that this turn has read. */
      turn?: string
      /** The reader whose cursor it is, if several readers are one consumer. */
      reader?: ReaderInput
      /** How long to wait for a notice if there is none, in milliseconds. Default: `0`. */
      waitMs?: number | undefined
    },
    options?: CallOptions,
  ): Promise<{
    /** The notices, in order of position. */
    notices: {
      /** Its position in the order of all inboxes: later notices have higher positions. */
      position: number
      /** The inbox that it is in. */
      scope: string
      /** The process that it is about. */
      pid: string
      /** The event of that process that made it. */
      seq: number
      /** What happened. */
      kind:
        | 'completion'
        | 'group_completion'
        | 'watch_match'
        | 'watch_disabled'
        | 'overflow_tripped'
        | 'overflow_released'
        | 'ready'
        | 'heartbeat'
        | 'approval'
        | 'limit_warning'
        | 'wake'
        | 'message'
        | 'report'
      /** When it happened, in milliseconds since 1970. */
      at: number
      /** The notice as a sentence that can be read alone. */
      text: string
      /** The facts of the notice. */
      payload: Json
      /** What the registration of the process has as `replyTo`. */
      replyTo: Json
      /** How it was handled for all consumers; null if it was not. */
      done: ('acknowledged' | 'consumed') | null
    }[]
    /** The position to continue after. */
    next: number
    /** There are more notices now. */
    more: boolean
  }>
  /**
   * Opens a session.
   *
   * Opening an open session changes nothing, unless it gives the session its first allowance, preset or folder. With `parentSession` it is below another session: it ends with that one, and is bound by its rules and its allowance.
   *
   * Needs the role `operate`. Refuses with `session_unknown`, `session_ended`, `conflict`, `limit_exceeded`, `already_ended`, `denied`, `invalid_rule`, `not_available`.
   */
  openSession(
    input: {
      /** The id of a session. */
      session: string
      /** A name for people. */
      label?: string
      /** What all of its processes together may use; only the host may give it. */
      allowance?: Amounts
      /** The folder that the agent of the session works in; its rules bind the session. */
      workspace?: string
      /** The session above it, which must be open; a session may open children of itself only. */
      parentSession?: string
      /** The rules that it begins with: observe, ask, edit or full; an open session keeps a stricter preset, and a wider one is a conflict. */
      preset?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'openSession'>>
  /**
   * Opens a turn of a session.
   *
   * Needs the role `operate`. Refuses with `session_unknown`, `session_ended`, `turn_ended`, `denied`.
   */
  openTurn(
    input: {
      /** The id of a session. */
      session: string
      /** The id of a turn. */
      turn: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'openTurn'>>
  /**
   * Adds a schedule: a process that runs at certain times.
   *
   * Adding it again with the same definition changes nothing. Each occurrence is a process in the session `schedule:<name>`, with the rights that the caller has now. Its pid follows from the schedule and the scheduled time, so each time runs once, also with several daemons.
   *
   * Needs the role `operate`. Refuses with `conflict`, `denied`, `session_unknown`, `session_ended`, `limit_exceeded`, `payload_too_large`, `not_found`, `untrusted`, `invalid_request`.
   */
  addSchedule(
    input: {
      /** The name of a schedule. */
      schedule: string
      /** When it runs. */
      times:
        | {
            type: 'cron'
            /** A cron expression of five fields, or six with seconds. */
            cron: string
            /** The zone of the expression; that of the daemon by default. */
            zone?: string
            /** No occurrence is before it. */
            start?: number
            /** No occurrence is after it. */
            end?: number
          }
        | {
            type: 'every'
            /** The interval in milliseconds, from the start on. */
            everyMs: number
            /** No occurrence is before it. */
            start?: number
            /** No occurrence is after it. */
            end?: number
          }
        | {
            type: 'at'
            /** Milliseconds since 1970. */
            at: number
            /** No occurrence is before it. */
            start?: number
            /** No occurrence is after it. */
            end?: number
          }
      /** The process of each occurrence. */
      process:
        | {
            kind: 'command'
            /** What to run. */
            spec: CommandSpecInput
            /** A name for people. */
            label?: string
            /** What it is an instance of, for filters. */
            definition?: Json | undefined
            /** Copied to its notices, for the reader. */
            replyTo?: Json | undefined
            /** When this ends, the process is stopped. */
            lifetime?: 'turn' | 'session' | 'parent' | 'daemon' | 'detached'
            /** What may follow when its holder is lost. */
            recovery?: 'rerunnable' | 'bound' | 'external'
            /** Where it is executed: host:<name>, folder:<id>, or parent; by default anywhere, and for a command where it was requested. */
            placement?: string
            /** Its execution environment. */
            envRef?: string
            /** The working folder, an absolute path. */
            cwd?: string
            /** The event types that it declares. */
            eventTypes?: Record<
              string,
              {
                /** JSON Schema of the payload. */
                schema: JsonObject
                /** An event of this type ends the process. */
                end?: 'completed' | 'failed' | 'cancelled'
                /** An event of this type is a notice to the wake target. */
                wake?: boolean
                /** The facet that the payload becomes. */
                facet?: string
              }
            >
            /** The session that gets its notices. */
            wakeTarget?: string
            /** Limits of the process and its children. */
            limits?: {
              /** How often it may be begun when its holders die. */
              attempts?: number
              /** How deep its tree may grow, from the root. */
              depth?: number
              /** How many of its children may live at once, tools not counted; children inherit it. */
              liveChildren?: number
              /** How long a command, tool or workflow may run, in milliseconds; children inherit it. */
              runMs?: number
              /** How much memory a command may use; children inherit it. */
              memoryBytes?: number
            }
            /** What it and its descendants may use; a missing name gets half of what its parent has left. */
            allowance?: Amounts
            /** The most that it and everything below it may do: everything that these rules do not allow is denied, also to later grants. */
            ceiling?: {
              /** Rules as those of addRule, without limits of use. */
              rules: JsonObject[]
            }
            /** Why you want this, for the person who is asked; kept with the request alone. */
            reason?: string
          }
        | {
            kind: 'agent'
            /** What to run. */
            spec: {
              /** The name of the agent. */
              agent: string
              /** Its goal. */
              goal?: Json | undefined
              /** The image that it is made from: fields that are left out have the values of the image. */
              image?: string
              /** The model that Reeve calls for it, as provider/model, or acp/<name> for an outside agent; without one Reeve does not drive it. */
              model?: string
              /** Models that are called instead, in this order, when the provider of the model fails. */
              fallbacks?: string[]
              /** How much the model thinks; each provider has its own steps. */
              effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'
              /** The longest answer of one model call, in tokens. */
              maxOutputTokens?: number
              /** Its system prompt. */
              system?: string
              /** Facts that it needs for its goal: the second part of its first input. */
              context?: string
              /** The tools that it may call. */
              tools?: string[]
              /** Tools that agents above it have written, and that it may call; none by default. */
              writtenTools?: string[]
              /** It ends with its first turn, with the result of that turn. */
              once?: boolean
              /** How many agents may work below it; 2 levels and 20 live children by default. */
              delegation?: {
                /** Levels of agents below it, of a root. */
                depth?: number
                /** Live agents below it. */
                children?: number
              }
              /** Amounts of tokensIn, tokensOut and cost: an alert at 80 %, and when one is reached, the agent pauses. */
              softLimits?: Amounts
              /** MCP servers whose tools it may call, by the name in mcp__<name>__<tool>. */
              mcpServers?: Record<
                string,
                | {
                    type: 'command'
                    /** A program and its arguments, without a shell. */
                    argv?: string[]
                    /** A command line for the user's shell, passed on unchanged. */
                    run?: string
                    /** Variables of its environment; values or references to secrets. */
                    env?: Record<
                      string,
                      | string
                      | {
                          /** A secret of the home, or env:<variable>. */
                          secret: string
                        }
                    >
                    /** Its working folder; that of the agent by default. */
                    cwd?: string
                    /** How long one call may take, in milliseconds; 300 s by default. */
                    timeoutMs?: number
                  }
                | {
                    type: 'http'
                    /** Its address. */
                    url: string
                    /** Headers of each request; values or references to secrets. */
                    headers?: Record<
                      string,
                      | string
                      | {
                          /** A secret of the home, or env:<variable>. */
                          secret: string
                        }
                    >
                    /** How Reeve shows who it is: a token, or OAuth with client credentials. */
                    auth?:
                      | {
                          type: 'bearer'
                          /** The secret with the token. */
                          token: {
                            /** The name of the secret. */
                            secret: string
                          }
                        }
                      | {
                          type: 'oauth'
                          /** The authorization server, which gets the secret; no other does. */
                          issuer: string
                          /** The name of the client at the authorization server. */
                          clientId: string
                          /** The secret of the client. */
                          clientSecret: {
                            /** The name of the secret. */
                            secret: string
                          }
                          /** The scopes to ask for, separated by spaces. */
                          scope?: string
                        }
                    /** How long one call may take, in milliseconds; 300 s by default. */
                    timeoutMs?: number
                  }
              >
              /** Of an outside agent with a model acp/<name>: its program, if it is none that Reeve knows. */
              program?: {
                /** A program and its arguments, without a shell. */
                argv?: string[]
                /** A command line for the user's shell, passed on unchanged. */
                run?: string
                /** Variables of its environment; values or references to secrets. */
                env?: Record<
                  string,
                  | string
                  | {
                      /** A secret of the home, or env:<variable>. */
                      secret: string
                    }
                >
              }
              /** Rules for what it does, besides those of its asker: observe, ask, edit or full. */
              preset?: 'observe' | 'ask' | 'edit' | 'full'
              /** The JSON schema that the result of its goal must fit. */
              output?: JsonObject
              /** Commands that run at events of the agent, under its rules. */
              hooks?: {
                /** When it runs. */
                event:
                  | 'session_start'
                  | 'turn_start'
                  | 'before_tool'
                  | 'after_tool'
                  | 'turn_end'
                  | 'session_end'
                /** Of before_tool and after_tool: the tools that it is for; all if left out. */
                tools?: string[]
                /** A line for the shell; it reads the event as JSON from its standard input. */
                run: string
                /** How long it may run; 60000 by default. */
                timeoutMs?: number
              }[]
              /** Long-term memory in memory/ and knowledge/ of its workspace: true, or with a model and a time limit for the job that keeps it; off if left out. */
              memory?:
                | boolean
                | {
                    /** The model that keeps it; that of the agent if left out. */
                    model?: string
                    /** How long one call of that model may take. */
                    timeoutMs?: number
                  }
            }
            /** A name for people. */
            label?: string
            /** What it is an instance of, for filters. */
            definition?: Json | undefined
            /** Copied to its notices, for the reader. */
            replyTo?: Json | undefined
            /** When this ends, the process is stopped. */
            lifetime?: 'turn' | 'session' | 'parent' | 'daemon' | 'detached'
            /** What may follow when its holder is lost. */
            recovery?: 'rerunnable' | 'bound' | 'external'
            /** Where it is executed: host:<name>, folder:<id>, or parent; by default anywhere, and for a command where it was requested. */
            placement?: string
            /** Its execution environment. */
            envRef?: string
            /** The working folder, an absolute path. */
            cwd?: string
            /** The event types that it declares. */
            eventTypes?: Record<
              string,
              {
                /** JSON Schema of the payload. */
                schema: JsonObject
                /** An event of this type ends the process. */
                end?: 'completed' | 'failed' | 'cancelled'
                /** An event of this type is a notice to the wake target. */
                wake?: boolean
                /** The facet that the payload becomes. */
                facet?: string
              }
            >
            /** The session that gets its notices. */
            wakeTarget?: string
            /** Limits of the process and its children. */
            limits?: {
              /** How often it may be begun when its holders die. */
              attempts?: number
              /** How deep its tree may grow, from the root. */
              depth?: number
              /** How many of its children may live at once, tools not counted; children inherit it. */
              liveChildren?: number
              /** How long a command, tool or workflow may run, in milliseconds; children inherit it. */
              runMs?: number
              /** How much memory a command may use; children inherit it. */
              memoryBytes?: number
            }
            /** What it and its descendants may use; a missing name gets half of what its parent has left. */
            allowance?: Amounts
            /** The most that it and everything below it may do: everything that these rules do not allow is denied, also to later grants. */
            ceiling?: {
              /** Rules as those of addRule, without limits of use. */
              rules: JsonObject[]
            }
            /** Why you want this, for the person who is asked; kept with the request alone. */
            reason?: string
          }
        | {
            kind: 'workflow'
            /** What to run. */
            spec: {
              /** The name of the workflow. */
              workflow: string
              /** Its input. */
              input?: Json | undefined
            }
            /** A name for people. */
            label?: string
            /** What it is an instance of, for filters. */
            definition?: Json | undefined
            /** Copied to its notices, for the reader. */
            replyTo?: Json | undefined
            /** When this ends, the process is stopped. */
            lifetime?: 'turn' | 'session' | 'parent' | 'daemon' | 'detached'
            /** What may follow when its holder is lost. */
            recovery?: 'rerunnable' | 'bound' | 'external'
            /** Where it is executed: host:<name>, folder:<id>, or parent; by default anywhere, and for a command where it was requested. */
            placement?: string
            /** Its execution environment. */
            envRef?: string
            /** The working folder, an absolute path. */
            cwd?: string
            /** The event types that it declares. */
            eventTypes?: Record<
              string,
              {
                /** JSON Schema of the payload. */
                schema: JsonObject
                /** An event of this type ends the process. */
                end?: 'completed' | 'failed' | 'cancelled'
                /** An event of this type is a notice to the wake target. */
                wake?: boolean
                /** The facet that the payload becomes. */
                facet?: string
              }
            >
            /** The session that gets its notices. */
            wakeTarget?: string
            /** Limits of the process and its children. */
            limits?: {
              /** How often it may be begun when its holders die. */
              attempts?: number
              /** How deep its tree may grow, from the root. */
              depth?: number
              /** How many of its children may live at once, tools not counted; children inherit it. */
              liveChildren?: number
              /** How long a command, tool or workflow may run, in milliseconds; children inherit it. */
              runMs?: number
              /** How much memory a command may use; children inherit it. */
              memoryBytes?: number
            }
            /** What it and its descendants may use; a missing name gets half of what its parent has left. */
            allowance?: Amounts
            /** The most that it and everything below it may do: everything that these rules do not allow is denied, also to later grants. */
            ceiling?: {
              /** Rules as those of addRule, without limits of use. */
              rules: JsonObject[]
            }
            /** Why you want this, for the person who is asked; kept with the request alone. */
            reason?: string
          }
        | {
            kind: 'tool'
            /** What to run. */
            spec: {
              /** The name of the tool. */
              tool: string
              /** Its input. */
              input?: Json | undefined
            }
            /** A name for people. */
            label?: string
            /** What it is an instance of, for filters. */
            definition?: Json | undefined
            /** Copied to its notices, for the reader. */
            replyTo?: Json | undefined
            /** When this ends, the process is stopped. */
            lifetime?: 'turn' | 'session' | 'parent' | 'daemon' | 'detached'
            /** What may follow when its holder is lost. */
            recovery?: 'rerunnable' | 'bound' | 'external'
            /** Where it is executed: host:<name>, folder:<id>, or parent; by default anywhere, and for a command where it was requested. */
            placement?: string
            /** Its execution environment. */
            envRef?: string
            /** The working folder, an absolute path. */
            cwd?: string
            /** The event types that it declares. */
            eventTypes?: Record<
              string,
              {
                /** JSON Schema of the payload. */
                schema: JsonObject
                /** An event of this type ends the process. */
                end?: 'completed' | 'failed' | 'cancelled'
                /** An event of this type is a notice to the wake target. */
                wake?: boolean
                /** The facet that the payload becomes. */
                facet?: string
              }
            >
            /** The session that gets its notices. */
            wakeTarget?: string
            /** Limits of the process and its children. */
            limits?: {
              /** How often it may be begun when its holders die. */
              attempts?: number
              /** How deep its tree may grow, from the root. */
              depth?: number
              /** How many of its children may live at once, tools not counted; children inherit it. */
              liveChildren?: number
              /** How long a command, tool or workflow may run, in milliseconds; children inherit it. */
              runMs?: number
              /** How much memory a command may use; children inherit it. */
              memoryBytes?: number
            }
            /** What it and its descendants may use; a missing name gets half of what its parent has left. */
            allowance?: Amounts
            /** The most that it and everything below it may do: everything that these rules do not allow is denied, also to later grants. */
            ceiling?: {
              /** Rules as those of addRule, without limits of use. */
              rules: JsonObject[]
            }
            /** Why you want this, for the person who is asked; kept with the request alone. */
            reason?: string
          }
      /** A delay of each occurrence, chosen at random, at most this long. */
      jitterMs?: number
      /** At a time when the occurrence before still runs: skip it, queue it, keep the latest (bufferOne), cancel the one before (cancelOther), or allow both. */
      overlap?: 'skip' | 'queue' | 'bufferOne' | 'cancelOther' | 'allow'
      /** How late an occurrence may start; an hour by default. Of several missed times the latest runs, once. */
      catchUpMs?: number
      /** Pause when an occurrence fails. */
      pauseOnFailure?: boolean
    },
    options?: CallOptions,
  ): Promise<OutputOf<'addSchedule'>>
  /**
   * Runs times of the past that a schedule did not run.
   *
   * A time that was registered since the last edit of the schedule does not run again.
   *
   * Needs the role `operate`. Refuses with `not_found`, `denied`, `busy`, `limit_exceeded`, `session_ended`, `too_many_commands`, `conflict`, `pruned_pid`.
   */
  backfillSchedule(
    input: {
      /** The name of a schedule. */
      schedule: string
      /** The first time, in milliseconds since 1970. */
      from: number
      /** The last time, in milliseconds since 1970. */
      until: number
      /** Queue: one after the other, at most 1,000; allow: all at once, at most 100. Default: `"queue"`. */
      overlap?: ('queue' | 'allow') | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'backfillSchedule'>>
  /**
   * Changes the definition of a schedule.
   *
   * What runs goes on as it was. An occurrence that has not started is replaced; if its time has come already, it runs as edited. With another process the occurrences have the rights of the caller from now on; without one, a session or a process is bound by its own rules besides.
   *
   * Needs the role `operate`. Refuses with `denied`, `session_ended`, `payload_too_large`, `not_found`, `untrusted`, `invalid_request`.
   */
  editSchedule(
    input: {
      /** The name of a schedule. */
      schedule: string
      /** When it runs. */
      times?:
        | {
            type: 'cron'
            /** A cron expression of five fields, or six with seconds. */
            cron: string
            /** The zone of the expression; that of the daemon by default. */
            zone?: string
            /** No occurrence is before it. */
            start?: number
            /** No occurrence is after it. */
            end?: number
          }
        | {
            type: 'every'
            /** The interval in milliseconds, from the start on. */
            everyMs: number
            /** No occurrence is before it. */
            start?: number
            /** No occurrence is after it. */
            end?: number
          }
        | {
            type: 'at'
            /** Milliseconds since 1970. */
            at: number
            /** No occurrence is before it. */
            start?: number
            /** No occurrence is after it. */
            end?: number
          }
      /** The process of each occurrence. */
      process?:
        | {
            kind: 'command'
            /** What to run. */
            spec: CommandSpecInput
            /** A name for people. */
            label?: string
            /** What it is an instance of, for filters. */
            definition?: Json | undefined
            /** Copied to its notices, for the reader. */
            replyTo?: Json | undefined
            /** When this ends, the process is stopped. */
            lifetime?: 'turn' | 'session' | 'parent' | 'daemon' | 'detached'
            /** What may follow when its holder is lost. */
            recovery?: 'rerunnable' | 'bound' | 'external'
            /** Where it is executed: host:<name>, folder:<id>, or parent; by default anywhere, and for a command where it was requested. */
            placement?: string
            /** Its execution environment. */
            envRef?: string
            /** The working folder, an absolute path. */
            cwd?: string
            /** The event types that it declares. */
            eventTypes?: Record<
              string,
              {
                /** JSON Schema of the payload. */
                schema: JsonObject
                /** An event of this type ends the process. */
                end?: 'completed' | 'failed' | 'cancelled'
                /** An event of this type is a notice to the wake target. */
                wake?: boolean
                /** The facet that the payload becomes. */
                facet?: string
              }
            >
            /** The session that gets its notices. */
            wakeTarget?: string
            /** Limits of the process and its children. */
            limits?: {
              /** How often it may be begun when its holders die. */
              attempts?: number
              /** How deep its tree may grow, from the root. */
              depth?: number
              /** How many of its children may live at once, tools not counted; children inherit it. */
              liveChildren?: number
              /** How long a command, tool or workflow may run, in milliseconds; children inherit it. */
              runMs?: number
              /** How much memory a command may use; children inherit it. */
              memoryBytes?: number
            }
            /** What it and its descendants may use; a missing name gets half of what its parent has left. */
            allowance?: Amounts
            /** The most that it and everything below it may do: everything that these rules do not allow is denied, also to later grants. */
            ceiling?: {
              /** Rules as those of addRule, without limits of use. */
              rules: JsonObject[]
            }
            /** Why you want this, for the person who is asked; kept with the request alone. */
            reason?: string
          }
        | {
            kind: 'agent'
            /** What to run. */
            spec: {
              /** The name of the agent. */
              agent: string
              /** Its goal. */
              goal?: Json | undefined
              /** The image that it is made from: fields that are left out have the values of the image. */
              image?: string
              /** The model that Reeve calls for it, as provider/model, or acp/<name> for an outside agent; without one Reeve does not drive it. */
              model?: string
              /** Models that are called instead, in this order, when the provider of the model fails. */
              fallbacks?: string[]
              /** How much the model thinks; each provider has its own steps. */
              effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'
              /** The longest answer of one model call, in tokens. */
              maxOutputTokens?: number
              /** Its system prompt. */
              system?: string
              /** Facts that it needs for its goal: the second part of its first input. */
              context?: string
              /** The tools that it may call. */
              tools?: string[]
              /** Tools that agents above it have written, and that it may call; none by default. */
              writtenTools?: string[]
              /** It ends with its first turn, with the result of that turn. */
              once?: boolean
              /** How many agents may work below it; 2 levels and 20 live children by default. */
              delegation?: {
                /** Levels of agents below it, of a root. */
                depth?: number
                /** Live agents below it. */
                children?: number
              }
              /** Amounts of tokensIn, tokensOut and cost: an alert at 80 %, and when one is reached, the agent pauses. */
              softLimits?: Amounts
              /** MCP servers whose tools it may call, by the name in mcp__<name>__<tool>. */
              mcpServers?: Record<
                string,
                | {
                    type: 'command'
                    /** A program and its arguments, without a shell. */
                    argv?: string[]
                    /** A command line for the user's shell, passed on unchanged. */
                    run?: string
                    /** Variables of its environment; values or references to secrets. */
                    env?: Record<
                      string,
                      | string
                      | {
                          /** A secret of the home, or env:<variable>. */
                          secret: string
                        }
                    >
                    /** Its working folder; that of the agent by default. */
                    cwd?: string
                    /** How long one call may take, in milliseconds; 300 s by default. */
                    timeoutMs?: number
                  }
                | {
                    type: 'http'
                    /** Its address. */
                    url: string
                    /** Headers of each request; values or references to secrets. */
                    headers?: Record<
                      string,
                      | string
                      | {
                          /** A secret of the home, or env:<variable>. */
                          secret: string
                        }
                    >
                    /** How Reeve shows who it is: a token, or OAuth with client credentials. */
                    auth?:
                      | {
                          type: 'bearer'
                          /** The secret with the token. */
                          token: {
                            /** The name of the secret. */
                            secret: string
                          }
                        }
                      | {
                          type: 'oauth'
                          /** The authorization server, which gets the secret; no other does. */
                          issuer: string
                          /** The name of the client at the authorization server. */
                          clientId: string
                          /** The secret of the client. */
                          clientSecret: {
                            /** The name of the secret. */
                            secret: string
                          }
                          /** The scopes to ask for, separated by spaces. */
                          scope?: string
                        }
                    /** How long one call may take, in milliseconds; 300 s by default. */
                    timeoutMs?: number
                  }
              >
              /** Of an outside agent with a model acp/<name>: its program, if it is none that Reeve knows. */
              program?: {
                /** A program and its arguments, without a shell. */
                argv?: string[]
                /** A command line for the user's shell, passed on unchanged. */
                run?: string
                /** Variables of its environment; values or references to secrets. */
                env?: Record<
                  string,
                  | string
                  | {
                      /** A secret of the home, or env:<variable>. */
                      secret: string
                    }
                >
              }
              /** Rules for what it does, besides those of its asker: observe, ask, edit or full. */
              preset?: 'observe' | 'ask' | 'edit' | 'full'
              /** The JSON schema that the result of its goal must fit. */
              output?: JsonObject
              /** Commands that run at events of the agent, under its rules. */
              hooks?: {
                /** When it runs. */
                event:
                  | 'session_start'
                  | 'turn_start'
                  | 'before_tool'
                  | 'after_tool'
                  | 'turn_end'
                  | 'session_end'
                /** Of before_tool and after_tool: the tools that it is for; all if left out. */
                tools?: string[]
                /** A line for the shell; it reads the event as JSON from its standard input. */
                run: string
                /** How long it may run; 60000 by default. */
                timeoutMs?: number
              }[]
              /** Long-term memory in memory/ and knowledge/ of its workspace: true, or with a model and a time limit for the job that keeps it; off if left out. */
              memory?:
                | boolean
                | {
                    /** The model that keeps it; that of the agent if left out. */
                    model?: string
                    /** How long one call of that model may take. */
                    timeoutMs?: number
                  }
            }
            /** A name for people. */
            label?: string
            /** What it is an instance of, for filters. */
            definition?: Json | undefined
            /** Copied to its notices, for the reader. */
            replyTo?: Json | undefined
            /** When this ends, the process is stopped. */
            lifetime?: 'turn' | 'session' | 'parent' | 'daemon' | 'detached'
            /** What may follow when its holder is lost. */
            recovery?: 'rerunnable' | 'bound' | 'external'
            /** Where it is executed: host:<name>, folder:<id>, or parent; by default anywhere, and for a command where it was requested. */
            placement?: string
            /** Its execution environment. */
            envRef?: string
            /** The working folder, an absolute path. */
            cwd?: string
            /** The event types that it declares. */
            eventTypes?: Record<
              string,
              {
                /** JSON Schema of the payload. */
                schema: JsonObject
                /** An event of this type ends the process. */
                end?: 'completed' | 'failed' | 'cancelled'
                /** An event of this type is a notice to the wake target. */
                wake?: boolean
                /** The facet that the payload becomes. */
                facet?: string
              }
            >
            /** The session that gets its notices. */
            wakeTarget?: string
            /** Limits of the process and its children. */
            limits?: {
              /** How often it may be begun when its holders die. */
              attempts?: number
              /** How deep its tree may grow, from the root. */
              depth?: number
              /** How many of its children may live at once, tools not counted; children inherit it. */
              liveChildren?: number
              /** How long a command, tool or workflow may run, in milliseconds; children inherit it. */
              runMs?: number
              /** How much memory a command may use; children inherit it. */
              memoryBytes?: number
            }
            /** What it and its descendants may use; a missing name gets half of what its parent has left. */
            allowance?: Amounts
            /** The most that it and everything below it may do: everything that these rules do not allow is denied, also to later grants. */
            ceiling?: {
              /** Rules as those of addRule, without limits of use. */
              rules: JsonObject[]
            }
            /** Why you want this, for the person who is asked; kept with the request alone. */
            reason?: string
          }
        | {
            kind: 'workflow'
            /** What to run. */
            spec: {
              /** The name of the workflow. */
              workflow: string
              /** Its input. */
              input?: Json | undefined
            }
            /** A name for people. */
            label?: string
            /** What it is an instance of, for filters. */
            definition?: Json | undefined
            /** Copied to its notices, for the reader. */
            replyTo?: Json | undefined
            /** When this ends, the process is stopped. */
            lifetime?: 'turn' | 'session' | 'parent' | 'daemon' | 'detached'
            /** What may follow when its holder is lost. */
            recovery?: 'rerunnable' | 'bound' | 'external'
            /** Where it is executed: host:<name>, folder:<id>, or parent; by default anywhere, and for a command where it was requested. */
            placement?: string
            /** Its execution environment. */
            envRef?: string
            /** The working folder, an absolute path. */
            cwd?: string
            /** The event types that it declares. */
            eventTypes?: Record<
              string,
              {
                /** JSON Schema of the payload. */
                schema: JsonObject
                /** An event of this type ends the process. */
                end?: 'completed' | 'failed' | 'cancelled'
                /** An event of this type is a notice to the wake target. */
                wake?: boolean
                /** The facet that the payload becomes. */
                facet?: string
              }
            >
            /** The session that gets its notices. */
            wakeTarget?: string
            /** Limits of the process and its children. */
            limits?: {
              /** How often it may be begun when its holders die. */
              attempts?: number
              /** How deep its tree may grow, from the root. */
              depth?: number
              /** How many of its children may live at once, tools not counted; children inherit it. */
              liveChildren?: number
              /** How long a command, tool or workflow may run, in milliseconds; children inherit it. */
              runMs?: number
              /** How much memory a command may use; children inherit it. */
              memoryBytes?: number
            }
            /** What it and its descendants may use; a missing name gets half of what its parent has left. */
            allowance?: Amounts
            /** The most that it and everything below it may do: everything that these rules do not allow is denied, also to later grants. */
            ceiling?: {
              /** Rules as those of addRule, without limits of use. */
              rules: JsonObject[]
            }
            /** Why you want this, for the person who is asked; kept with the request alone. */
            reason?: string
          }
        | {
            kind: 'tool'
            /** What to run. */
            spec: {
              /** The name of the tool. */
              tool: string
              /** Its input. */
              input?: Json | undefined
            }
            /** A name for people. */
            label?: string
            /** What it is an instance of, for filters. */
            definition?: Json | undefined
            /** Copied to its notices, for the reader. */
            replyTo?: Json | undefined
            /** When this ends, the process is stopped. */
            lifetime?: 'turn' | 'session' | 'parent' | 'daemon' | 'detached'
            /** What may follow when its holder is lost. */
            recovery?: 'rerunnable' | 'bound' | 'external'
            /** Where it is executed: host:<name>, folder:<id>, or parent; by default anywhere, and for a command where it was requested. */
            placement?: string
            /** Its execution environment. */
            envRef?: string
            /** The working folder, an absolute path. */
            cwd?: string
            /** The event types that it declares. */
            eventTypes?: Record<
              string,
              {
                /** JSON Schema of the payload. */
                schema: JsonObject
                /** An event of this type ends the process. */
                end?: 'completed' | 'failed' | 'cancelled'
                /** An event of this type is a notice to the wake target. */
                wake?: boolean
                /** The facet that the payload becomes. */
                facet?: string
              }
            >
            /** The session that gets its notices. */
            wakeTarget?: string
            /** Limits of the process and its children. */
            limits?: {
              /** How often it may be begun when its holders die. */
              attempts?: number
              /** How deep its tree may grow, from the root. */
              depth?: number
              /** How many of its children may live at once, tools not counted; children inherit it. */
              liveChildren?: number
              /** How long a command, tool or workflow may run, in milliseconds; children inherit it. */
              runMs?: number
              /** How much memory a command may use; children inherit it. */
              memoryBytes?: number
            }
            /** What it and its descendants may use; a missing name gets half of what its parent has left. */
            allowance?: Amounts
            /** The most that it and everything below it may do: everything that these rules do not allow is denied, also to later grants. */
            ceiling?: {
              /** Rules as those of addRule, without limits of use. */
              rules: JsonObject[]
            }
            /** Why you want this, for the person who is asked; kept with the request alone. */
            reason?: string
          }
      /** A delay of each occurrence, chosen at random, at most this long. */
      jitterMs?: number
      /** At a time when the occurrence before still runs: skip it, queue it, keep the latest (bufferOne), cancel the one before (cancelOther), or allow both. */
      overlap?: 'skip' | 'queue' | 'bufferOne' | 'cancelOther' | 'allow'
      /** How late an occurrence may start; an hour by default. Of several missed times the latest runs, once. */
      catchUpMs?: number
      /** Pause when an occurrence fails. */
      pauseOnFailure?: boolean
    },
    options?: CallOptions,
  ): Promise<OutputOf<'editSchedule'>>
  /**
   * Pauses a schedule. Occurrences that run go on.
   *
   * Needs the role `operate`. Refuses with `not_found`, `denied`.
   */
  pauseSchedule(
    input: {
      /** The name of a schedule. */
      schedule: string
      /** Why, for its readers. */
      note?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'pauseSchedule'>>
  /**
   * Removes a schedule. Occurrences that run go on.
   *
   * Needs the role `operate`. Refuses with `not_found`, `denied`.
   */
  removeSchedule(
    input: {
      /** The name of a schedule. */
      schedule: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'removeSchedule'>>
  /**
   * Resumes a paused schedule. Times that passed meanwhile do not run.
   *
   * Needs the role `operate`. Refuses with `not_found`, `denied`, `session_ended`.
   */
  resumeSchedule(
    input: {
      /** The name of a schedule. */
      schedule: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'resumeSchedule'>>
  /**
   * Starts the process of a schedule now.
   *
   * It runs besides the occurrences of the schedule, which go on as before.
   *
   * Needs the role `operate`. Refuses with `not_found`, `denied`, `session_ended`, `too_many_commands`, `limit_exceeded`, `conflict`, `pruned_pid`.
   */
  runSchedule(
    input: {
      /** The name of a schedule. */
      schedule: string
      /** The same key makes a repeated call safe. */
      idempotencyKey?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'runSchedule'>>
  /**
   * Shows one schedule.
   *
   * Needs the role `read`. Refuses with `not_found`, `denied`.
   */
  schedule(
    input: {
      /** The name of a schedule. */
      schedule: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'schedule'>>
  /**
   * Lists schedules, by name.
   *
   * Needs the role `read`. Refuses with `denied`.
   */
  schedules(
    input?: {
      /** The name to continue after. */
      after?: string
      /** The maximum number of items. Default: `100`. */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'schedules'>>
  /**
   * Adds a trigger: a process that starts on events of processes, changes of files, or requests to a webhook.
   *
   * Adding it again with the same definition changes nothing. Each occurrence is a process in the session `trigger:<name>`, with the rights that the caller has now. Its pid follows from the trigger and what happened, so each delivery runs once, also with several daemons. What happened is in the variable `REEVE_TRIGGER` of a command, in the member `trigger` of the input of a workflow or tool, and behind the goal of an agent.
   *
   * Needs the role `operate`. Refuses with `conflict`, `denied`, `not_available`, `session_unknown`, `session_ended`, `limit_exceeded`, `payload_too_large`, `not_found`, `untrusted`, `invalid_request`.
   */
  addTrigger(
    input: {
      /** The name of a trigger. */
      trigger: string
      /** What starts it. */
      source:
        | {
            type: 'event'
            /** Types of events, like ended. */
            on: string[]
            /** How it ended, of the event ended. */
            outcome?: ('completed' | 'failed' | 'cancelled' | 'abandoned')[]
            /** Kinds of the process. */
            kind?: ('command' | 'agent' | 'workflow' | 'tool' | 'external')[]
            /** Names of processes. */
            name?: string[]
            /** Labels of the process. */
            label?: string[]
            /** Processes of this session and of those below it. */
            session?: string
          }
        | {
            type: 'files'
            /** The working folder, an absolute path. */
            folder: string
            /** A pattern relative to the folder, like data/*.csv. */
            glob: string
            /** How long the files must rest before it starts. Default: `500`. */
            debounceMs?: number | undefined
          }
        | {
            type: 'webhook'
            /** Members of the body, by path like repository.name, and the values that they must have. Default: `{}`. */
            filter?: Record<string, string | number | boolean | null> | undefined
            /** Of a body. Default: `65536`. */
            maxBytes?: number | undefined
            /** Deliveries that are accepted in a minute. Default: `1200`. */
            maxPerMinute?: number | undefined
          }
      /** The process of each occurrence. */
      process:
        | {
            kind: 'command'
            /** What to run. */
            spec: CommandSpecInput
            /** A name for people. */
            label?: string
            /** What it is an instance of, for filters. */
            definition?: Json | undefined
            /** Copied to its notices, for the reader. */
            replyTo?: Json | undefined
            /** When this ends, the process is stopped. */
            lifetime?: 'turn' | 'session' | 'parent' | 'daemon' | 'detached'
            /** What may follow when its holder is lost. */
            recovery?: 'rerunnable' | 'bound' | 'external'
            /** Where it is executed: host:<name>, folder:<id>, or parent; by default anywhere, and for a command where it was requested. */
            placement?: string
            /** Its execution environment. */
            envRef?: string
            /** The working folder, an absolute path. */
            cwd?: string
            /** The event types that it declares. */
            eventTypes?: Record<
              string,
              {
                /** JSON Schema of the payload. */
                schema: JsonObject
                /** An event of this type ends the process. */
                end?: 'completed' | 'failed' | 'cancelled'
                /** An event of this type is a notice to the wake target. */
                wake?: boolean
                /** The facet that the payload becomes. */
                facet?: string
              }
            >
            /** The session that gets its notices. */
            wakeTarget?: string
            /** Limits of the process and its children. */
            limits?: {
              /** How often it may be begun when its holders die. */
              attempts?: number
              /** How deep its tree may grow, from the root. */
              depth?: number
              /** How many of its children may live at once, tools not counted; children inherit it. */
              liveChildren?: number
              /** How long a command, tool or workflow may run, in milliseconds; children inherit it. */
              runMs?: number
              /** How much memory a command may use; children inherit it. */
              memoryBytes?: number
            }
            /** What it and its descendants may use; a missing name gets half of what its parent has left. */
            allowance?: Amounts
            /** The most that it and everything below it may do: everything that these rules do not allow is denied, also to later grants. */
            ceiling?: {
              /** Rules as those of addRule, without limits of use. */
              rules: JsonObject[]
            }
            /** Why you want this, for the person who is asked; kept with the request alone. */
            reason?: string
          }
        | {
            kind: 'agent'
            /** What to run. */
            spec: {
              /** The name of the agent. */
              agent: string
              /** Its goal. */
              goal?: Json | undefined
              /** The image that it is made from: fields that are left out have the values of the image. */
              image?: string
              /** The model that Reeve calls for it, as provider/model, or acp/<name> for an outside agent; without one Reeve does not drive it. */
              model?: string
              /** Models that are called instead, in this order, when the provider of the model fails. */
              fallbacks?: string[]
              /** How much the model thinks; each provider has its own steps. */
              effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'
              /** The longest answer of one model call, in tokens. */
              maxOutputTokens?: number
              /** Its system prompt. */
              system?: string
              /** Facts that it needs for its goal: the second part of its first input. */
              context?: string
              /** The tools that it may call. */
              tools?: string[]
              /** Tools that agents above it have written, and that it may call; none by default. */
              writtenTools?: string[]
              /** It ends with its first turn, with the result of that turn. */
              once?: boolean
              /** How many agents may work below it; 2 levels and 20 live children by default. */
              delegation?: {
                /** Levels of agents below it, of a root. */
                depth?: number
                /** Live agents below it. */
                children?: number
              }
              /** Amounts of tokensIn, tokensOut and cost: an alert at 80 %, and when one is reached, the agent pauses. */
              softLimits?: Amounts
              /** MCP servers whose tools it may call, by the name in mcp__<name>__<tool>. */
              mcpServers?: Record<
                string,
                | {
                    type: 'command'
                    /** A program and its arguments, without a shell. */
                    argv?: string[]
                    /** A command line for the user's shell, passed on unchanged. */
                    run?: string
                    /** Variables of its environment; values or references to secrets. */
                    env?: Record<
                      string,
                      | string
                      | {
                          /** A secret of the home, or env:<variable>. */
                          secret: string
                        }
                    >
                    /** Its working folder; that of the agent by default. */
                    cwd?: string
                    /** How long one call may take, in milliseconds; 300 s by default. */
                    timeoutMs?: number
                  }
                | {
                    type: 'http'
                    /** Its address. */
                    url: string
                    /** Headers of each request; values or references to secrets. */
                    headers?: Record<
                      string,
                      | string
                      | {
                          /** A secret of the home, or env:<variable>. */
                          secret: string
                        }
                    >
                    /** How Reeve shows who it is: a token, or OAuth with client credentials. */
                    auth?:
                      | {
                          type: 'bearer'
                          /** The secret with the token. */
                          token: {
                            /** The name of the secret. */
                            secret: string
                          }
                        }
                      | {
                          type: 'oauth'
                          /** The authorization server, which gets the secret; no other does. */
                          issuer: string
                          /** The name of the client at the authorization server. */
                          clientId: string
                          /** The secret of the client. */
                          clientSecret: {
                            /** The name of the secret. */
                            secret: string
                          }
                          /** The scopes to ask for, separated by spaces. */
                          scope?: string
                        }
                    /** How long one call may take, in milliseconds; 300 s by default. */
                    timeoutMs?: number
                  }
              >
              /** Of an outside agent with a model acp/<name>: its program, if it is none that Reeve knows. */
              program?: {
                /** A program and its arguments, without a shell. */
                argv?: string[]
                /** A command line for the user's shell, passed on unchanged. */
                run?: string
                /** Variables of its environment; values or references to secrets. */
                env?: Record<
                  string,
                  | string
                  | {
                      /** A secret of the home, or env:<variable>. */
                      secret: string
                    }
                >
              }
              /** Rules for what it does, besides those of its asker: observe, ask, edit or full. */
              preset?: 'observe' | 'ask' | 'edit' | 'full'
              /** The JSON schema that the result of its goal must fit. */
              output?: JsonObject
              /** Commands that run at events of the agent, under its rules. */
              hooks?: {
                /** When it runs. */
                event:
                  | 'session_start'
                  | 'turn_start'
                  | 'before_tool'
                  | 'after_tool'
                  | 'turn_end'
                  | 'session_end'
                /** Of before_tool and after_tool: the tools that it is for; all if left out. */
                tools?: string[]
                /** A line for the shell; it reads the event as JSON from its standard input. */
                run: string
                /** How long it may run; 60000 by default. */
                timeoutMs?: number
              }[]
              /** Long-term memory in memory/ and knowledge/ of its workspace: true, or with a model and a time limit for the job that keeps it; off if left out. */
              memory?:
                | boolean
                | {
                    /** The model that keeps it; that of the agent if left out. */
                    model?: string
                    /** How long one call of that model may take. */
                    timeoutMs?: number
                  }
            }
            /** A name for people. */
            label?: string
            /** What it is an instance of, for filters. */
            definition?: Json | undefined
            /** Copied to its notices, for the reader. */
            replyTo?: Json | undefined
            /** When this ends, the process is stopped. */
            lifetime?: 'turn' | 'session' | 'parent' | 'daemon' | 'detached'
            /** What may follow when its holder is lost. */
            recovery?: 'rerunnable' | 'bound' | 'external'
            /** Where it is executed: host:<name>, folder:<id>, or parent; by default anywhere, and for a command where it was requested. */
            placement?: string
            /** Its execution environment. */
            envRef?: string
            /** The working folder, an absolute path. */
            cwd?: string
            /** The event types that it declares. */
            eventTypes?: Record<
              string,
              {
                /** JSON Schema of the payload. */
                schema: JsonObject
                /** An event of this type ends the process. */
                end?: 'completed' | 'failed' | 'cancelled'
                /** An event of this type is a notice to the wake target. */
                wake?: boolean
                /** The facet that the payload becomes. */
                facet?: string
              }
            >
            /** The session that gets its notices. */
            wakeTarget?: string
            /** Limits of the process and its children. */
            limits?: {
              /** How often it may be begun when its holders die. */
              attempts?: number
              /** How deep its tree may grow, from the root. */
              depth?: number
              /** How many of its children may live at once, tools not counted; children inherit it. */
              liveChildren?: number
              /** How long a command, tool or workflow may run, in milliseconds; children inherit it. */
              runMs?: number
              /** How much memory a command may use; children inherit it. */
              memoryBytes?: number
            }
            /** What it and its descendants may use; a missing name gets half of what its parent has left. */
            allowance?: Amounts
            /** The most that it and everything below it may do: everything that these rules do not allow is denied, also to later grants. */
            ceiling?: {
              /** Rules as those of addRule, without limits of use. */
              rules: JsonObject[]
            }
            /** Why you want this, for the person who is asked; kept with the request alone. */
            reason?: string
          }
        | {
            kind: 'workflow'
            /** What to run. */
            spec: {
              /** The name of the workflow. */
              workflow: string
              /** Its input. */
              input?: Json | undefined
            }
            /** A name for people. */
            label?: string
            /** What it is an instance of, for filters. */
            definition?: Json | undefined
            /** Copied to its notices, for the reader. */
            replyTo?: Json | undefined
            /** When this ends, the process is stopped. */
            lifetime?: 'turn' | 'session' | 'parent' | 'daemon' | 'detached'
            /** What may follow when its holder is lost. */
            recovery?: 'rerunnable' | 'bound' | 'external'
            /** Where it is executed: host:<name>, folder:<id>, or parent; by default anywhere, and for a command where it was requested. */
            placement?: string
            /** Its execution environment. */
            envRef?: string
            /** The working folder, an absolute path. */
            cwd?: string
            /** The event types that it declares. */
            eventTypes?: Record<
              string,
              {
                /** JSON Schema of the payload. */
                schema: JsonObject
                /** An event of this type ends the process. */
                end?: 'completed' | 'failed' | 'cancelled'
                /** An event of this type is a notice to the wake target. */
                wake?: boolean
                /** The facet that the payload becomes. */
                facet?: string
              }
            >
            /** The session that gets its notices. */
            wakeTarget?: string
            /** Limits of the process and its children. */
            limits?: {
              /** How often it may be begun when its holders die. */
              attempts?: number
              /** How deep its tree may grow, from the root. */
              depth?: number
              /** How many of its children may live at once, tools not counted; children inherit it. */
              liveChildren?: number
              /** How long a command, tool or workflow may run, in milliseconds; children inherit it. */
              runMs?: number
              /** How much memory a command may use; children inherit it. */
              memoryBytes?: number
            }
            /** What it and its descendants may use; a missing name gets half of what its parent has left. */
            allowance?: Amounts
            /** The most that it and everything below it may do: everything that these rules do not allow is denied, also to later grants. */
            ceiling?: {
              /** Rules as those of addRule, without limits of use. */
              rules: JsonObject[]
            }
            /** Why you want this, for the person who is asked; kept with the request alone. */
            reason?: string
          }
        | {
            kind: 'tool'
            /** What to run. */
            spec: {
              /** The name of the tool. */
              tool: string
              /** Its input. */
              input?: Json | undefined
            }
            /** A name for people. */
            label?: string
            /** What it is an instance of, for filters. */
            definition?: Json | undefined
            /** Copied to its notices, for the reader. */
            replyTo?: Json | undefined
            /** When this ends, the process is stopped. */
            lifetime?: 'turn' | 'session' | 'parent' | 'daemon' | 'detached'
            /** What may follow when its holder is lost. */
            recovery?: 'rerunnable' | 'bound' | 'external'
            /** Where it is executed: host:<name>, folder:<id>, or parent; by default anywhere, and for a command where it was requested. */
            placement?: string
            /** Its execution environment. */
            envRef?: string
            /** The working folder, an absolute path. */
            cwd?: string
            /** The event types that it declares. */
            eventTypes?: Record<
              string,
              {
                /** JSON Schema of the payload. */
                schema: JsonObject
                /** An event of this type ends the process. */
                end?: 'completed' | 'failed' | 'cancelled'
                /** An event of this type is a notice to the wake target. */
                wake?: boolean
                /** The facet that the payload becomes. */
                facet?: string
              }
            >
            /** The session that gets its notices. */
            wakeTarget?: string
            /** Limits of the process and its children. */
            limits?: {
              /** How often it may be begun when its holders die. */
              attempts?: number
              /** How deep its tree may grow, from the root. */
              depth?: number
              /** How many of its children may live at once, tools not counted; children inherit it. */
              liveChildren?: number
              /** How long a command, tool or workflow may run, in milliseconds; children inherit it. */
              runMs?: number
              /** How much memory a command may use; children inherit it. */
              memoryBytes?: number
            }
            /** What it and its descendants may use; a missing name gets half of what its parent has left. */
            allowance?: Amounts
            /** The most that it and everything below it may do: everything that these rules do not allow is denied, also to later grants. */
            ceiling?: {
              /** Rules as those of addRule, without limits of use. */
              rules: JsonObject[]
            }
            /** Why you want this, for the person who is asked; kept with the request alone. */
            reason?: string
          }
      /** When something happens while an occurrence runs: queue it (the default), skip it, keep the latest (bufferOne), cancel the one before (cancelOther), or allow both. */
      overlap?: 'skip' | 'queue' | 'bufferOne' | 'cancelOther' | 'allow'
      /** Pause when an occurrence fails. */
      pauseOnFailure?: boolean
    },
    options?: CallOptions,
  ): Promise<OutputOf<'addTrigger'>>
  /**
   * Lists what happened to a trigger, and what became of it, the newest first.
   *
   * The last 1,000 deliveries are kept, and all that wait.
   *
   * Needs the role `read`. Refuses with `not_found`, `denied`.
   */
  deliveries(
    input: {
      /** The name of a trigger. */
      trigger: string
      /** Only deliveries with a lower number. */
      before?: number
      /** The maximum number of items. Default: `100`. */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'deliveries'>>
  /**
   * Changes the definition of a trigger, or the secret of its webhook.
   *
   * What runs goes on as it was; deliveries that wait run as edited. With another process the occurrences have the rights of the caller from now on; without one, a session or a process is bound by its own rules besides. Another source begins anew: it starts nothing for the past.
   *
   * Needs the role `operate`. Refuses with `denied`, `not_available`, `session_ended`, `payload_too_large`, `not_found`, `untrusted`, `invalid_request`.
   */
  editTrigger(
    input: {
      /** The name of a trigger. */
      trigger: string
      /** What starts it. */
      source?:
        | {
            type: 'event'
            /** Types of events, like ended. */
            on: string[]
            /** How it ended, of the event ended. */
            outcome?: ('completed' | 'failed' | 'cancelled' | 'abandoned')[]
            /** Kinds of the process. */
            kind?: ('command' | 'agent' | 'workflow' | 'tool' | 'external')[]
            /** Names of processes. */
            name?: string[]
            /** Labels of the process. */
            label?: string[]
            /** Processes of this session and of those below it. */
            session?: string
          }
        | {
            type: 'files'
            /** The working folder, an absolute path. */
            folder: string
            /** A pattern relative to the folder, like data/*.csv. */
            glob: string
            /** How long the files must rest before it starts. Default: `500`. */
            debounceMs?: number | undefined
          }
        | {
            type: 'webhook'
            /** Members of the body, by path like repository.name, and the values that they must have. Default: `{}`. */
            filter?: Record<string, string | number | boolean | null> | undefined
            /** Of a body. Default: `65536`. */
            maxBytes?: number | undefined
            /** Deliveries that are accepted in a minute. Default: `1200`. */
            maxPerMinute?: number | undefined
          }
      /** The process of each occurrence. */
      process?:
        | {
            kind: 'command'
            /** What to run. */
            spec: CommandSpecInput
            /** A name for people. */
            label?: string
            /** What it is an instance of, for filters. */
            definition?: Json | undefined
            /** Copied to its notices, for the reader. */
            replyTo?: Json | undefined
            /** When this ends, the process is stopped. */
            lifetime?: 'turn' | 'session' | 'parent' | 'daemon' | 'detached'
            /** What may follow when its holder is lost. */
            recovery?: 'rerunnable' | 'bound' | 'external'
            /** Where it is executed: host:<name>, folder:<id>, or parent; by default anywhere, and for a command where it was requested. */
            placement?: string
            /** Its execution environment. */
            envRef?: string
            /** The working folder, an absolute path. */
            cwd?: string
            /** The event types that it declares. */
            eventTypes?: Record<
              string,
              {
                /** JSON Schema of the payload. */
                schema: JsonObject
                /** An event of this type ends the process. */
                end?: 'completed' | 'failed' | 'cancelled'
                /** An event of this type is a notice to the wake target. */
                wake?: boolean
                /** The facet that the payload becomes. */
                facet?: string
              }
            >
            /** The session that gets its notices. */
            wakeTarget?: string
            /** Limits of the process and its children. */
            limits?: {
              /** How often it may be begun when its holders die. */
              attempts?: number
              /** How deep its tree may grow, from the root. */
              depth?: number
              /** How many of its children may live at once, tools not counted; children inherit it. */
              liveChildren?: number
              /** How long a command, tool or workflow may run, in milliseconds; children inherit it. */
              runMs?: number
              /** How much memory a command may use; children inherit it. */
              memoryBytes?: number
            }
            /** What it and its descendants may use; a missing name gets half of what its parent has left. */
            allowance?: Amounts
            /** The most that it and everything below it may do: everything that these rules do not allow is denied, also to later grants. */
            ceiling?: {
              /** Rules as those of addRule, without limits of use. */
              rules: JsonObject[]
            }
            /** Why you want this, for the person who is asked; kept with the request alone. */
            reason?: string
          }
        | {
            kind: 'agent'
            /** What to run. */
            spec: {
              /** The name of the agent. */
              agent: string
              /** Its goal. */
              goal?: Json | undefined
              /** The image that it is made from: fields that are left out have the values of the image. */
              image?: string
              /** The model that Reeve calls for it, as provider/model, or acp/<name> for an outside agent; without one Reeve does not drive it. */
              model?: string
              /** Models that are called instead, in this order, when the provider of the model fails. */
              fallbacks?: string[]
              /** How much the model thinks; each provider has its own steps. */
              effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'
              /** The longest answer of one model call, in tokens. */
              maxOutputTokens?: number
              /** Its system prompt. */
              system?: string
              /** Facts that it needs for its goal: the second part of its first input. */
              context?: string
              /** The tools that it may call. */
              tools?: string[]
              /** Tools that agents above it have written, and that it may call; none by default. */
              writtenTools?: string[]
              /** It ends with its first turn, with the result of that turn. */
              once?: boolean
              /** How many agents may work below it; 2 levels and 20 live children by default. */
              delegation?: {
                /** Levels of agents below it, of a root. */
                depth?: number
                /** Live agents below it. */
                children?: number
              }
              /** Amounts of tokensIn, tokensOut and cost: an alert at 80 %, and when one is reached, the agent pauses. */
              softLimits?: Amounts
              /** MCP servers whose tools it may call, by the name in mcp__<name>__<tool>. */
              mcpServers?: Record<
                string,
                | {
                    type: 'command'
                    /** A program and its arguments, without a shell. */
                    argv?: string[]
                    /** A command line for the user's shell, passed on unchanged. */
                    run?: string
                    /** Variables of its environment; values or references to secrets. */
                    env?: Record<
                      string,
                      | string
                      | {
                          /** A secret of the home, or env:<variable>. */
                          secret: string
                        }
                    >
                    /** Its working folder; that of the agent by default. */
                    cwd?: string
                    /** How long one call may take, in milliseconds; 300 s by default. */
                    timeoutMs?: number
                  }
                | {
                    type: 'http'
                    /** Its address. */
                    url: string
                    /** Headers of each request; values or references to secrets. */
                    headers?: Record<
                      string,
                      | string
                      | {
                          /** A secret of the home, or env:<variable>. */
                          secret: string
                        }
                    >
                    /** How Reeve shows who it is: a token, or OAuth with client credentials. */
                    auth?:
                      | {
                          type: 'bearer'
                          /** The secret with the token. */
                          token: {
                            /** The name of the secret. */
                            secret: string
                          }
                        }
                      | {
                          type: 'oauth'
                          /** The authorization server, which gets the secret; no other does. */
                          issuer: string
                          /** The name of the client at the authorization server. */
                          clientId: string
                          /** The secret of the client. */
                          clientSecret: {
                            /** The name of the secret. */
                            secret: string
                          }
                          /** The scopes to ask for, separated by spaces. */
                          scope?: string
                        }
                    /** How long one call may take, in milliseconds; 300 s by default. */
                    timeoutMs?: number
                  }
              >
              /** Of an outside agent with a model acp/<name>: its program, if it is none that Reeve knows. */
              program?: {
                /** A program and its arguments, without a shell. */
                argv?: string[]
                /** A command line for the user's shell, passed on unchanged. */
                run?: string
                /** Variables of its environment; values or references to secrets. */
                env?: Record<
                  string,
                  | string
                  | {
                      /** A secret of the home, or env:<variable>. */
                      secret: string
                    }
                >
              }
              /** Rules for what it does, besides those of its asker: observe, ask, edit or full. */
              preset?: 'observe' | 'ask' | 'edit' | 'full'
              /** The JSON schema that the result of its goal must fit. */
              output?: JsonObject
              /** Commands that run at events of the agent, under its rules. */
              hooks?: {
                /** When it runs. */
                event:
                  | 'session_start'
                  | 'turn_start'
                  | 'before_tool'
                  | 'after_tool'
                  | 'turn_end'
                  | 'session_end'
                /** Of before_tool and after_tool: the tools that it is for; all if left out. */
                tools?: string[]
                /** A line for the shell; it reads the event as JSON from its standard input. */
                run: string
                /** How long it may run; 60000 by default. */
                timeoutMs?: number
              }[]
              /** Long-term memory in memory/ and knowledge/ of its workspace: true, or with a model and a time limit for the job that keeps it; off if left out. */
              memory?:
                | boolean
                | {
                    /** The model that keeps it; that of the agent if left out. */
                    model?: string
                    /** How long one call of that model may take. */
                    timeoutMs?: number
                  }
            }
            /** A name for people. */
            label?: string
            /** What it is an instance of, for filters. */
            definition?: Json | undefined
            /** Copied to its notices, for the reader. */
            replyTo?: Json | undefined
            /** When this ends, the process is stopped. */
            lifetime?: 'turn' | 'session' | 'parent' | 'daemon' | 'detached'
            /** What may follow when its holder is lost. */
            recovery?: 'rerunnable' | 'bound' | 'external'
            /** Where it is executed: host:<name>, folder:<id>, or parent; by default anywhere, and for a command where it was requested. */
            placement?: string
            /** Its execution environment. */
            envRef?: string
            /** The working folder, an absolute path. */
            cwd?: string
            /** The event types that it declares. */
            eventTypes?: Record<
              string,
              {
                /** JSON Schema of the payload. */
                schema: JsonObject
                /** An event of this type ends the process. */
                end?: 'completed' | 'failed' | 'cancelled'
                /** An event of this type is a notice to the wake target. */
                wake?: boolean
                /** The facet that the payload becomes. */
                facet?: string
              }
            >
            /** The session that gets its notices. */
            wakeTarget?: string
            /** Limits of the process and its children. */
            limits?: {
              /** How often it may be begun when its holders die. */
              attempts?: number
              /** How deep its tree may grow, from the root. */
              depth?: number
              /** How many of its children may live at once, tools not counted; children inherit it. */
              liveChildren?: number
              /** How long a command, tool or workflow may run, in milliseconds; children inherit it. */
              runMs?: number
              /** How much memory a command may use; children inherit it. */
              memoryBytes?: number
            }
            /** What it and its descendants may use; a missing name gets half of what its parent has left. */
            allowance?: Amounts
            /** The most that it and everything below it may do: everything that these rules do not allow is denied, also to later grants. */
            ceiling?: {
              /** Rules as those of addRule, without limits of use. */
              rules: JsonObject[]
            }
            /** Why you want this, for the person who is asked; kept with the request alone. */
            reason?: string
          }
        | {
            kind: 'workflow'
            /** What to run. */
            spec: {
              /** The name of the workflow. */
              workflow: string
              /** Its input. */
              input?: Json | undefined
            }
            /** A name for people. */
            label?: string
            /** What it is an instance of, for filters. */
            definition?: Json | undefined
            /** Copied to its notices, for the reader. */
            replyTo?: Json | undefined
            /** When this ends, the process is stopped. */
            lifetime?: 'turn' | 'session' | 'parent' | 'daemon' | 'detached'
            /** What may follow when its holder is lost. */
            recovery?: 'rerunnable' | 'bound' | 'external'
            /** Where it is executed: host:<name>, folder:<id>, or parent; by default anywhere, and for a command where it was requested. */
            placement?: string
            /** Its execution environment. */
            envRef?: string
            /** The working folder, an absolute path. */
            cwd?: string
            /** The event types that it declares. */
            eventTypes?: Record<
              string,
              {
                /** JSON Schema of the payload. */
                schema: JsonObject
                /** An event of this type ends the process. */
                end?: 'completed' | 'failed' | 'cancelled'
                /** An event of this type is a notice to the wake target. */
                wake?: boolean
                /** The facet that the payload becomes. */
                facet?: string
              }
            >
            /** The session that gets its notices. */
            wakeTarget?: string
            /** Limits of the process and its children. */
            limits?: {
              /** How often it may be begun when its holders die. */
              attempts?: number
              /** How deep its tree may grow, from the root. */
              depth?: number
              /** How many of its children may live at once, tools not counted; children inherit it. */
              liveChildren?: number
              /** How long a command, tool or workflow may run, in milliseconds; children inherit it. */
              runMs?: number
              /** How much memory a command may use; children inherit it. */
              memoryBytes?: number
            }
            /** What it and its descendants may use; a missing name gets half of what its parent has left. */
            allowance?: Amounts
            /** The most that it and everything below it may do: everything that these rules do not allow is denied, also to later grants. */
            ceiling?: {
              /** Rules as those of addRule, without limits of use. */
              rules: JsonObject[]
            }
            /** Why you want this, for the person who is asked; kept with the request alone. */
            reason?: string
          }
        | {
            kind: 'tool'
            /** What to run. */
            spec: {
              /** The name of the tool. */
              tool: string
              /** Its input. */
              input?: Json | undefined
            }
            /** A name for people. */
            label?: string
            /** What it is an instance of, for filters. */
            definition?: Json | undefined
            /** Copied to its notices, for the reader. */
            replyTo?: Json | undefined
            /** When this ends, the process is stopped. */
            lifetime?: 'turn' | 'session' | 'parent' | 'daemon' | 'detached'
            /** What may follow when its holder is lost. */
            recovery?: 'rerunnable' | 'bound' | 'external'
            /** Where it is executed: host:<name>, folder:<id>, or parent; by default anywhere, and for a command where it was requested. */
            placement?: string
            /** Its execution environment. */
            envRef?: string
            /** The working folder, an absolute path. */
            cwd?: string
            /** The event types that it declares. */
            eventTypes?: Record<
              string,
              {
                /** JSON Schema of the payload. */
                schema: JsonObject
                /** An event of this type ends the process. */
                end?: 'completed' | 'failed' | 'cancelled'
                /** An event of this type is a notice to the wake target. */
                wake?: boolean
                /** The facet that the payload becomes. */
                facet?: string
              }
            >
            /** The session that gets its notices. */
            wakeTarget?: string
            /** Limits of the process and its children. */
            limits?: {
              /** How often it may be begun when its holders die. */
              attempts?: number
              /** How deep its tree may grow, from the root. */
              depth?: number
              /** How many of its children may live at once, tools not counted; children inherit it. */
              liveChildren?: number
              /** How long a command, tool or workflow may run, in milliseconds; children inherit it. */
              runMs?: number
              /** How much memory a command may use; children inherit it. */
              memoryBytes?: number
            }
            /** What it and its descendants may use; a missing name gets half of what its parent has left. */
            allowance?: Amounts
            /** The most that it and everything below it may do: everything that these rules do not allow is denied, also to later grants. */
            ceiling?: {
              /** Rules as those of addRule, without limits of use. */
              rules: JsonObject[]
            }
            /** Why you want this, for the person who is asked; kept with the request alone. */
            reason?: string
          }
      /** When something happens while an occurrence runs: queue it (the default), skip it, keep the latest (bufferOne), cancel the one before (cancelOther), or allow both. */
      overlap?: 'skip' | 'queue' | 'bufferOne' | 'cancelOther' | 'allow'
      /** Pause when an occurrence fails. */
      pauseOnFailure?: boolean
      /** Of a webhook: make another secret; the old one is no longer accepted. */
      rotateSecret?: boolean
    },
    options?: CallOptions,
  ): Promise<OutputOf<'editTrigger'>>
  /**
   * Pauses a trigger. Occurrences that run go on, and deliveries that wait stay.
   *
   * Needs the role `operate`. Refuses with `not_found`, `denied`.
   */
  pauseTrigger(
    input: {
      /** The name of a trigger. */
      trigger: string
      /** Why, for its readers. */
      note?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'pauseTrigger'>>
  /**
   * Removes a trigger, with the deliveries that wait. Occurrences that run go on.
   *
   * Needs the role `operate`. Refuses with `not_found`, `denied`.
   */
  removeTrigger(
    input: {
      /** The name of a trigger. */
      trigger: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'removeTrigger'>>
  /**
   * Resumes a paused trigger. Deliveries that wait start; what happened during the pause starts nothing.
   *
   * Needs the role `operate`. Refuses with `not_found`, `denied`, `session_ended`.
   */
  resumeTrigger(
    input: {
      /** The name of a trigger. */
      trigger: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'resumeTrigger'>>
  /**
   * Starts the process of a trigger now, as a test.
   *
   * It runs besides the occurrences of the trigger. The body is in its payload, as that of a webhook is.
   *
   * Needs the role `operate`. Refuses with `not_found`, `denied`, `session_ended`, `too_many_commands`, `limit_exceeded`, `conflict`, `payload_too_large`, `pruned_pid`.
   */
  runTrigger(
    input: {
      /** The name of a trigger. */
      trigger: string
      /** The body of a test delivery. */
      body?: Json | undefined
      /** The same key makes a repeated call safe. */
      idempotencyKey?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'runTrigger'>>
  /**
   * Shows one trigger.
   *
   * Needs the role `read`. Refuses with `not_found`, `denied`.
   */
  trigger(
    input: {
      /** The name of a trigger. */
      trigger: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'trigger'>>
  /**
   * Lists triggers, by name.
   *
   * Needs the role `read`. Refuses with `denied`.
   */
  triggers(
    input?: {
      /** The name to continue after. */
      after?: string
      /** The maximum number of items. Default: `100`. */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'triggers'>>
  /**
   * Puts an object, or a new version of one, into the namespace of a process.
   *
   * An immutable object never changes. A mutable one changes only from the version in `expect`. In a fork the new version hides that of the process it was forked from, which does not see it. The same content again changes nothing.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `already_ended`, `conflict`, `invalid_request`, `payload_too_large`, `limit_exceeded`.
   */
  putObject(
    input: {
      /** The process whose view it is. */
      pid: string
      /** The name of the object in the view, such as evidence/tests. */
      name: string
      /** The content. */
      text?: string
      /** The content as Base64. */
      data?: string
      /** Of the content; `text/plain` for a text. */
      mediaType?: string
      /** Of a new object; a new version keeps it. */
      type?:
        | 'goal'
        | 'plan'
        | 'evidence'
        | 'observation'
        | 'artifact'
        | 'summary'
        | 'error'
        | 'message'
        | 'tool_result'
        | 'code'
        | 'file_ref'
      /** Of a new object: it may get further versions. */
      mutable?: boolean
      /** The version that it replaces; 0: there is none yet. */
      expect?: number
      /** Up to 32 words to find it by. */
      tags?: string[]
      /** A small JSON object. */
      metadata?: JsonObject
    },
    options?: CallOptions,
  ): Promise<OutputOf<'putObject'>>
  /**
   * Reads an object in the view of a process: its newest version, or an earlier one.
   *
   * A process reads in its own view alone. Knowing the id of an object gives no right to it.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `not_found`.
   */
  object(
    input: {
      /** The process whose view it is. */
      pid: string
      /** The name of the object in the view, such as evidence/tests. */
      name: string
      /** The newest if it is left out. */
      version?: number
      /** How much of the content is shown. Default: `262144`. */
      maxBytes?: number | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'object'>>
  /**
   * Lists the objects in the view of a process, in the order of their names.
   *
   * The view has the objects of the process, those that it has handles to, and in a fork those of the process that it was forked from. Handles that were revoked are left out.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`.
   */
  objects(
    input: {
      /** The process whose view it is. */
      pid: string
      /** Only names that begin with it. Default: `""`. */
      prefix?: string | undefined
      /** The `next` of a page, to continue. */
      after?: string
      /** Default: `100`. */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'objects'>>
  /**
   * Lists the versions of an object that the view of a process shows, the newest first.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `not_found`.
   */
  objectHistory(
    input: {
      /** The process whose view it is. */
      pid: string
      /** The name of the object in the view, such as evidence/tests. */
      name: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'objectHistory'>>
  /**
   * Compares two versions of an object in the view of a process, line by line.
   *
   * Needs the right `diff` in the view.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `not_found`, `not_available`.
   */
  diffObject(
    input: {
      /** The process whose view it is. */
      pid: string
      /** The name of the object in the view, such as evidence/tests. */
      name: string
      /** A version; the one before `to` if it is left out. */
      from?: number
      /** A version; the newest if it is left out. */
      to?: number
    },
    options?: CallOptions,
  ): Promise<OutputOf<'diffObject'>>
  /**
   * Gives another process a handle to an object, which joins its view.
   *
   * A handle has some of the rights of the process that gives it, and needs its right `link`. Without `live` it shows the version of this moment, also after the object and its process are gone. Objects are shared within one tree.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `not_found`, `already_ended`, `name_in_use`, `invalid_request`, `limit_exceeded`.
   */
  linkObject(
    input: {
      /** The process that gives the handle. */
      pid: string
      /** The name of the object in the view, such as evidence/tests. */
      name: string
      /** The process that gets it. */
      to: string
      /** The name in its view; the same name if it is left out. */
      as?: string
      /** Default: `["read","materialize","link","diff"]`. */
      rights?: ('read' | 'write' | 'link' | 'materialize' | 'diff')[] | undefined
      /** It shows new versions, and writes them if it may. Default: `false`. */
      live?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'linkObject'>>
  /**
   * Takes back a handle to an object, and all handles that were made from it.
   *
   * Its giver and the process of the object may do that. It never gives a right again: not in a fork, and not in a restored process.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `not_found`.
   */
  revokeObject(
    input: {
      /** The handle, as `linkObject` answered. */
      handle: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'revokeObject'>>
  /**
   * Removes an object, or a handle to one, from the view of a process.
   *
   * Forks that began earlier, and processes with a handle to it, keep what they see.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `not_found`, `already_ended`.
   */
  releaseObject(
    input: {
      /** The process whose view it is. */
      pid: string
      /** The name of the object in the view, such as evidence/tests. */
      name: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'releaseObject'>>
  /**
   * Merges the objects of an ended child into the view of its parent.
   *
   * What the child wrote is compared with what its parent had when the child was forked. An object that the parent has changed since is a conflict, and stays as it is.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `already_ended`, `not_available`, `limit_exceeded`.
   */
  mergeObjects(
    input: {
      /** The parent. */
      pid: string
      /** The ended child. */
      from: string
      /** `results`: what the child ended with; `all_new`: all that it wrote. Default: `"results"`. */
      policy?: ('results' | 'all_new' | 'none') | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'mergeObjects'>>
  /**
   * Reads bytes of a command's output log, from an offset on.
   *
   * Offsets never shift. A page never spans a gap: it begins after the gap, and names it.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `not_command`, `not_served`, `no_output`.
   */
  output(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** A byte offset; 0 by default. */
      offset?: number
      /** Instead of an offset: from the bytes that were printed at that time, or shortly before. */
      since?: number
      /** The maximum number of bytes. Default: `65536`. */
      limit?: number | undefined
      /** Shows secrets instead of masking them; needs the role admin, and is recorded with the process. Default: `false`. */
      reveal?: boolean | undefined
      /** For a person at a terminal, on the Unix socket or in the same program: nothing is masked, and no reveal is recorded. Default: `false`. */
      terminal?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'output'>>
  /**
   * Shows how a command is, and what it has printed since the last poll.
   *
   * Without a cursor a session continues where its last poll of this process ended, also after a restart of the daemon.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `not_command`, `not_served`, `no_output`.
   */
  poll(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** From an earlier poll; o0 is the beginning. */
      cursor?: string
      /** The turn that reads: the notice of the end is not delivered again in this turn. */
      turn?: string
      /** The reader of the session whose position it is. */
      reader?: ReaderInput
      /** The maximum number of characters. Default: `2000`. */
      maxChars?: number | undefined
      /** Escape sequences such as colours: kept or stripped; render: as a terminal would show the output, also where text overwrites other text. Default: `"strip"`. */
      ansi?: ('keep' | 'strip' | 'render') | undefined
      /** Shows secrets instead of masking them; needs the role admin, and is recorded with the process. Default: `false`. */
      reveal?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<{
    /** The process now. */
    record: ProcessRecord
    /** Output that this reader had not read. */
    text: string
    /** Where the text ends, to continue from. */
    cursor: string
    /** There is more output now: poll again. */
    more: boolean
    /** Output that was not kept. */
    truncated: {
      /** The offset of the first missing byte. */
      from: number
      /** The offset of the next byte that is there. */
      to: number
    }[]
    /** Present while the disk is full: output that is written when there is space. */
    heldBack?: {
      /** When that began, in milliseconds since 1970. */
      since: number
      /** How many bytes are held in memory. */
      bytes: number
    }
    /** How long it has run, in milliseconds. */
    uptimeMs: number
  }>
  /**
   * Removes ended processes with their events, notices and output: some, or all beyond a limit.
   *
   * Live processes and processes that a live one refers to are kept. Limits also keep processes with an unread notice. A pruned pid is refused for 90 days.
   *
   * Needs the role `admin`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`.
   */
  prune(
    input: {
      /** Processes that ended longer ago, in milliseconds. */
      olderThanMs?: number
      /** How many ended processes to keep; the latest stay. */
      keep?: number
      /** These processes only. */
      pids?: string[]
    },
    options?: CallOptions,
  ): Promise<OutputOf<'prune'>>
  /**
   * Stores an execution environment under the hash of its content.
   *
   * The same content has the same reference. Secrets are stored as references, not as values.
   *
   * Needs the role `operate`. Refuses with `denied`, `payload_too_large`, `session_ended`, `session_unknown`.
   */
  putEnvironment(input: Environment, options?: CallOptions): Promise<OutputOf<'putEnvironment'>>
  /**
   * Recovers the processes of dead holders.
   *
   * Recovery also runs at every start and in every sweep. This runs it now.
   *
   * Needs the role `admin`. Refuses with `denied`.
   */
  recover(input?: Record<string, never>, options?: CallOptions): Promise<OutputOf<'recover'>>
  /**
   * Records where an external process is found outside of Reeve.
   *
   * The first reference counts.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `already_ended`, `not_external`, `denied`.
   */
  setExternalRef(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** For example a URL. */
      ref: Json
    },
    options?: CallOptions,
  ): Promise<OutputOf<'setExternalRef'>>
  /**
   * Reads the login shell's environment again, for later commands.
   *
   * It is read once, when the daemon starts. Variables that were added to a profile since then are seen after this.
   *
   * Needs the role `operate`. Refuses with `denied`, `not_served`.
   */
  refreshEnvironment(
    input?: Record<string, never>,
    options?: CallOptions,
  ): Promise<OutputOf<'refreshEnvironment'>>
  /**
   * Declares a holder dead, and recovers the processes that it holds.
   *
   * A holder that hangs is not taken over by anything else. It loses its leases, and can no longer write to those processes.
   *
   * Needs the role `admin`. Refuses with `not_found`, `holder_alive`, `denied`.
   */
  removeHolder(
    input: {
      /** The id of the holder. */
      id: string
      /** Also a holder that is alive and renews its row. Default: `false`. */
      force?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'removeHolder'>>
  /**
   * Moves a live process to another owner.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `already_ended`, `session_unknown`, `session_ended`, `denied`.
   */
  changeOwner(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** The new owner. */
      owner: Owner
    },
    options?: CallOptions,
  ): Promise<OutputOf<'changeOwner'>>
  /**
   * Changes the size of a command's terminal.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `not_command`, `not_served`, `already_ended`, `no_terminal`.
   */
  resize(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** The width in columns. */
      cols: number
      /** The height in rows. */
      rows: number
    },
    options?: CallOptions,
  ): Promise<OutputOf<'resize'>>
  /**
   * Starts a process once more, as a new process.
   *
   * The new process has a pid of its own, the name of the old one, and `restartOf` set to it. The old process is ended first.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `survived`, `not_ours`, `invalid_input`, `environment_unknown`, `limit_exceeded`, `too_many_commands`, `session_ended`, `turn_ended`, `stopping`, `already_ended`, `conflict`, `path_held`.
   */
  restart(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** How long the old one may take to end before it is forced, in milliseconds. */
      graceMs?: number
      /** Calls of one caller under the same key are one restart, and answer with its process. */
      idempotencyKey?: string
      /** For a command with spec.inheritEnv: the environment of the new process, instead of that of the old one. */
      inherited?: InheritedInput
    },
    options?: CallOptions,
  ): Promise<OutputOf<'restart'>>
  /**
   * Announces that a worker is gone. Processes that it still holds are queued again.
   *
   * Needs the role `operate`. Refuses with `denied`.
   */
  retireWorker(
    input: {
      /** The id of the worker. */
      worker: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'retireWorker'>>
  /**
   * Revokes grants.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `denied`.
   */
  revoke(
    input: {
      /** The id of a session. */
      session: string
      /** Pids or names of processes. */
      pids: string[]
      /** The reason, as it is recorded. */
      reason?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'revoke'>>
  /**
   * Shows the current screen of a command's terminal, as text.
   *
   * For full-screen programs. Rows and columns are counted from 0.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `not_command`, `not_served`, `no_output`, `no_terminal`.
   */
  screen(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** How many lines above the screen. Default: `0`. */
      scrollback?: number | undefined
      /** Shows secrets instead of masking them; needs the role admin, and is recorded with the process. Default: `false`. */
      reveal?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'screen'>>
  /**
   * Finds lines in a command's output, with the lines around them.
   *
   * Patterns use RE2 syntax: the time is proportional to the searched output.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `not_command`, `not_served`, `no_output`.
   */
  search(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** A text that the line contains. */
      text?: string
      /** An RE2 pattern. */
      pattern?: string
      /** Upper and lower case are the same. Default: `false`. */
      ignoreCase?: boolean | undefined
      /** How many lines before and after each match. Default: `0`. */
      context?: number | undefined
      /** The byte offset to begin at: next of an earlier answer. Default: `0`. */
      from?: number | undefined
      /** This stream only. */
      stream?: 'stdout' | 'stderr' | 'text' | 'thinking' | 'tool_arguments' | 'label'
      /** The maximum number of matches. Default: `50`. */
      limit?: number | undefined
      /** Escape sequences such as colours: kept or stripped; render: as a terminal would show the output, also where text overwrites other text. Default: `"strip"`. */
      ansi?: ('keep' | 'strip' | 'render') | undefined
      /** Shows secrets instead of masking them; needs the role admin, and is recorded with the process. Default: `false`. */
      reveal?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'search'>>
  /**
   * Sends a named signal with a value to a process.
   *
   * The n-th wait on a name gets the n-th signal of that name, whichever came first. Signals with the same id are one signal.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `already_ended`, `payload_too_large`, `replay_conflict`, `signals_full`, `denied`.
   */
  send(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** The name of the signal. */
      name: string
      /** What the wait answers with. */
      value?: Json | undefined
      /** Signals with the same id are one signal. */
      id?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'send'>>
  /**
   * Sends a message to a process, a session or a person.
   *
   * The message is a notice of kind `message` in the inbox of the addressee. A process writes to itself, its parent, its children, its session and `human:host`; a session writes to its processes. Messages of one sender keep their order. Messages to sessions and people come from processes only.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `pruned_pid`, `ambiguous_pid`, `already_ended`, `session_unknown`, `session_ended`, `payload_too_large`, `replay_conflict`, `inbox_full`, `not_available`, `denied`.
   */
  sendMessage(
    input: {
      /** Process:<pid or name>, session:<id> or human:<name>. */
      to: string
      /** The content of the message. */
      value?: Json | undefined
      /** The channel of the message, which receivers select by. */
      channel?: string
      /** Connects a request and its answers. */
      correlationId?: string
      /** Where an answer is expected, if not at the sender. */
      replyTo?: string
      /** `interrupt` asks the receiver to look at it before it goes on. Default: `"normal"`. */
      priority?: ('normal' | 'interrupt') | undefined
      /** Messages of one sender to one addressee with the same key are one message. */
      idempotencyKey?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'sendMessage'>>
  /**
   * Lists sessions, by id.
   *
   * Needs the role `read`. Refuses with `denied`.
   */
  sessions(
    input?: {
      /** The id to continue after. */
      after?: string
      /** Only the children of this session. */
      parentSession?: string
      /** The maximum number of items. Default: `100`. */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'sessions'>>
  /**
   * Shows one process.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`.
   */
  show(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** Shows secrets instead of masking them; needs the role admin, and is recorded with the process. Default: `false`. */
      reveal?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'show'>>
  /**
   * Pauses, resumes, interrupts, cancels or kills a process, or sends its program an OS signal.
   *
   * `cancel` asks, and `kill` does not wait for an answer; both go down the tree, except to children that outlive their parent. `interrupt` asks this one process. An OS signal, for example `SIGHUP`, is sent to the program of a command, which decides what to do. The answer `signalled` means that the signal was delivered; `recorded`, that the stop of an external process is on record and could not be delivered from here.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `already_ended`, `not_paused`, `stopping`, `denied`, `not_command`, `not_served`, `not_ours`, `not_begun`.
   */
  signal(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** What to send. */
      signal: ('pause' | 'resume' | 'interrupt' | 'cancel' | 'kill') | string
      /** For an OS signal: the program, or its whole process group. Default: `"process"`. */
      to?: ('process' | 'group') | undefined
      /** The reason, as it is recorded. */
      reason?: string
      /** The same key makes a repeated call safe. */
      replayKey?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'signal'>>
  /**
   * Registers a process, and begins it if this kernel serves its kind.
   *
   * Idempotent by content: the same pid, or the same idempotency key, with the same request answers with the existing process.
   *
   * Needs the role `operate`. Refuses with `conflict`, `name_in_use`, `survived`, `not_ours`, `pruned_pid`, `payload_too_large`, `unknown_pid`, `already_ended`, `stopping`, `session_unknown`, `session_ended`, `turn_unknown`, `turn_ended`, `lifetime_without_scope`, `environment_unknown`, `environment_forbidden`, `depth_exceeded`, `group_conflict`, `denied`, `invalid_request`, `too_many_commands`, `limit_exceeded`, `invalid_rule`, `not_found`, `untrusted`.
   */
  spawn(
    input: RegistrationInput,
    options?: CallOptions,
  ): Promise<{
    /** Registered: it is new; existing: the request was made before; running: `ifRunning` kept the live process of this name. */
    type: 'registered' | 'existing' | 'running'
    /** The process. */
    record: ProcessRecord
    /** What the caller may not have meant. */
    warning?:
      | {
          /** `passEnv` has names that are no variables. */
          code: 'unknown_variables'
          /** These names. */
          names: string[]
        }
      | {
          /** The same owner started the same command moments ago. */
          code: 'duplicate_of'
          /** The earlier process. */
          pid: string
        }
      | {
          /** Another live process has this name, which refers to the new one from now on. */
          code: 'name_in_use'
          /** The other process. */
          pid: string
        }
  }>
  /**
   * Starts an agent below another one, with a goal, a share of its allowance and a part of its rights.
   *
   * The child has a session of its own, below that of its parent, and works in the folder of the parent unless `cwd` says otherwise. Without a model it uses that of the parent. It is up and has taken its goal when the answer comes, or nothing has changed. The parent gets a report of every turn that it asked for, and of the end.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `pruned_pid`, `ambiguous_pid`, `denied`, `invalid_request`, `invalid_rule`, `not_available`, `not_found`, `untrusted`, `conflict`, `path_held`, `already_ended`, `stopping`, `depth_exceeded`, `limit_exceeded`, `payload_too_large`, `session_ended`, `session_unknown`, `replay_conflict`.
   */
  spawnAgent(
    input: {
      /** The agent that it works for: a pid or a name. */
      parent: string
      /** What it is to do. */
      goal: string
      /** Facts that it needs for its goal: the second part of its first input. */
      context?: string
      /** The name of its role; that of its image or of its parent by default. */
      role?: string
      /** The image that it is made from; what neither the request nor the image says is as in its parent. */
      image?: string
      /** A model, as provider/model. */
      model?: string
      /** Models that are called instead, in this order, when the provider of the model fails. */
      fallbacks?: string[]
      /** How much the model thinks; each provider has its own steps. */
      effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'
      /** The longest answer of one model call, in tokens. */
      maxOutputTokens?: number
      /** Its system prompt. */
      system?: string
      /** Tools that its parent has written, or may call itself; none by default. */
      writtenTools?: string[]
      /** The tools that it may call, of those of its parent; all of them by default. */
      tools?: string[]
      /** It ends with its first turn, with the result of that turn. */
      once?: boolean
      /** Amounts of tokensIn, tokensOut and cost: an alert at 80 %, and when one is reached, the agent pauses. */
      softLimits?: Amounts
      /** How many agents may work below it; 2 levels and 20 live children by default. */
      delegation?: {
        /** Levels of agents below it, of a root. */
        depth?: number
        /** Live agents below it. */
        children?: number
      }
      /** Of an outside agent with a model acp/<name>: its program, if it is none that Reeve knows. */
      program?: {
        /** A program and its arguments, without a shell. */
        argv?: string[]
        /** A command line for the user's shell, passed on unchanged. */
        run?: string
        /** Variables of its environment; values or references to secrets. */
        env?: Record<
          string,
          | string
          | {
              /** A secret of the home, or env:<variable>. */
              secret: string
            }
        >
      }
      /** Files and folders of the workspace that it alone may write until it ends, and nothing else; relative to the workspace of its parent. */
      paths?: string[]
      /** A workspace of its own; that of its parent by default. */
      workspace?: {
        /** A git worktree of its own, on a new branch from the last commit of its parent. */
        worktree: true
      }
      /** Its folder, inside that of its parent. */
      cwd?: string
      /** Its share of what its parent may use; a missing name gets half of what the parent has left. */
      allowance?: Amounts
      /** Observe, ask, edit or full: the most that it may do, within what its parent may do. */
      preset?: string
      /** The most that it may do, as rules; instead of a preset. */
      ceiling?: {
        /** Rules as those of addRule. */
        rules: JsonObject[]
      }
      /** A name for people. */
      label?: string
      /** Chosen by the caller: the same pid with the same request is the same process. */
      pid?: string
      /** The same key of the same caller with the same request is the same process. */
      idempotencyKey?: string
      /** A name for the process, to use instead of its pid. */
      name?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'spawnAgent'>>
  /**
   * Lists the git worktrees of agents, the oldest first.
   *
   * Those of agents that the caller sees. A worktree of an agent that has ended is listed as long as work in it is nowhere else.
   *
   * Needs the role `read`. Refuses with `denied`, `not_available`, `conflict`.
   */
  worktrees(input?: Record<string, never>, options?: CallOptions): Promise<OutputOf<'worktrees'>>
  /**
   * Merges the worktree of an agent into the checkout of its parent, as a whole or not at all.
   *
   * Changes that are not committed there are committed first. A conflict, and a file with changes in the checkout that are not committed, is a `conflict`: it names the files, and the checkout stays as it was. The worktree is removed with the end of its agent.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `not_found`, `not_available`, `conflict`, `path_held`.
   */
  mergeWorktree(
    input: {
      /** A worktree: the pid or the name of its agent, or its branch. */
      worktree: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'mergeWorktree'>>
  /**
   * Removes the worktree of an agent that has ended, and its branch.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `not_found`, `not_available`, `conflict`.
   */
  removeWorktree(
    input: {
      /** A worktree: the pid or the name of its agent, or its branch. */
      worktree: string
      /** Also with work that is nowhere else, which is lost. Default: `false`. */
      discard?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'removeWorktree'>>
  /**
   * Starts several agents below another one, which gets one report when each of them has reported.
   *
   * In one transaction: all agents, or none. Their parent gets one report with the first result of each, in the order of the request: the result of a turn that it asked for, or the end of the agent. Later turns are reported one by one. What the parent has left is divided equally. Agents for which there is no slot yet begin when others are done.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `pruned_pid`, `ambiguous_pid`, `denied`, `invalid_request`, `invalid_rule`, `not_available`, `not_found`, `untrusted`, `conflict`, `path_held`, `already_ended`, `stopping`, `depth_exceeded`, `limit_exceeded`, `payload_too_large`, `session_ended`, `session_unknown`, `replay_conflict`.
   */
  spawnAgents(
    input: {
      /** The agent that they work for: a pid or a name. */
      parent: string
      /** The agents, in their order. */
      agents: {
        /** What it is to do. */
        goal: string
        /** Facts that it needs for its goal: the second part of its first input. */
        context?: string
        /** The name of its role; that of its image or of its parent by default. */
        role?: string
        /** The image that it is made from; what neither the request nor the image says is as in its parent. */
        image?: string
        /** A model, as provider/model. */
        model?: string
        /** Models that are called instead, in this order, when the provider of the model fails. */
        fallbacks?: string[]
        /** How much the model thinks; each provider has its own steps. */
        effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'
        /** The longest answer of one model call, in tokens. */
        maxOutputTokens?: number
        /** Its system prompt. */
        system?: string
        /** Tools that its parent has written, or may call itself; none by default. */
        writtenTools?: string[]
        /** The tools that it may call, of those of its parent; all of them by default. */
        tools?: string[]
        /** It ends with its first turn, with the result of that turn. */
        once?: boolean
        /** Amounts of tokensIn, tokensOut and cost: an alert at 80 %, and when one is reached, the agent pauses. */
        softLimits?: Amounts
        /** How many agents may work below it; 2 levels and 20 live children by default. */
        delegation?: {
          /** Levels of agents below it, of a root. */
          depth?: number
          /** Live agents below it. */
          children?: number
        }
        /** Of an outside agent with a model acp/<name>: its program, if it is none that Reeve knows. */
        program?: {
          /** A program and its arguments, without a shell. */
          argv?: string[]
          /** A command line for the user's shell, passed on unchanged. */
          run?: string
          /** Variables of its environment; values or references to secrets. */
          env?: Record<
            string,
            | string
            | {
                /** A secret of the home, or env:<variable>. */
                secret: string
              }
          >
        }
        /** Files and folders of the workspace that it alone may write until it ends, and nothing else; relative to the workspace of its parent. */
        paths?: string[]
        /** A workspace of its own; that of its parent by default. */
        workspace?: {
          /** A git worktree of its own, on a new branch from the last commit of its parent. */
          worktree: true
        }
        /** Its folder, inside that of its parent. */
        cwd?: string
        /** Its share of what its parent may use; a missing name gets half of what the parent has left. */
        allowance?: Amounts
        /** Observe, ask, edit or full: the most that it may do, within what its parent may do. */
        preset?: string
        /** The most that it may do, as rules; instead of a preset. */
        ceiling?: {
          /** Rules as those of addRule. */
          rules: JsonObject[]
        }
        /** A name for people. */
        label?: string
        /** Chosen by the caller: the same pid with the same request is the same process. */
        pid?: string
        /** The same key of the same caller with the same request is the same process. */
        idempotencyKey?: string
        /** A name for the process, to use instead of its pid. */
        name?: string
      }[]
    },
    options?: CallOptions,
  ): Promise<OutputOf<'spawnAgents'>>
  /**
   * Continues the session of an agent that has ended, as a new agent.
   *
   * The new agent has a pid of its own and `restartOf` set to the old one. Its session goes on where that of the old one ended: its model reads the whole session, and turns are numbered on. The earlier log is referred to, not copied, and is kept as long as the new agent lives. Inputs that still waited are not taken over.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `not_restorable`, `owned_elsewhere`, `invalid_request`, `not_available`, `conflict`, `already_ended`, `stopping`, `depth_exceeded`, `limit_exceeded`, `session_ended`, `session_unknown`, `untrusted`, `name_in_use`.
   */
  restoreAgent(
    input: {
      /** The agent that has ended: a pid or a name. */
      pid: string
      /** Its first input; without one it waits for an input. */
      goal?: string
      /** Calls of one caller under the same key are one restore, and answer with its agent. */
      idempotencyKey?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'restoreAgent'>>
  /**
   * Starts an agent whose session branches from that of another one, which goes on unchanged.
   *
   * The model of the fork reads the session up to the branch point, and then its goal. The earlier log is referred to, not copied. What the request does not say is as in the other agent, and the fork may do nothing that this one may not. Answers to approvals are not taken over: a person is asked again. The fork of an agent works below the agent that asks, with a part of its allowance, and reports to it; that of a person works beside the agent that it branches from.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `invalid_request`, `invalid_rule`, `already_running`, `not_restorable`, `owned_elsewhere`, `not_available`, `not_found`, `untrusted`, `conflict`, `path_held`, `already_ended`, `stopping`, `depth_exceeded`, `limit_exceeded`, `payload_too_large`, `session_ended`, `session_unknown`, `replay_conflict`.
   */
  forkAgent(
    input: {
      /** What it is to do. */
      goal: string
      /** Facts that it needs for its goal: the second part of its first input. */
      context?: string
      /** A model, as provider/model. */
      model?: string
      /** Models that are called instead, in this order, when the provider of the model fails. */
      fallbacks?: string[]
      /** How much the model thinks; each provider has its own steps. */
      effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'
      /** The longest answer of one model call, in tokens. */
      maxOutputTokens?: number
      /** Its system prompt. */
      system?: string
      /** The tools that it may call, of those of its parent; all of them by default. */
      tools?: string[]
      /** It ends with its first turn, with the result of that turn. */
      once?: boolean
      /** Amounts of tokensIn, tokensOut and cost: an alert at 80 %, and when one is reached, the agent pauses. */
      softLimits?: Amounts
      /** How many agents may work below it; 2 levels and 20 live children by default. */
      delegation?: {
        /** Levels of agents below it, of a root. */
        depth?: number
        /** Live agents below it. */
        children?: number
      }
      /** Files and folders of the workspace that it alone may write until it ends, and nothing else; relative to the workspace of its parent. */
      paths?: string[]
      /** A workspace of its own; that of its parent by default. */
      workspace?: {
        /** A git worktree of its own, on a new branch from the last commit of its parent. */
        worktree: true
      }
      /** Its folder, inside that of the agent. */
      cwd?: string
      /** Its share of what the agent that asks may use; a missing name gets half of what is left. Beside an agent without a parent: as much as that was given, by default. */
      allowance?: Amounts
      /** Observe, ask, edit or full: the most that it may do, within what its parent may do. */
      preset?: string
      /** The most that it may do, as rules; instead of a preset. */
      ceiling?: {
        /** Rules as those of addRule. */
        rules: JsonObject[]
      }
      /** A name for people. */
      label?: string
      /** The same key of the same caller with the same request is the same process. */
      idempotencyKey?: string
      /** A name for the process, to use instead of its pid. */
      name?: string
      /** The agent that it branches from, at work or not or ended: a pid or a name. */
      pid: string
      /** It branches behind this turn; by default where the session is now: in an open turn behind the last answer whose calls all have results. */
      at?: number
      /** Restricted: it reads and changes nothing; worker: as restricted, and it ends with its first turn; copy: it may do what the agent may that it branches from; speculative: the objects that it writes are gone at its end unless they are merged, and it writes files only with a worktree. Default: `"restricted"`. */
      mode?: ('restricted' | 'worker' | 'copy' | 'speculative') | undefined
      /** Names of objects, or of folders of them, that it sees; all that the agent sees by default. */
      roots?: string[]
      /** Another image; what neither the request nor the image says is as in the agent that it branches from. */
      image?: string
      /** The name of its role; that of its image or of the agent by default. */
      role?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'forkAgent'>>
  /**
   * Registers many processes at once.
   *
   * In one transaction: all processes, or none. A later request may name an earlier one as its parent if that one was given a pid.
   *
   * Needs the role `operate`. Refuses with `conflict`, `name_in_use`, `survived`, `not_ours`, `pruned_pid`, `payload_too_large`, `unknown_pid`, `already_ended`, `stopping`, `session_unknown`, `session_ended`, `turn_unknown`, `turn_ended`, `lifetime_without_scope`, `environment_unknown`, `environment_forbidden`, `depth_exceeded`, `group_conflict`, `denied`, `invalid_request`, `too_many_commands`, `limit_exceeded`, `invalid_rule`, `not_found`, `untrusted`.
   */
  spawnMany(
    input: {
      /** The processes, in the order of their registration. */
      processes: RegistrationInput[]
    },
    options?: CallOptions,
  ): Promise<OutputOf<'spawnMany'>>
  /**
   * Shows which daemon and keeper run, and what they found at the start.
   *
   * It also shows how much is stored, the space that it takes, and current problems.
   *
   * Needs the role `read`. Refuses with `denied`.
   */
  status(input?: Record<string, never>, options?: CallOptions): Promise<OutputOf<'status'>>
  /**
   * Shows who the caller acts as: a token that is bound to a session acts as that session.
   *
   * Needs the role `read`.
   */
  whoami(input?: Record<string, never>, options?: CallOptions): Promise<OutputOf<'whoami'>>
  /**
   * Shows to which stream the bytes of an output log belong: stdout or stderr of a command, text or thinking of an agent.
   *
   * For readers of bytes: `output` and `followOutput` do not tell the streams apart.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `not_command`, `not_served`, `no_output`.
   */
  outputStreams(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** A byte offset in the output log. Default: `0`. */
      from?: number | undefined
      /** The offset to stop at. */
      to?: number
      /** Also when it was printed. Default: `false`. */
      times?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'outputStreams'>>
  /**
   * Writes a line and presses Enter.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `not_command`, `not_served`, `already_ended`, `not_begun`, `no_input`, `input_closed`, `input_full`.
   */
  submit(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** The line, without its end. */
      text: string
      /** Rises with every write; a number that the keeper has seen is not typed again. */
      seq?: number
    },
    options?: CallOptions,
  ): Promise<OutputOf<'submit'>>
  /**
   * Takes notices for one consumer alone.
   *
   * No other consumer gets them until `visibilityMs` have passed. Then notices that were not acknowledged are delivered again.
   *
   * Needs the role `operate`. Refuses with `denied`.
   */
  takeNotices(
    input: {
      /** Session:<id>, process:<pid> or human:<name>. */
      scope: string
      /** The name of a consumer, which has a cursor of its own. */
      consumer: string
      /** The maximum number of items. Default: `100`. */
      limit?: number | undefined
      /** How long no other consumer gets them, in milliseconds. Default: `30000`. */
      visibilityMs?: number | undefined
      /** Skip notices about processes that this turn has read. */
      turn?: string
      /** How long to wait for a notice if there is none, in milliseconds. Default: `0`. */
      waitMs?: number | undefined
    },
    options?: CallOptions,
  ): Promise<{
    /** The notices that were taken, in order of position. */
    notices: {
      /** Its position in the order of all inboxes: later notices have higher positions. */
      position: number
      /** The inbox that it is in. */
      scope: string
      /** The process that it is about. */
      pid: string
      /** The event of that process that made it. */
      seq: number
      /** What happened. */
      kind:
        | 'completion'
        | 'group_completion'
        | 'watch_match'
        | 'watch_disabled'
        | 'overflow_tripped'
        | 'overflow_released'
        | 'ready'
        | 'heartbeat'
        | 'approval'
        | 'limit_warning'
        | 'wake'
        | 'message'
        | 'report'
      /** When it happened, in milliseconds since 1970. */
      at: number
      /** The notice as a sentence that can be read alone. */
      text: string
      /** The facts of the notice. */
      payload: Json
      /** What the registration of the process has as `replyTo`. */
      replyTo: Json
      /** How it was handled for all consumers; null if it was not. */
      done: ('acknowledged' | 'consumed') | null
    }[]
    /** Until then no other consumer gets them, in milliseconds since 1970. */
    until: number
  }>
  /**
   * Records that a session is in use.
   *
   * Needs the role `operate`. Refuses with `session_unknown`, `session_ended`, `denied`.
   */
  touchSession(
    input: {
      /** The id of a session. */
      session: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'touchSession'>>
  /**
   * Tracks an OS process that Reeve did not start, by its PID.
   *
   * Registers an external process for an OS process that runs on the daemon's machine as the daemon's user. Stops reach it as signals, each sent only if boot, PID and start time are still the same, and its end is noticed. It needs the role `admin`, because Reeve signals any PID that it tracks.
   *
   * Needs the role `admin`. Refuses with `not_trackable`, `conflict`, `pruned_pid`, `unknown_pid`, `ambiguous_pid`, `already_ended`, `stopping`, `session_unknown`, `session_ended`, `turn_unknown`, `turn_ended`, `lifetime_without_scope`, `depth_exceeded`, `limit_exceeded`, `denied`.
   */
  track(
    input: {
      /** The PID. */
      osPid: number
      /** What it does; the name of its program by default. */
      description?: string
      /** Chosen by the caller: the same pid with the same request is the same process. */
      pid?: string
      /** The same key of the same caller with the same request is the same process. */
      idempotencyKey?: string
      /** A name for the process, to use instead of its pid. */
      name?: string
      /** A name for people. */
      label?: string
      /** A pid, an unambiguous beginning of one, or a name. */
      parent?: string
      /** The scope that it belongs to. */
      owner?: Owner
      /** With what Reeve asks it to end; detached: with nothing. Default: `"detached"`. */
      lifetime?: ('turn' | 'session' | 'parent' | 'detached') | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'track'>>
  /**
   * Moves grants from one session to another.
   *
   * All grants are moved, or none if one is missing.
   *
   * Needs the role `operate`. Refuses with `session_unknown`, `session_ended`, `unknown_pid`, `ambiguous_pid`, `denied`.
   */
  transferGrants(
    input: {
      /** The session that loses them. */
      from: string
      /** The session that gets them. */
      to: string
      /** Pids or names of processes. */
      pids: string[]
      /** The reason, as it is recorded. */
      reason?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'transferGrants'>>
  /**
   * Shows what a command and all its descendants have used so far.
   *
   * Null stands for an amount that could not be measured.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `not_command`, `not_served`.
   */
  usage(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'usage'>>
  /**
   * Removes the oldest entries of the audit beyond a limit.
   *
   * The rest stays one chain: it begins after a signed place, which `verifyAudit` checks. The removal is an entry of the audit itself.
   *
   * Needs the role `admin`. Refuses with `denied`.
   */
  pruneAudit(
    input: {
      /** Entries older than this, in milliseconds, up to the first that is not. */
      olderThanMs?: number
      /** How many entries to keep; the latest stay. */
      keep?: number
    },
    options?: CallOptions,
  ): Promise<OutputOf<'pruneAudit'>>
  /**
   * Verifies the audit: every entry, the chain of their hashes, and the anchors outside of the store.
   *
   * An anchor is a position with its hash, which a daemon notes in its home. Each that was not removed by retention must be in the chain. A chain that is longer than its anchors is sound.
   *
   * Needs the role `admin`. Refuses with `denied`.
   */
  verifyAudit(input?: Record<string, never>, options?: CallOptions): Promise<OutputOf<'verifyAudit'>>
  /**
   * Waits until a process has ended, or a command is ready or has printed a line.
   *
   * A timeout is an answer, not an error, and so is an aborted wait: the process lives on. With `until` it waits for a line of a command's output. Lines that were printed before count, too, from the offset `from` on. The end of the process ends the wait.
   *
   * Needs the role `read`. Refuses with `no_readiness`, `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `not_command`, `not_served`, `no_output`.
   */
  wait(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** How long to wait, in milliseconds; 180 s by default. */
      timeoutMs?: number
      /** Wait until the command is ready, as its spec says; its end ends the wait. */
      ready?: true
      /** Wait for a line of the output. */
      until?: {
        /** A text that the line contains. */
        text?: string
        /** An RE2 pattern. */
        pattern?: string
        /** A byte offset in the output log; lines before it do not count. Default: `0`. */
        from?: number | undefined
      }
      /** One of the readers of the session: the others still get the notice of the end. */
      reader?: ReaderInput
    },
    options?: CallOptions,
  ): Promise<
    | {
        type: 'ended'
        /** The process now. */
        record: ProcessRecord
        /** With `until`: output that was not kept, and so was not searched. */
        truncated?: {
          /** The offset of the first missing byte. */
          from: number
          /** The offset of the next byte that is there. */
          to: number
        }[]
      }
    | {
        type: 'ready'
        /** The process now. */
        record: ProcessRecord
      }
    | {
        type: 'not_ready'
        /** The process now. */
        record: ProcessRecord
      }
    | {
        type: 'matched'
        /** The process now. */
        record: ProcessRecord
        /** The line that matched. */
        line: {
          /** The offset of its first byte in the output log. */
          offset: number
          /** The line. */
          text: string
        }
        /** Output that was not kept, and so was not searched. */
        truncated: {
          /** The offset of the first missing byte. */
          from: number
          /** The offset of the next byte that is there. */
          to: number
        }[]
      }
    | {
        type: 'timed_out'
        /** The process now. */
        record: ProcessRecord
        /** The longest time that is allowed, if `timeoutMs` was longer. */
        clampedToMs?: number
        /** With `until`: lines before this offset were searched; a next wait may begin there. */
        scannedTo?: number
        /** With `until`: output that was not kept, and so was not searched. */
        truncated?: {
          /** The offset of the first missing byte. */
          from: number
          /** The offset of the next byte that is there. */
          to: number
        }[]
      }
    | {
        type: 'interrupted'
      }
  >
  /**
   * Waits until all of several processes have ended.
   *
   * On a timeout the answer has the processes that have ended.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`.
   */
  waitAll(
    input: {
      /** Pids or names of processes. */
      pids: string[]
      /** How long to wait, in milliseconds; no limit by default. */
      timeoutMs?: number
    },
    options?: CallOptions,
  ): Promise<OutputOf<'waitAll'>>
  /**
   * Waits until one of several processes has ended.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`.
   */
  waitAny(
    input: {
      /** Pids or names of processes. */
      pids: string[]
      /** How long to wait, in milliseconds; no limit by default. */
      timeoutMs?: number
    },
    options?: CallOptions,
  ): Promise<OutputOf<'waitAny'>>
  /**
   * Waits for an event of one of these types.
   *
   * Earlier events count, too, unless `after` gives a `seq` to begin at. The end of the process ends the wait: then `event` is null.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`.
   */
  waitFor(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** Types of events. */
      types: string[]
      /** The seq to begin after. Default: `0`. */
      after?: number | undefined
      /** How long to wait, in milliseconds; no limit by default. */
      timeoutMs?: number
    },
    options?: CallOptions,
  ): Promise<OutputOf<'waitFor'>>
  /**
   * Types into a command's terminal, or writes to its standard input.
   *
   * The text is written as it is. No Enter is added.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `not_command`, `not_served`, `already_ended`, `not_begun`, `no_input`, `input_closed`, `input_full`.
   */
  write(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** Text, or raw bytes. */
      text: string | Uint8Array
      /** Rises with every write; a number that the keeper has seen is not typed again. */
      seq?: number
    },
    options?: CallOptions,
  ): Promise<OutputOf<'write'>>
  /**
   * Lists the agents that Reeve drives; without `ended`, those that live.
   *
   * The newest first. A page may have fewer agents than `limit`, because agents that other programs drive are left out: `next` says whether more follow.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`.
   */
  agents(
    input?: {
      /** Only agents of this session and of the sessions below it. */
      session?: string
      /** Only agents that work for this one. */
      parent?: string
      /** Also agents that have ended. Default: `false`. */
      ended?: boolean | undefined
      /** The cursor of an earlier answer, to continue after it. */
      after?: string
      /** The maximum number of items. Default: `100`. */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'agents'>>
  /**
   * Shows an agent as it is now: its state, model, cost, tools, rules and configuration, and what lives below it.
   *
   * The live children, the live commands, the pending approvals and the waiting inputs are whole sets. They are those of the agent itself: what a child agent starts belongs to the child.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `invalid_request`.
   */
  inspectAgent(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'inspectAgent'>>
  /**
   * Gives an agent an input: it starts a turn, or waits for one.
   *
   * An idle agent starts a turn. In a running one, `queue` waits for the end of the turn, and `steer` joins it at the next model call; `run` is refused with `already_running`. In a paused one, `run` ends the paused turn and starts another. The input is stored before the answer: it is neither lost nor taken twice. The same `id` with the same parts gets the same answer, with other parts `input_conflict`.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `invalid_request`, `already_ended`, `stopping`, `replay_conflict`, `already_running`, `input_conflict`, `conflict`, `limit_exceeded`, `payload_too_large`.
   */
  runAgent(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** The id of the input: with the same id and the same parts it is the same input. */
      id?: string
      /** A text; or give `parts`. */
      text?: string
      /** Texts, pasted texts, images, files, references to files of the workspace and slash commands, in their order; or give `text`. */
      parts?: (
        | {
            type: 'text'
            /** The text. */
            text: string
          }
        | {
            type: 'image'
            /** Its media type, like image/png. */
            mediaType: string
            /** The content, in base64. */
            data: string
          }
        | {
            type: 'file'
            /** Its media type, like application/pdf. */
            mediaType: string
            /** Its file name, for the model. */
            name?: string
            /** The content, in base64. */
            data: string
          }
        | {
            type: 'paste'
            /** Text that was pasted, and not typed. */
            text: string
            /** What it is, for the model. */
            name?: string
          }
        | {
            type: 'reference'
            /** A file of the workspace, relative to it or absolute. */
            path: string
            /** The first line, from 1. */
            from?: number
            /** The last line. */
            to?: number
          }
        | {
            type: 'command'
            /** The name of a slash command. */
            name: string
            /** The text behind its name. */
            arguments?: string
          }
      )[]
      /** `run` starts a turn now, `queue` after the others, `steer` joins the running turn. Default: `"run"`. */
      mode?: ('run' | 'queue' | 'steer') | undefined
      /** The JSON schema that the result of the turn must fit. */
      schema?: JsonObject
      /** Turns are repeated until this holds; with the mode `run` only. */
      until?:
        | {
            type: 'command'
            /** A shell line that must succeed. */
            run: string
          }
        | {
            type: 'model'
            /** A question that a model must answer with yes. */
            check: string
          }
      /** With `until`: the maximum number of turns; 20 by default. */
      maxTurns?: number
      /** The head of the session that the caller has seen; `conflict` if it has moved. */
      expectedHead?: number
    },
    options?: CallOptions,
  ): Promise<OutputOf<'runAgent'>>
  /**
   * Continues the paused turn of an agent.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `invalid_request`, `already_ended`, `stopping`, `replay_conflict`, `not_paused`, `already_running`.
   */
  resumeAgent(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** The id of this request: with the same id a repeated request gets the answer of the first one. */
      id?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'resumeAgent'>>
  /**
   * Ends the running turn of an agent.
   *
   * When it answers, the turn has ended. Its open tool calls are closed and interrupted. A turn without output is rolled back: its inputs are in `returned`. The next input that waits starts a turn.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `invalid_request`, `already_ended`, `stopping`, `replay_conflict`, `not_running`.
   */
  cancelTurn(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** The id of this request: with the same id a repeated request gets the answer of the first one. */
      id?: string
      /** Also removes the inputs that wait. */
      dropQueued?: boolean
    },
    options?: CallOptions,
  ): Promise<OutputOf<'cancelTurn'>>
  /**
   * Pauses the running turn of an agent.
   *
   * The pause survives a restart. A turn without output is rolled back instead: its inputs are in `returned`, and the agent is idle.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `invalid_request`, `already_ended`, `stopping`, `replay_conflict`, `not_running`.
   */
  pauseAgent(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** The id of this request: with the same id a repeated request gets the answer of the first one. */
      id?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'pauseAgent'>>
  /**
   * Tells an agent something: an idle agent starts a turn, a running one sees it before its next model call.
   *
   * Unlike an input it waits in a buffer, and several are one entry of the prompt. At most 256 wait; later ones are counted.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `invalid_request`, `already_ended`, `stopping`, `replay_conflict`, `payload_too_large`.
   */
  notifyAgent(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** The id of this request: with the same id a repeated request gets the answer of the first one. */
      id?: string
      /** A text; or give `parts`. */
      text?: string
      /** Texts, pasted texts, images, files, references to files of the workspace and slash commands, in their order; or give `text`. */
      parts?: (
        | {
            type: 'text'
            /** The text. */
            text: string
          }
        | {
            type: 'image'
            /** Its media type, like image/png. */
            mediaType: string
            /** The content, in base64. */
            data: string
          }
        | {
            type: 'file'
            /** Its media type, like application/pdf. */
            mediaType: string
            /** Its file name, for the model. */
            name?: string
            /** The content, in base64. */
            data: string
          }
        | {
            type: 'paste'
            /** Text that was pasted, and not typed. */
            text: string
            /** What it is, for the model. */
            name?: string
          }
        | {
            type: 'reference'
            /** A file of the workspace, relative to it or absolute. */
            path: string
            /** The first line, from 1. */
            from?: number
            /** The last line. */
            to?: number
          }
        | {
            type: 'command'
            /** The name of a slash command. */
            name: string
            /** The text behind its name. */
            arguments?: string
          }
      )[]
      /** Why: the log and the turn that it begins name it. Default: `"notify"`. */
      cause?: ('notify' | 'schedule' | 'wake') | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'notifyAgent'>>
  /**
   * Shortens the session of an idle agent: a model summarises its history.
   *
   * The answer names the turn that does it. `waitAgent` waits for the end of that turn.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `invalid_request`, `already_ended`, `stopping`, `replay_conflict`, `already_running`, `conflict`.
   */
  compactAgent(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** The id of this request: with the same id a repeated request gets the answer of the first one. */
      id?: string
      /** The head of the session that the caller has seen. */
      expectedHead?: number
    },
    options?: CallOptions,
  ): Promise<OutputOf<'compactAgent'>>
  /**
   * Takes the session of an idle agent back to the beginning of a turn, or to the end of another branch.
   *
   * The branch that it leaves stays: its label, or the number of its last turn, selects it again. With `undoFiles` a turn of its own puts back the files that file tools of the agent have changed since then and that nothing else has changed; `waitAgent` waits for it, and its result is `fileFates`. Changes by commands are not known, and are not undone.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `invalid_request`, `already_ended`, `stopping`, `replay_conflict`, `already_running`, `conflict`, `not_found`, `limit_exceeded`, `not_available`, `owned_elsewhere`.
   */
  rewindAgent(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** The id of this request: with the same id a repeated request gets the answer of the first one. */
      id?: string
      /** The session is as it was before this turn; or give `branch`. */
      turn?: number
      /** The label of a branch, or the number of its last turn. */
      branch?: string
      /** A name for the branch that is left. */
      label?: string
      /** Put back files, too. */
      undoFiles?: boolean
      /** Change nothing: answer what would happen, also to files. */
      dryRun?: boolean
      /** The head of the session that the caller has seen. */
      expectedHead?: number
    },
    options?: CallOptions,
  ): Promise<OutputOf<'rewindAgent'>>
  /**
   * Lists the turns that the session of an agent can be rewound to, the latest first, and its other branches.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `invalid_request`, `already_running`.
   */
  rewindPoints(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** The `next` of a page. */
      before?: number
      /** The maximum number of turns. Default: `100`. */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'rewindPoints'>>
  /**
   * Ends an agent: a running turn is cancelled first.
   *
   * Its session log stays readable. To force an end, use `kill`.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `invalid_request`, `already_ended`, `stopping`, `replay_conflict`.
   */
  shutDownAgent(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** The id of this request: with the same id a repeated request gets the answer of the first one. */
      id?: string
      /** The reason, as it is recorded. */
      reason?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'shutDownAgent'>>
  /**
   * Changes the model of an agent, and how much it thinks, from its next model call on.
   *
   * Refused with `invalid_request` if the model cannot be opened: `problem` in the details is `model_unknown`, `model_key_missing`, `model_unpriced` or `script_invalid`.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `invalid_request`, `already_ended`, `stopping`, `replay_conflict`.
   */
  configureAgent(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** The id of this request: with the same id a repeated request gets the answer of the first one. */
      id?: string
      /** A model, as provider/model. */
      model: string
      /** How much the model thinks; without it that stays as it is. */
      effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'
    },
    options?: CallOptions,
  ): Promise<OutputOf<'configureAgent'>>
  /**
   * Raises limits of an agent, and lets inputs go on that waited because of a limit.
   *
   * For an operator, the parent of the agent, or a session above its own. The amounts are added to limits that the agent has; they are taken from the account above, if that has such a limit.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `invalid_request`, `already_ended`, `stopping`, `replay_conflict`, `limit_exceeded`.
   */
  allowAgent(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** The id of this request: with the same id a repeated request gets the answer of the first one. */
      id?: string
      /** The amounts to add. */
      amounts: Amounts
    },
    options?: CallOptions,
  ): Promise<OutputOf<'allowAgent'>>
  /**
   * Lists the inputs of an agent that wait for a turn, in their order, with their parts.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `invalid_request`.
   */
  agentInputs(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'agentInputs'>>
  /**
   * Completes the last word of an input that a person types: a slash command, or a file after @.
   *
   * A text that begins with `/` is completed with the slash commands of the agent, and a last word that begins with `@` with the files of its workspace that it may read. Anything else has no completions. In every state of the agent; an agent that has ended has none.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `invalid_request`.
   */
  completeInput(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** The text up to the cursor. */
      text: string
      /** Default: `50`. */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'completeInput'>>
  /**
   * Replaces the parts of an input that waits.
   *
   * Refused with `not_found` once a turn has taken it.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `invalid_request`, `already_ended`, `stopping`, `replay_conflict`, `not_found`, `payload_too_large`.
   */
  editInput(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** The id of an input. */
      input: string
      /** The id of this request: with the same id a repeated request gets the answer of the first one. */
      id?: string
      /** A text; or give `parts`. */
      text?: string
      /** Texts, pasted texts, images, files, references to files of the workspace and slash commands, in their order; or give `text`. */
      parts?: (
        | {
            type: 'text'
            /** The text. */
            text: string
          }
        | {
            type: 'image'
            /** Its media type, like image/png. */
            mediaType: string
            /** The content, in base64. */
            data: string
          }
        | {
            type: 'file'
            /** Its media type, like application/pdf. */
            mediaType: string
            /** Its file name, for the model. */
            name?: string
            /** The content, in base64. */
            data: string
          }
        | {
            type: 'paste'
            /** Text that was pasted, and not typed. */
            text: string
            /** What it is, for the model. */
            name?: string
          }
        | {
            type: 'reference'
            /** A file of the workspace, relative to it or absolute. */
            path: string
            /** The first line, from 1. */
            from?: number
            /** The last line. */
            to?: number
          }
        | {
            type: 'command'
            /** The name of a slash command. */
            name: string
            /** The text behind its name. */
            arguments?: string
          }
      )[]
    },
    options?: CallOptions,
  ): Promise<OutputOf<'editInput'>>
  /**
   * Removes an input that waits.
   *
   * Refused with `not_found` once a turn has taken it.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `invalid_request`, `already_ended`, `stopping`, `replay_conflict`, `not_found`.
   */
  removeInput(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** The id of this request: with the same id a repeated request gets the answer of the first one. */
      id?: string
      /** The id of an input. */
      input: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'removeInput'>>
  /**
   * Changes the order of the inputs that wait.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `invalid_request`, `already_ended`, `stopping`, `replay_conflict`.
   */
  reorderInputs(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** The id of this request: with the same id a repeated request gets the answer of the first one. */
      id?: string
      /** The ids of all waiting inputs, in the new order. */
      inputs: string[]
    },
    options?: CallOptions,
  ): Promise<OutputOf<'reorderInputs'>>
  /**
   * Shows the tokens and the cost of an agent: by model call, by turn, in all, and with everything below it.
   *
   * A cost that is not known is null, never 0: `unpriced` counts the calls without a price.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `invalid_request`.
   */
  agentCost(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** Only turns after this one: `next` of the page before. */
      after?: number
      /** The maximum number of turns. Default: `100`. */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<OutputOf<'agentCost'>>
  /**
   * Waits until an agent is idle, paused or ended, or until one of its turns has ended.
   *
   * A timeout is an answer, not an error, and so is an aborted wait: the agent works on. With `turn` it waits for the end of that turn, also if it has not begun yet; a pause before that end is an answer, too.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `invalid_request`.
   */
  waitAgent(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** The number of a turn. */
      turn?: number
      /** How long to wait, in milliseconds; 180 s by default. */
      timeoutMs?: number
      /** One of the readers of the session: the others still get the notice of the end. */
      reader?: ReaderInput
    },
    options?: CallOptions,
  ): Promise<OutputOf<'waitAgent'>>
  /**
   * Lists the images that agents can be made from.
   *
   * Those of the folder and of all folders above it, those that were registered, and the built-in ones. Of several with one name, the first in the list counts that is not inert.
   *
   * Needs the role `read`. Refuses with `denied`.
   */
  images(
    input?: {
      /** The workspace, an absolute path. */
      folder?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'images'>>
  /**
   * Shows an image: the one that an agent of this name would be made from.
   *
   * With name@hash it is that version, which is kept also if the name has another one since. Refused with `untrusted` if only a file that nobody trusts has it.
   *
   * Needs the role `read`. Refuses with `not_found`, `untrusted`, `denied`.
   */
  image(
    input: {
      /** The name of the image, or name@hash. */
      name: string
      /** The workspace, an absolute path. */
      folder?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'image'>>
  /**
   * Registers an image under its name, as a new version of it.
   *
   * The content is given as `image`, or as the `text` of a file whose name tells its format. The same content again changes nothing. A session or a process needs a rule that allows `write image:<name>`.
   *
   * Needs the role `operate`. Refuses with `denied`, `payload_too_large`.
   */
  registerImage(
    input: {
      /** The image. */
      image?: {
        /** The name by which agents are made from it. */
        name: string
        /** What it is for, in a sentence. */
        description?: string
        /** The system prompt; the built-in one if left out. */
        system?: string
        /** The model that is called, and those that are called instead when its provider fails. */
        models?: string[]
        /** How much the model thinks. */
        effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'
        /** The longest answer of one model call, in tokens. */
        maxOutputTokens?: number
        /** The tools that it may call; all if left out. */
        tools?: string[]
        /** MCP servers whose tools it may call, by name. */
        mcpServers?: Record<
          string,
          | {
              type: 'command'
              /** A program and its arguments, without a shell. */
              argv?: string[]
              /** A command line for the user's shell, passed on unchanged. */
              run?: string
              /** Variables of its environment; values or references to secrets. */
              env?: Record<
                string,
                | string
                | {
                    /** A secret of the home, or env:<variable>. */
                    secret: string
                  }
              >
              /** Its working folder; that of the agent by default. */
              cwd?: string
              /** How long one call may take, in milliseconds; 300 s by default. */
              timeoutMs?: number
            }
          | {
              type: 'http'
              /** Its address. */
              url: string
              /** Headers of each request; values or references to secrets. */
              headers?: Record<
                string,
                | string
                | {
                    /** A secret of the home, or env:<variable>. */
                    secret: string
                  }
              >
              /** How Reeve shows who it is: a token, or OAuth with client credentials. */
              auth?:
                | {
                    type: 'bearer'
                    /** The secret with the token. */
                    token: {
                      /** The name of the secret. */
                      secret: string
                    }
                  }
                | {
                    type: 'oauth'
                    /** The authorization server, which gets the secret; no other does. */
                    issuer: string
                    /** The name of the client at the authorization server. */
                    clientId: string
                    /** The secret of the client. */
                    clientSecret: {
                      /** The name of the secret. */
                      secret: string
                    }
                    /** The scopes to ask for, separated by spaces. */
                    scope?: string
                  }
              /** How long one call may take, in milliseconds; 300 s by default. */
              timeoutMs?: number
            }
        >
        /** Rules for what it does, besides those of its asker; they only narrow. */
        preset?: 'observe' | 'ask' | 'edit' | 'full'
        /** What it may use, taken from the budget of its asker: tokens, cost, tool calls. */
        budget?: Amounts
        /** Amounts at which it pauses and asks. */
        softLimits?: Amounts
        /** The JSON schema that the result of its goal must fit. */
        output?: JsonObject
        /** Commands that run at events of the agent, under its rules. */
        hooks?: {
          /** When it runs. */
          event: 'session_start' | 'turn_start' | 'before_tool' | 'after_tool' | 'turn_end' | 'session_end'
          /** Of before_tool and after_tool: the tools that it is for; all if left out. */
          tools?: string[]
          /** A line for the shell; it reads the event as JSON from its standard input. */
          run: string
          /** How long it may run; 60000 by default. */
          timeoutMs?: number
        }[]
        /** Long-term memory in memory/ and knowledge/ of its workspace: true, or with a model and a time limit for the job that keeps it; off if left out. */
        memory?:
          | boolean
          | {
              /** The model that keeps it; that of the agent if left out. */
              model?: string
              /** How long one call of that model may take. */
              timeoutMs?: number
            }
        /** What it will do, as `write fs:docs`, `net:example.com` or `shell:git push`: what its asker may not do is asked for before it begins. */
        needs?: string[]
      }
      /** YAML, JSON or Markdown. */
      text?: string
      /** With `text`: the name of its file, as reviewer.yaml. */
      file?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'registerImage'>>
  /**
   * Removes a registered image with all its versions.
   *
   * Agents that were made from it go on. Built-in images and those of files stay.
   *
   * Needs the role `admin`. Refuses with `not_found`, `denied`.
   */
  removeImage(
    input: {
      /** The name of the image. */
      name: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'removeImage'>>
  /**
   * Lists the tools that an agent has written, and those that agents above it have handed to it.
   *
   * Its own revoked ones are among them. A name that it does not have is `not_found`.
   *
   * Needs the role `read`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `invalid_request`, `not_found`.
   */
  writtenTools(
    input: {
      /** A pid, an unambiguous beginning of one, or a name. */
      pid: string
      /** Only this one, with its source. */
      name?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'writtenTools'>>
  /**
   * Takes a written tool from its agent and from all agents that it was handed to.
   *
   * The next call of it is refused. A tool that is revoked already stays as it is. The agent may propose it again, and a person is asked again.
   *
   * Needs the role `operate`. Refuses with `unknown_pid`, `ambiguous_pid`, `pruned_pid`, `denied`, `invalid_request`, `not_found`.
   */
  revokeTool(
    input: {
      /** The agent that it was registered for. */
      pid: string
      /** The tool. */
      name: string
      /** For the audit and the list. */
      reason?: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'revokeTool'>>
  /**
   * Lists the files that define something for agents: images, skills, slash commands and hooks.
   *
   * Those of the folder and of all folders above it, the nearest first, and those of the home. They are inert until a person trusts them.
   *
   * Needs the role `read`. Refuses with `denied`.
   */
  agentFiles(
    input?: {
      /** The workspace; without one, those of the home. */
      folder?: string
      /** Files of this kind alone. */
      kind?: 'image' | 'skill' | 'command' | 'hooks'
    },
    options?: CallOptions,
  ): Promise<OutputOf<'agentFiles'>>
  /**
   * Shows a file that defines something for agents, so that a person can decide whether to trust it.
   *
   * Needs the role `read`. Refuses with `not_found`, `denied`.
   */
  agentFile(
    input: {
      /** Of the file, or of the folder of a skill. */
      path: string
    },
    options?: CallOptions,
  ): Promise<OutputOf<'agentFile'>>
  /**
   * Trusts a file that defines something for agents, or no longer.
   *
   * This version of the image, skill, slash command or hooks counts from now on. The hash is that of agentFiles: a file that has changed since is refused. null: no version of it counts any more.
   *
   * Needs the role `admin`. Refuses with `not_found`, `conflict`, `invalid_input`, `denied`.
   */
  trustFile(
    input: {
      /** Of the file, or of the folder of a skill. */
      path: string
      /** Of the version to trust, from agentFiles; null: no longer. */
      hash: string | null
    },
    options?: CallOptions,
  ): Promise<OutputOf<'trustFile'>>
}

type RegistrationInput =
  | {
      kind: 'command'
      /** What to run. */
      spec: CommandSpecInput
      /** Chosen by the caller: the same pid with the same request is the same process. */
      pid?: string
      /** The same key of the same caller with the same request is the same process. */
      idempotencyKey?: string
      /** A name for the process, to use instead of its pid. */
      name?: string
      /** Why you want this, for the person who is asked; kept with the request alone. */
      reason?: string
      /** If a live process of the same session, or outside of all sessions, has this name: keep it and start none, or end it first. */
      ifRunning?: 'keep' | 'replace'
      /** A name for people. */
      label?: string
      /** What it is an instance of, for filters. */
      definition?: Json | undefined
      /** The pid of its parent. */
      parent?: string
      /** The pid of the process that it restarts. */
      restartOf?: string
      /** One notice when all processes of the group have ended. */
      group?: {
        /** The id of the group. */
        id: string
        /** How many processes the group has. */
        size: number
        /** Its index in the group. */
        index?: number
      }
      /** The scope that it belongs to. */
      owner?: Owner
      /** What caused it, as it is recorded. */
      causedBy?: JsonObject
      /** Copied to its notices, for the reader. */
      replyTo?: Json | undefined
      /** When this ends, the process is stopped. */
      lifetime?: 'turn' | 'session' | 'parent' | 'daemon' | 'detached'
      /** What may follow when its holder is lost. */
      recovery?: 'rerunnable' | 'bound' | 'external'
      /** Where it is executed: host:<name>, folder:<id>, or parent; by default anywhere, and for a command where it was requested. */
      placement?: string
      /** Its execution environment. */
      envRef?: string
      /** The working folder, an absolute path. */
      cwd?: string
      /** The event types that it declares. */
      eventTypes?: Record<
        string,
        {
          /** JSON Schema of the payload. */
          schema: JsonObject
          /** An event of this type ends the process. */
          end?: 'completed' | 'failed' | 'cancelled'
          /** An event of this type is a notice to the wake target. */
          wake?: boolean
          /** The facet that the payload becomes. */
          facet?: string
        }
      >
      /** The session that gets its notices. */
      wakeTarget?: string
      /** Limits of the process and its children. */
      limits?: {
        /** How often it may be begun when its holders die. */
        attempts?: number
        /** How deep its tree may grow, from the root. */
        depth?: number
        /** How many of its children may live at once, tools not counted; children inherit it. */
        liveChildren?: number
        /** How long a command, tool or workflow may run, in milliseconds; children inherit it. */
        runMs?: number
        /** How much memory a command may use; children inherit it. */
        memoryBytes?: number
      }
      /** What it and its descendants may use; a missing name gets half of what its parent has left. */
      allowance?: Amounts
      /** The most that it and everything below it may do: everything that these rules do not allow is denied, also to later grants. */
      ceiling?: {
        /** Rules as those of addRule, without limits of use. */
        rules: JsonObject[]
      }
      /** Sessions that may see it. */
      grants?: {
        /** The id of a session. */
        session: string
        /** Stored with the grant. */
        descriptor?: Json | undefined
      }[]
      /** The environment if envRef names none; requests that differ in it only are the same. */
      baseEnvRef?: string
      /** Values for names in spec.passEnv, instead of those of the base environment; stored in no record. */
      secrets?: Record<string, string>
      /** Environment, umask and limits of the caller, for spec.inheritEnv; stored in no record. */
      inherited?: InheritedInput
    }
  | {
      kind: 'agent'
      /** What to run. */
      spec: {
        /** The name of the agent. */
        agent: string
        /** Its goal. */
        goal?: Json | undefined
        /** The image that it is made from: fields that are left out have the values of the image. */
        image?: string
        /** The model that Reeve calls for it, as provider/model, or acp/<name> for an outside agent; without one Reeve does not drive it. */
        model?: string
        /** Models that are called instead, in this order, when the provider of the model fails. */
        fallbacks?: string[]
        /** How much the model thinks; each provider has its own steps. */
        effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'
        /** The longest answer of one model call, in tokens. */
        maxOutputTokens?: number
        /** Its system prompt. */
        system?: string
        /** Facts that it needs for its goal: the second part of its first input. */
        context?: string
        /** The tools that it may call. */
        tools?: string[]
        /** Tools that agents above it have written, and that it may call; none by default. */
        writtenTools?: string[]
        /** It ends with its first turn, with the result of that turn. */
        once?: boolean
        /** How many agents may work below it; 2 levels and 20 live children by default. */
        delegation?: {
          /** Levels of agents below it, of a root. */
          depth?: number
          /** Live agents below it. */
          children?: number
        }
        /** Amounts of tokensIn, tokensOut and cost: an alert at 80 %, and when one is reached, the agent pauses. */
        softLimits?: Amounts
        /** MCP servers whose tools it may call, by the name in mcp__<name>__<tool>. */
        mcpServers?: Record<
          string,
          | {
              type: 'command'
              /** A program and its arguments, without a shell. */
              argv?: string[]
              /** A command line for the user's shell, passed on unchanged. */
              run?: string
              /** Variables of its environment; values or references to secrets. */
              env?: Record<
                string,
                | string
                | {
                    /** A secret of the home, or env:<variable>. */
                    secret: string
                  }
              >
              /** Its working folder; that of the agent by default. */
              cwd?: string
              /** How long one call may take, in milliseconds; 300 s by default. */
              timeoutMs?: number
            }
          | {
              type: 'http'
              /** Its address. */
              url: string
              /** Headers of each request; values or references to secrets. */
              headers?: Record<
                string,
                | string
                | {
                    /** A secret of the home, or env:<variable>. */
                    secret: string
                  }
              >
              /** How Reeve shows who it is: a token, or OAuth with client credentials. */
              auth?:
                | {
                    type: 'bearer'
                    /** The secret with the token. */
                    token: {
                      /** The name of the secret. */
                      secret: string
                    }
                  }
                | {
                    type: 'oauth'
                    /** The authorization server, which gets the secret; no other does. */
                    issuer: string
                    /** The name of the client at the authorization server. */
                    clientId: string
                    /** The secret of the client. */
                    clientSecret: {
                      /** The name of the secret. */
                      secret: string
                    }
                    /** The scopes to ask for, separated by spaces. */
                    scope?: string
                  }
              /** How long one call may take, in milliseconds; 300 s by default. */
              timeoutMs?: number
            }
        >
        /** Of an outside agent with a model acp/<name>: its program, if it is none that Reeve knows. */
        program?: {
          /** A program and its arguments, without a shell. */
          argv?: string[]
          /** A command line for the user's shell, passed on unchanged. */
          run?: string
          /** Variables of its environment; values or references to secrets. */
          env?: Record<
            string,
            | string
            | {
                /** A secret of the home, or env:<variable>. */
                secret: string
              }
          >
        }
        /** Rules for what it does, besides those of its asker: observe, ask, edit or full. */
        preset?: 'observe' | 'ask' | 'edit' | 'full'
        /** The JSON schema that the result of its goal must fit. */
        output?: JsonObject
        /** Commands that run at events of the agent, under its rules. */
        hooks?: {
          /** When it runs. */
          event: 'session_start' | 'turn_start' | 'before_tool' | 'after_tool' | 'turn_end' | 'session_end'
          /** Of before_tool and after_tool: the tools that it is for; all if left out. */
          tools?: string[]
          /** A line for the shell; it reads the event as JSON from its standard input. */
          run: string
          /** How long it may run; 60000 by default. */
          timeoutMs?: number
        }[]
        /** Long-term memory in memory/ and knowledge/ of its workspace: true, or with a model and a time limit for the job that keeps it; off if left out. */
        memory?:
          | boolean
          | {
              /** The model that keeps it; that of the agent if left out. */
              model?: string
              /** How long one call of that model may take. */
              timeoutMs?: number
            }
      }
      /** Chosen by the caller: the same pid with the same request is the same process. */
      pid?: string
      /** The same key of the same caller with the same request is the same process. */
      idempotencyKey?: string
      /** A name for the process, to use instead of its pid. */
      name?: string
      /** Why you want this, for the person who is asked; kept with the request alone. */
      reason?: string
      /** If a live process of the same session, or outside of all sessions, has this name: keep it and start none, or end it first. */
      ifRunning?: 'keep' | 'replace'
      /** A name for people. */
      label?: string
      /** What it is an instance of, for filters. */
      definition?: Json | undefined
      /** The pid of its parent. */
      parent?: string
      /** The pid of the process that it restarts. */
      restartOf?: string
      /** One notice when all processes of the group have ended. */
      group?: {
        /** The id of the group. */
        id: string
        /** How many processes the group has. */
        size: number
        /** Its index in the group. */
        index?: number
      }
      /** The scope that it belongs to. */
      owner?: Owner
      /** What caused it, as it is recorded. */
      causedBy?: JsonObject
      /** Copied to its notices, for the reader. */
      replyTo?: Json | undefined
      /** When this ends, the process is stopped. */
      lifetime?: 'turn' | 'session' | 'parent' | 'daemon' | 'detached'
      /** What may follow when its holder is lost. */
      recovery?: 'rerunnable' | 'bound' | 'external'
      /** Where it is executed: host:<name>, folder:<id>, or parent; by default anywhere, and for a command where it was requested. */
      placement?: string
      /** Its execution environment. */
      envRef?: string
      /** The working folder, an absolute path. */
      cwd?: string
      /** The event types that it declares. */
      eventTypes?: Record<
        string,
        {
          /** JSON Schema of the payload. */
          schema: JsonObject
          /** An event of this type ends the process. */
          end?: 'completed' | 'failed' | 'cancelled'
          /** An event of this type is a notice to the wake target. */
          wake?: boolean
          /** The facet that the payload becomes. */
          facet?: string
        }
      >
      /** The session that gets its notices. */
      wakeTarget?: string
      /** Limits of the process and its children. */
      limits?: {
        /** How often it may be begun when its holders die. */
        attempts?: number
        /** How deep its tree may grow, from the root. */
        depth?: number
        /** How many of its children may live at once, tools not counted; children inherit it. */
        liveChildren?: number
        /** How long a command, tool or workflow may run, in milliseconds; children inherit it. */
        runMs?: number
        /** How much memory a command may use; children inherit it. */
        memoryBytes?: number
      }
      /** What it and its descendants may use; a missing name gets half of what its parent has left. */
      allowance?: Amounts
      /** The most that it and everything below it may do: everything that these rules do not allow is denied, also to later grants. */
      ceiling?: {
        /** Rules as those of addRule, without limits of use. */
        rules: JsonObject[]
      }
      /** Sessions that may see it. */
      grants?: {
        /** The id of a session. */
        session: string
        /** Stored with the grant. */
        descriptor?: Json | undefined
      }[]
    }
  | {
      kind: 'workflow'
      /** What to run. */
      spec: {
        /** The name of the workflow. */
        workflow: string
        /** Its input. */
        input?: Json | undefined
      }
      /** Chosen by the caller: the same pid with the same request is the same process. */
      pid?: string
      /** The same key of the same caller with the same request is the same process. */
      idempotencyKey?: string
      /** A name for the process, to use instead of its pid. */
      name?: string
      /** Why you want this, for the person who is asked; kept with the request alone. */
      reason?: string
      /** If a live process of the same session, or outside of all sessions, has this name: keep it and start none, or end it first. */
      ifRunning?: 'keep' | 'replace'
      /** A name for people. */
      label?: string
      /** What it is an instance of, for filters. */
      definition?: Json | undefined
      /** The pid of its parent. */
      parent?: string
      /** The pid of the process that it restarts. */
      restartOf?: string
      /** One notice when all processes of the group have ended. */
      group?: {
        /** The id of the group. */
        id: string
        /** How many processes the group has. */
        size: number
        /** Its index in the group. */
        index?: number
      }
      /** The scope that it belongs to. */
      owner?: Owner
      /** What caused it, as it is recorded. */
      causedBy?: JsonObject
      /** Copied to its notices, for the reader. */
      replyTo?: Json | undefined
      /** When this ends, the process is stopped. */
      lifetime?: 'turn' | 'session' | 'parent' | 'daemon' | 'detached'
      /** What may follow when its holder is lost. */
      recovery?: 'rerunnable' | 'bound' | 'external'
      /** Where it is executed: host:<name>, folder:<id>, or parent; by default anywhere, and for a command where it was requested. */
      placement?: string
      /** Its execution environment. */
      envRef?: string
      /** The working folder, an absolute path. */
      cwd?: string
      /** The event types that it declares. */
      eventTypes?: Record<
        string,
        {
          /** JSON Schema of the payload. */
          schema: JsonObject
          /** An event of this type ends the process. */
          end?: 'completed' | 'failed' | 'cancelled'
          /** An event of this type is a notice to the wake target. */
          wake?: boolean
          /** The facet that the payload becomes. */
          facet?: string
        }
      >
      /** The session that gets its notices. */
      wakeTarget?: string
      /** Limits of the process and its children. */
      limits?: {
        /** How often it may be begun when its holders die. */
        attempts?: number
        /** How deep its tree may grow, from the root. */
        depth?: number
        /** How many of its children may live at once, tools not counted; children inherit it. */
        liveChildren?: number
        /** How long a command, tool or workflow may run, in milliseconds; children inherit it. */
        runMs?: number
        /** How much memory a command may use; children inherit it. */
        memoryBytes?: number
      }
      /** What it and its descendants may use; a missing name gets half of what its parent has left. */
      allowance?: Amounts
      /** The most that it and everything below it may do: everything that these rules do not allow is denied, also to later grants. */
      ceiling?: {
        /** Rules as those of addRule, without limits of use. */
        rules: JsonObject[]
      }
      /** Sessions that may see it. */
      grants?: {
        /** The id of a session. */
        session: string
        /** Stored with the grant. */
        descriptor?: Json | undefined
      }[]
    }
  | {
      kind: 'tool'
      /** What to run. */
      spec: {
        /** The name of the tool. */
        tool: string
        /** Its input. */
        input?: Json | undefined
      }
      /** Chosen by the caller: the same pid with the same request is the same process. */
      pid?: string
      /** The same key of the same caller with the same request is the same process. */
      idempotencyKey?: string
      /** A name for the process, to use instead of its pid. */
      name?: string
      /** Why you want this, for the person who is asked; kept with the request alone. */
      reason?: string
      /** If a live process of the same session, or outside of all sessions, has this name: keep it and start none, or end it first. */
      ifRunning?: 'keep' | 'replace'
      /** A name for people. */
      label?: string
      /** What it is an instance of, for filters. */
      definition?: Json | undefined
      /** The pid of its parent. */
      parent?: string
      /** The pid of the process that it restarts. */
      restartOf?: string
      /** One notice when all processes of the group have ended. */
      group?: {
        /** The id of the group. */
        id: string
        /** How many processes the group has. */
        size: number
        /** Its index in the group. */
        index?: number
      }
      /** The scope that it belongs to. */
      owner?: Owner
      /** What caused it, as it is recorded. */
      causedBy?: JsonObject
      /** Copied to its notices, for the reader. */
      replyTo?: Json | undefined
      /** When this ends, the process is stopped. */
      lifetime?: 'turn' | 'session' | 'parent' | 'daemon' | 'detached'
      /** What may follow when its holder is lost. */
      recovery?: 'rerunnable' | 'bound' | 'external'
      /** Where it is executed: host:<name>, folder:<id>, or parent; by default anywhere, and for a command where it was requested. */
      placement?: string
      /** Its execution environment. */
      envRef?: string
      /** The working folder, an absolute path. */
      cwd?: string
      /** The event types that it declares. */
      eventTypes?: Record<
        string,
        {
          /** JSON Schema of the payload. */
          schema: JsonObject
          /** An event of this type ends the process. */
          end?: 'completed' | 'failed' | 'cancelled'
          /** An event of this type is a notice to the wake target. */
          wake?: boolean
          /** The facet that the payload becomes. */
          facet?: string
        }
      >
      /** The session that gets its notices. */
      wakeTarget?: string
      /** Limits of the process and its children. */
      limits?: {
        /** How often it may be begun when its holders die. */
        attempts?: number
        /** How deep its tree may grow, from the root. */
        depth?: number
        /** How many of its children may live at once, tools not counted; children inherit it. */
        liveChildren?: number
        /** How long a command, tool or workflow may run, in milliseconds; children inherit it. */
        runMs?: number
        /** How much memory a command may use; children inherit it. */
        memoryBytes?: number
      }
      /** What it and its descendants may use; a missing name gets half of what its parent has left. */
      allowance?: Amounts
      /** The most that it and everything below it may do: everything that these rules do not allow is denied, also to later grants. */
      ceiling?: {
        /** Rules as those of addRule, without limits of use. */
        rules: JsonObject[]
      }
      /** Sessions that may see it. */
      grants?: {
        /** The id of a session. */
        session: string
        /** Stored with the grant. */
        descriptor?: Json | undefined
      }[]
    }
  | {
      kind: 'external'
      /** What to run. */
      spec: {
        /** What it does. */
        description: string
        /** Where it is found outside of Reeve. */
        ref?: Json | undefined
      }
      /** Chosen by the caller: the same pid with the same request is the same process. */
      pid?: string
      /** The same key of the same caller with the same request is the same process. */
      idempotencyKey?: string
      /** A name for the process, to use instead of its pid. */
      name?: string
      /** Why you want this, for the person who is asked; kept with the request alone. */
      reason?: string
      /** If a live process of the same session, or outside of all sessions, has this name: keep it and start none, or end it first. */
      ifRunning?: 'keep' | 'replace'
      /** A name for people. */
      label?: string
      /** What it is an instance of, for filters. */
      definition?: Json | undefined
      /** The pid of its parent. */
      parent?: string
      /** The pid of the process that it restarts. */
      restartOf?: string
      /** One notice when all processes of the group have ended. */
      group?: {
        /** The id of the group. */
        id: string
        /** How many processes the group has. */
        size: number
        /** Its index in the group. */
        index?: number
      }
      /** The scope that it belongs to. */
      owner?: Owner
      /** What caused it, as it is recorded. */
      causedBy?: JsonObject
      /** Copied to its notices, for the reader. */
      replyTo?: Json | undefined
      /** When this ends, the process is stopped. */
      lifetime?: 'turn' | 'session' | 'parent' | 'daemon' | 'detached'
      /** What may follow when its holder is lost. */
      recovery?: 'rerunnable' | 'bound' | 'external'
      /** Where it is executed: host:<name>, folder:<id>, or parent; by default anywhere, and for a command where it was requested. */
      placement?: string
      /** Its execution environment. */
      envRef?: string
      /** The working folder, an absolute path. */
      cwd?: string
      /** The event types that it declares. */
      eventTypes?: Record<
        string,
        {
          /** JSON Schema of the payload. */
          schema: JsonObject
          /** An event of this type ends the process. */
          end?: 'completed' | 'failed' | 'cancelled'
          /** An event of this type is a notice to the wake target. */
          wake?: boolean
          /** The facet that the payload becomes. */
          facet?: string
        }
      >
      /** The session that gets its notices. */
      wakeTarget?: string
      /** Limits of the process and its children. */
      limits?: {
        /** How often it may be begun when its holders die. */
        attempts?: number
        /** How deep its tree may grow, from the root. */
        depth?: number
        /** How many of its children may live at once, tools not counted; children inherit it. */
        liveChildren?: number
        /** How long a command, tool or workflow may run, in milliseconds; children inherit it. */
        runMs?: number
        /** How much memory a command may use; children inherit it. */
        memoryBytes?: number
      }
      /** What it and its descendants may use; a missing name gets half of what its parent has left. */
      allowance?: Amounts
      /** The most that it and everything below it may do: everything that these rules do not allow is denied, also to later grants. */
      ceiling?: {
        /** Rules as those of addRule, without limits of use. */
        rules: JsonObject[]
      }
      /** Sessions that may see it. */
      grants?: {
        /** The id of a session. */
        session: string
        /** Stored with the grant. */
        descriptor?: Json | undefined
      }[]
    }

type CommandSpecInput = {
  /** A program and its arguments, without a shell. */
  argv?: string[]
  /** A command line for the user's shell, passed on unchanged. */
  run?: string
  /** Variables that are added to the base environment. */
  env?: Record<string, string>
  /** Names of secrets that it may see, from its client or from the base environment. */
  passEnv?: string[]
  /** Whole: it runs in the environment of inherited; part: in the base environment plus inherited. Nothing of it is stored. */
  inheritEnv?: 'whole' | 'part'
  /** Names of variables of inherited that keep their values when a restart passes another inherited. */
  keepEnv?: string[]
  /** Runs it in a terminal, 120 × 30 by default. */
  pty?:
    | boolean
    | {
        /** The width in columns. */
        cols?: number
        /** The height in rows. */
        rows?: number
      }
  /** Empty by default; a pipe for write and closeInput; or the whole input as text. */
  stdin?:
    | ('null' | 'pipe')
    | {
        /** The whole input. */
        text: string
      }
  /** One pipe, two pipes whose bytes are tagged, or a file that the program writes itself. */
  output?: 'merged' | 'tagged' | 'direct'
  /** How many bytes at the end of its output are kept; by default as many as for other commands. */
  keepBytes?: number
  /** How long it may run, in milliseconds. */
  timeoutMs?: number
  /** How long it may print nothing, in milliseconds. */
  idleTimeoutMs?: number
  /** The signal that asks it to end; SIGTERM by default. */
  endSignal?: string
  /** How long it may take to end before it is forced, in milliseconds; 0: it is never forced. */
  graceMs?: number
  /** Lines of its output that become notices to its owner. */
  watch?: {
    /** A text that a line contains. */
    text?: string
    /** An RE2 pattern that a line matches. */
    pattern?: string
    /** Its name in notices. */
    name?: string
  }[]
  /** How to tell that it is ready. */
  ready?:
    | {
        /** An RE2 pattern that a line matches. */
        log: string
        /** How long it may take to be ready, in milliseconds; 60 s by default. */
        timeoutMs?: number
      }
    | {
        /** A port that accepts connections. */
        port: number
        /** How long it may take to be ready, in milliseconds; 60 s by default. */
        timeoutMs?: number
      }
    | {
        /** A URL that answers without a server error. */
        http: string
        /** How long it may take to be ready, in milliseconds; 60 s by default. */
        timeoutMs?: number
      }
    | {
        /** A shell command that succeeds. */
        command: string
        /** How long it may take to be ready, in milliseconds; 60 s by default. */
        timeoutMs?: number
      }
  /** Whether its owner gets a notice of its end; complete by default. If it is given for a command without an owner, the notice goes to the person at the machine. */
  notify?: 'complete' | 'failure' | 'none'
  /** Sends its owner a notice that it still prints, at most this often; 60000 or more. */
  heartbeatMs?: number
  /** Whether it is started again after it ended by itself, as a new process of the same name. */
  restart?: {
    /** Failure: after it failed or was lost; always: after every end. */
    on: 'never' | 'failure' | 'always'
    /** The delay before the first restart, doubled each time; 1 s by default. */
    delayMs?: number
    /** The longest delay; 60 s by default. */
    maxDelayMs?: number
    /** How many restarts in a row; 10 by default. */
    limit?: number
  }
  /** Exceeding one ends the command. */
  limits?: {
    /** Memory of all its programs. */
    memoryBytes?: number
    /** CPU time of all its programs. */
    cpuSeconds?: number
    /** Open files of each program. */
    openFiles?: number
    /** Bytes that it may print. */
    outputBytes?: number
  }
}

type FilterInput = {
  /** By default all processes that have not ended. */
  status?:
    | 'any'
    | (
        | (
            | 'queued'
            | 'running'
            | 'waiting'
            | 'paused'
            | 'stopping'
            | 'completed'
            | 'failed'
            | 'cancelled'
            | 'abandoned'
          )
        | (
            | 'queued'
            | 'running'
            | 'waiting'
            | 'paused'
            | 'stopping'
            | 'completed'
            | 'failed'
            | 'cancelled'
            | 'abandoned'
          )[]
      )
  /** Kinds of processes. */
  kind?:
    | ('command' | 'agent' | 'workflow' | 'tool' | 'external')
    | ('command' | 'agent' | 'workflow' | 'tool' | 'external')[]
  /** What it waits for; true: anything, false: nothing. */
  waiting?:
    | boolean
    | (
        | ('child' | 'signal' | 'message' | 'approval' | 'timer' | 'input')
        | ('child' | 'signal' | 'message' | 'approval' | 'timer' | 'input')[]
      )
  /** An object matches if the definition has all its members. */
  definition?: Json[]
  /** Labels. */
  label?: string | string[]
  /** Names. */
  name?: string | string[]
  /** All given selectors must match. */
  owner?: {
    /** A selector of the owner. */
    session?: string | string[]
    /** A selector of the owner. */
    turn?: string | string[]
    /** A selector of the owner. */
    toolCall?: string | string[]
    /** A selector of the owner. */
    terminal?: string | string[]
    /** A selector of the owner. */
    extension?: string | string[]
    /** A selector of the owner. */
    hook?: string | string[]
    /** A selector of the owner. */
    sandbox?: string | string[]
    /** A selector of the owner. */
    source?: string | string[]
  }
  /** Pids of parents. */
  parent?: string | string[]
  /** Pids of the roots of trees. */
  root?: string | string[]
  /** Pids. */
  pid?: string | string[]
  /** Milliseconds since 1970. */
  createdAfter?: number
  /** Milliseconds since 1970. */
  createdBefore?: number
}

type InheritedInput = {
  /** The environment variables. */
  env: Record<string, string>
  /** The file mode mask. */
  umask?: number
  /** Soft and hard resource limits by name, like nofile; null: unlimited. */
  rlimits?: Record<string, [number | null, number | null]>
}

type ReaderInput = {
  /** An id for the reader. */
  id: string
  /** When it connected, by the clock of the daemon: `now` of whoami. */
  since: number
}

type WorkInput =
  | {
      type: 'end_step'
      /** The step that ended. */
      step:
        | {
            /** The number of the step, from 1. */
            stepIndex: number
            kind: 'step' | 'sleep' | 'signal' | 'receive' | 'spawn' | 'wait'
            /** The name of the step. */
            name: string
            /** When it began. */
            began: number
            /** How often it was tried. */
            tries: number
            /** How it ended. */
            how: 'done'
            /** Its encoded result. */
            value?: Json | undefined
          }
        | {
            /** The number of the step, from 1. */
            stepIndex: number
            kind: 'step' | 'sleep' | 'signal' | 'receive' | 'spawn' | 'wait'
            /** The name of the step. */
            name: string
            /** When it began. */
            began: number
            /** How often it was tried. */
            tries: number
            /** How it ended. */
            how: 'failed'
            /** The message of the error. */
            error: string
            /** The encoded error. */
            thrown?: Json | undefined
          }
    }
  | {
      type: 'retry_step'
      /** The step that failed. */
      step: {
        /** The number of the step, from 1. */
        stepIndex: number
        kind: 'step' | 'sleep' | 'signal' | 'receive' | 'spawn' | 'wait'
        /** The name of the step. */
        name: string
        /** How often it was tried. */
        tries: number
        /** The message of the error. */
        error: string
        /** When it is tried again. */
        retryAt: number
      }
    }
  | {
      type: 'enter_wait'
      /** A wait of the process. */
      wait: {
        /** The kind of the awaited event. */
        on: 'child' | 'signal' | 'message' | 'timer'
        /** The name that is waited for. */
        name: string
        /** Which wait for this name it is, from 1. */
        ordinal: number
        /** The number of the step, from 1. */
        stepIndex?: number
        /** Which messages end the wait. */
        filter?: {
          /** The channel of the message, which receivers select by. */
          channel?: string
          /** Connects a request and its answers. */
          correlationId?: string
          /** The sender: host, human:<name>, session:<id> or process:<pid>. */
          from?: unknown
        }
      }
      /** When the wait times out; null: never. */
      until: number | null
    }
  | {
      type: 'leave_wait'
      /** A wait of the process. */
      wait: {
        /** The kind of the awaited event. */
        on: 'child' | 'signal' | 'message' | 'timer'
        /** The name that is waited for. */
        name: string
        /** Which wait for this name it is, from 1. */
        ordinal: number
        /** The number of the step, from 1. */
        stepIndex?: number
        /** Which messages end the wait. */
        filter?: {
          /** The channel of the message, which receivers select by. */
          channel?: string
          /** Connects a request and its answers. */
          correlationId?: string
          /** The sender: host, human:<name>, session:<id> or process:<pid>. */
          from?: unknown
        }
      }
      /** How the wait ended. */
      how: 'due' | 'ended' | 'timed_out'
      /** What the wait answered with. */
      value: Json
    }
  | {
      type: 'park'
      /** Its open waits. */
      waits: {
        /** The kind of the awaited event. */
        on: 'child' | 'signal' | 'message' | 'timer'
        /** The name that is waited for. */
        name: string
        /** Which wait for this name it is, from 1. */
        ordinal: number
        /** The number of the step, from 1. */
        stepIndex?: number
        /** Which messages end the wait. */
        filter?: {
          /** The channel of the message, which receivers select by. */
          channel?: string
          /** Connects a request and its answers. */
          correlationId?: string
          /** The sender: host, human:<name>, session:<id> or process:<pid>. */
          from?: unknown
        }
      }[]
    }
  | {
      type: 'spawn'
      /** The child to register. */
      request: RegistrationInput
      /** The number of the step, from 1. */
      stepIndex: number
    }
  | {
      type: 'append'
      /** An event type that the process declared. */
      event: string
      /** Its payload. */
      payload: Json
      /** The same key is the same event. */
      replayKey: string
    }
  | {
      type: 'spawn_child'
      /** The child to register. */
      request: RegistrationInput
      /** Which child of the process it is, from 1. */
      number: number
    }
  | {
      type: 'end'
      /** How the process ended. */
      status: 'completed' | 'failed' | 'cancelled'
      /** The reason, as it is recorded. */
      reason?: string
      /** The result of the process. */
      result?: Json | undefined
    }
  | {
      type: 'release'
    }
  | {
      type: 'give_up_stop'
    }
  | {
      type: 'key'
      /** A wait of the process. */
      wait: {
        /** The kind of the awaited event. */
        on: 'child' | 'signal' | 'message' | 'timer'
        /** The name that is waited for. */
        name: string
        /** Which wait for this name it is, from 1. */
        ordinal: number
        /** The number of the step, from 1. */
        stepIndex?: number
        /** Which messages end the wait. */
        filter?: {
          /** The channel of the message, which receivers select by. */
          channel?: string
          /** Connects a request and its answers. */
          correlationId?: string
          /** The sender: host, human:<name>, session:<id> or process:<pid>. */
          from?: unknown
        }
      }
    }
  | {
      type: 'seed'
    }
  | {
      type: 'environment'
    }
  | {
      type: 'events'
      /** The seq to continue after. */
      after: number
      /** The maximum number of items. Default: `100`. */
      limit?: number | undefined
    }

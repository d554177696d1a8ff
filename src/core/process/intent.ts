import { type AgentAct, actKey } from '../agent/act.ts'
import { type AgentRequest, requestKey } from '../agent/request.ts'
import type { RewindTarget } from '../agent/rewind.ts'
import type { ToolCallRef } from '../agent/state.ts'
import type { NearLimit } from '../allowance/near.ts'
import type { Json } from '../json/json.ts'
import type { Fence, Lease } from '../lease/lease.ts'
import type { Message, MessageFilter } from '../message/message.ts'
import type { Refusal } from '../refusal.ts'
import type { ScriptSnapshot } from '../script/snapshot.ts'
import type { ApprovalRequested, ApprovalSettled, ReadyBy, StopDelivered, WaitLeftHow } from './event.ts'
import type { Pid } from './pid.ts'
import type { Actor, Evidence, Owner, Program, Scope, StopHow } from './record.ts'
import type { EndStatus } from './status.ts'
import type { StepEnded, StepTried } from './step-event.ts'
import type { WaitOn } from './wait.ts'
import type { WatchDisabled, WatchMatch } from './watch-event.ts'

interface Asked {
  readonly pid: Pid
  readonly actor: Actor
  readonly at: number
}

/** How an executor, or the reporter of an external process, says that a process ended. */
export interface Ending {
  readonly status: Exclude<EndStatus, 'abandoned'>
  readonly exitCode?: number | null
  readonly signal?: string | null
  readonly reason?: string | null
  readonly result?: Json
  /** When the end was seen, if that is earlier than the write. */
  readonly endedAt?: number
}

/** Names one wait of a process, the same in every attempt. */
export interface WaitRef {
  readonly on: WaitOn
  readonly name: string
  readonly ordinal: number
  /** Of a workflow: the number of the step. */
  readonly stepIndex?: number
  /** Of a wait on messages: which messages end it. */
  readonly filter?: MessageFilter
}

/** Everything that can be requested of a registered process. */
export type Intent =
  | (Asked & { readonly type: 'start'; readonly fence: Fence })
  | (Asked & { readonly type: 'program_started'; readonly program: Program; readonly fence: Fence })
  /** A watch match in its output; the same offset is recorded once. */
  | (Asked & { readonly type: 'match'; readonly match: Omit<WatchMatch, 'told'>; readonly fence: Fence })
  | (Asked & { readonly type: 'disable_watch'; readonly disabled: WatchDisabled; readonly fence: Fence })
  | (Asked & {
      readonly type: 'settle_readiness'
      readonly by: ReadyBy
      readonly detail: string
      /** After which readiness was given up; null if it is ready. */
      readonly timeoutMs: number | null
      /** Of a port that is ready: whether the process itself listens there. */
      readonly own?: boolean
      /** If it is not ready: why the last try failed. */
      readonly last?: string
      readonly fence: Fence
    })
  | (Asked & {
      readonly type: 'beat'
      readonly outputBytes: number
      readonly newBytes: number
      readonly fence: Fence
    })
  | (Asked & {
      readonly type: 'end'
      readonly ending: Ending
      readonly replayKey: string
      readonly fence: Fence | null
    })
  | (Asked & {
      readonly type: 'append'
      readonly event: string
      readonly payload: Json
      readonly replayKey: string | null
      readonly fence: Fence | null
    })
  | (Asked & {
      readonly type: 'stop'
      readonly how: StopHow
      readonly reason: string
      readonly cause: Pid | null
      readonly graceMs?: number
      readonly replayKey: string
    })
  /** A charge has brought a limit near. */
  | (Asked & { readonly type: 'near_limit'; readonly near: NearLimit })
  /** Of an external process: the requested stop has reached it. */
  | (Asked & { readonly type: 'confirm_stop'; readonly delivered: StopDelivered })
  | (Asked & { readonly type: 'pause' })
  | (Asked & { readonly type: 'resume' })
  | (Asked & { readonly type: 'signal'; readonly name: string; readonly id: string; readonly value: Json })
  /** A message to this process (`to` is its own scope), or from it to a session or a person. `key` makes it safe to repeat. */
  | (Asked & {
      readonly type: 'message'
      readonly to: Scope
      readonly message: Message
      readonly key: string
    })
  | (Asked & {
      readonly type: 'enter_wait'
      readonly wait: WaitRef
      readonly until: number | null
      readonly fence: Fence
    })
  | (Asked & {
      readonly type: 'leave_wait'
      readonly wait: WaitRef
      readonly how: Exclude<WaitLeftHow, 'signal' | 'message' | 'answered'>
      readonly value: Json
      readonly fence: Fence
    })
  | (Asked & { readonly type: 'answer'; readonly wait: WaitRef; readonly value: Json })
  /** The approval that it waits for is settled. `value`: the answer to a question. */
  | (Asked & {
      readonly type: 'settle_approval'
      readonly settled: ApprovalSettled
      readonly value?: Json
    })
  /** Its executor found another action than the approved one: it is asked about again, and gives its lease back. */
  | (Asked & { readonly type: 'ask_again'; readonly requested: ApprovalRequested; readonly fence: Fence })
  /** Of a workflow: a step has ended, or failed and is tried again later. */
  | (Asked & { readonly type: 'end_step'; readonly step: StepEnded; readonly fence: Fence })
  | (Asked & { readonly type: 'retry_step'; readonly step: StepTried; readonly fence: Fence })
  /** Leaves memory, if it still waits for all of these. */
  | (Asked & {
      readonly type: 'park'
      readonly waits: readonly WaitRef[]
      readonly snapshot?: ScriptSnapshot
      readonly fence: Fence
    })
  /** `by` is being parked until this process ends. */
  | (Asked & { readonly type: 'await_end'; readonly by: Pid })
  | (Asked & { readonly type: 'request_abandon'; readonly reason: string })
  | (Asked & { readonly type: 'change_owner'; readonly owner: Owner })
  | (Asked & { readonly type: 'change_cwd'; readonly cwd: string })
  | (Asked & { readonly type: 'set_external_ref'; readonly ref: Json })
  | (Asked & { readonly type: 'clear_wake_target'; readonly session: string })
  | (Asked & { readonly type: 'reveal'; readonly verb: string })
  /** A method of an agent that Reeve drives. `neverBegan`: open tool calls whose processes are withdrawn with it, before they began. */
  | (Asked & {
      readonly type: 'agent_request'
      readonly request: AgentRequest
      readonly neverBegan?: readonly ToolCallRef[]
      /** Of a rewind: where it goes, or why it cannot. */
      readonly target?: RewindTarget | Refusal
    })
  /** An act of the executor of such an agent. */
  | (Asked & { readonly type: 'agent_act'; readonly act: AgentAct; readonly fence: Fence })
  /** Recovery and shutdown. `observed` is the lease the verdict was based on: another lease means that another kernel was faster. */
  | (Asked & {
      readonly type: 'put_back'
      readonly observed: Lease
      readonly evidence: Evidence
      readonly retryAt: number
    })
  | (Asked & {
      readonly type: 'abandon'
      readonly observed: Lease
      readonly evidence: Evidence
      /** Facts that are known although the process was lost, for example matches that no notice reports. */
      readonly result?: Json
    })
  | (Asked & { readonly type: 'give_up'; readonly observed: Lease; readonly reason: string })
  | (Asked & { readonly type: 'settle_stop'; readonly observed: Lease })
  /** From the executor: the code was asked to stop, its grace is over, and it was not seen to stop. */
  | (Asked & { readonly type: 'give_up_stop'; readonly fence: Fence })
  | (Asked & { readonly type: 'take_over'; readonly observed: Lease; readonly holder: string })
  | (Asked & { readonly type: 'release'; readonly fence: Fence })

/** The replay key of a wait's end, the same in every attempt. */
export function waitLeftKey(wait: WaitRef): string {
  return `wait:${wait.on}:${wait.name}:${wait.ordinal}:left`
}

/** A wait that a crash or a shutdown cut off is entered again by the next holder, under its own fence. */
export function waitEnteredKey(wait: WaitRef, fence: number): string {
  return `wait:${wait.on}:${wait.name}:${wait.ordinal}:entered:${fence}`
}

/** A step has one end in the log. */
export function stepKey(stepIndex: number): string {
  return `step:${stepIndex}`
}

export function stepTriedKey(stepIndex: number, tries: number): string {
  return `step:${stepIndex}:tried:${tries}`
}

/** Different from the key of the stop for the same limit, which is `limit:<name>`. */
export function nearLimitKey(limit: string): string {
  return `limit_near:${limit}`
}

/** Of the keys of one sender to one addressee, each is one message. */
export function messageKey({
  pid,
  to,
  message,
  key,
}: Pick<Extract<Intent, { type: 'message' }>, 'pid' | 'to' | 'message' | 'key'>): string {
  return to === `process:${pid}` ? `message:from:${message.from}:${key}` : `message:to:${to}:${key}`
}

/** The replay key under which an event would make this intent a repetition; null if it has none. */
export function replayKeyOf(intent: Intent): string | null {
  switch (intent.type) {
    case 'end':
    case 'append':
    case 'stop':
      return intent.replayKey
    case 'match':
      return `watch:${intent.match.watch}:${intent.match.offset}`
    case 'signal':
      return `signal:${intent.name}:${intent.id}`
    case 'message':
      return messageKey(intent)
    case 'enter_wait':
    case 'leave_wait':
    case 'answer':
      return waitLeftKey(intent.wait)
    case 'end_step':
      return stepKey(intent.step.stepIndex)
    case 'agent_request':
      return requestKey(intent.request)
    case 'agent_act':
      return actKey(intent.act)
    case 'near_limit':
      return nearLimitKey(intent.near.limit)
    case 'retry_step':
      return stepTriedKey(intent.step.stepIndex, intent.step.tries)
    default:
      return null
  }
}

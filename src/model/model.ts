import type { CallAnswer } from '../core/model/answer.ts'
import type { ModelName, ModelRequest } from '../core/model/prompt.ts'

/** A model of a provider, a script or a recording. One call is one request; tools are executed by the caller. */
export interface Model extends ModelName {
  /** Never throws: every end is an answer. It makes no retries: `nextStep` of core/model decides about them. */
  call(request: ModelRequest, options?: CallOptions): Promise<CallAnswer>
}

export interface CallOptions {
  readonly abortSignal?: AbortSignal
  /** Output as it arrives, for people who watch. The answer has all of it again. */
  readonly onFragment?: (fragment: Fragment) => void
  /** Called when the call has to wait before it is sent. */
  readonly onWait?: (wait: CallWait) => void
}

/** `part` is the index of the part in the answer, counting parts that a cut answer leaves out. */
export type Fragment =
  /** The first sign of output; once, before all others. */
  | { readonly type: 'begun' }
  | { readonly type: 'text'; readonly part: number; readonly text: string }
  | { readonly type: 'thinking'; readonly part: number; readonly text: string }
  | {
      readonly type: 'tool_arguments'
      readonly part: number
      readonly callId: string
      readonly tool: string
      /** A piece of JSON; empty when the call begins. */
      readonly text: string
    }

export type CallWait =
  /** All slots of this provider and key are taken. */
  | { readonly type: 'concurrency'; readonly ahead: number }
  /** The provider asked for a pause. */
  | { readonly type: 'pause'; readonly until: number }

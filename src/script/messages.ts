import type { ScriptLimits } from '../core/script/limits.ts'

/** What a worker thread needs to begin. */
export interface VmData {
  /** The program of the VM. */
  readonly program: Uint8Array<ArrayBuffer>
  readonly limits: Pick<ScriptLimits, 'memoryBytes' | 'computeMs'>
}

/** `time`: what the script sees as the present time, in milliseconds. */
export type ToVm =
  | { readonly type: 'begin'; readonly source: string; readonly args: string; readonly time: number }
  | { readonly type: 'restore'; readonly state: Uint8Array; readonly time: number }
  | { readonly type: 'answer'; readonly answer: CallAnswer; readonly time: number }
  | { readonly type: 'snapshot' }

export type FromVm =
  /** It has loaded its program, and takes messages. */
  | { readonly type: 'ready' }
  | Stretch
  /** Null: the state is too large. */
  | { readonly type: 'snapshot'; readonly state: Uint8Array | null }

/** How a stretch of computing ended. */
export type Stretch =
  /** It waits for calls. These are new. */
  | { readonly type: 'waiting'; readonly calls: readonly ScriptCall[] }
  | { readonly type: 'returned'; readonly value: string; readonly printed: string }
  | { readonly type: 'failed'; readonly reason: string; readonly printed: string }

/** One call of `reeve.<tool>(input)`. */
export interface ScriptCall {
  /** From 1, in the order in which the script made them. */
  readonly n: number
  readonly tool: string
  /** JSON text. */
  readonly input: string
}

/** What a call returned. `json`: JSON text of its value, or of the message of its error. */
export interface CallAnswer {
  readonly n: number
  readonly isError: boolean
  readonly json: string
}

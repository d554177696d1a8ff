import type { Json, JsonObject } from '../json/json.ts'

export const HOOK_EVENTS = [
  'session_start',
  'turn_start',
  'before_tool',
  'after_tool',
  'turn_end',
  'session_end',
] as const
export type HookEvent = (typeof HOOK_EVENTS)[number]

/** A command that runs at this event of an agent, as a process below it. */
export type Hook = {
  readonly event: HookEvent
  /** Of a tool: the names that it is for; all if they are left out. */
  readonly tools?: readonly string[]
  /** A shell line. It reads the event as JSON from its standard input. */
  readonly run: string
  readonly timeoutMs?: number
}

export const DEFAULT_HOOK_MS = 60_000
export const MAX_HOOK_MS = 600_000
/** Hooks of one image or file. */
export const MAX_HOOKS = 32
/** The exit code by which a hook before a tool blocks the call. */
const BLOCKING_EXIT = 2
/** What a hook may print. */
export const MAX_HOOK_OUTPUT_BYTES = 1024 * 1024
/** The end of its output that a model or the session log gets. */
export const MAX_HOOK_CHARS = 4 * 1024

export function hooksAt(hooks: readonly Hook[], event: HookEvent, tool?: string): readonly Hook[] {
  return hooks.filter(
    (hook) => hook.event === event && (tool === undefined || hook.tools?.includes(tool) !== false),
  )
}

/** The hooks of a spec, which its schema has checked. */
export function hooksIn(hooks: Json | undefined): readonly Hook[] {
  return Array.isArray(hooks) ? (hooks as readonly Hook[]) : []
}

export type HookEnd =
  | { readonly type: 'passed' | 'blocked'; readonly text: string }
  | { readonly type: 'failed'; readonly message: string }

/** What the end of a hook means. Only a hook before a tool can block something; every other trouble blocks nothing. */
export function hookEnd(
  { event, run }: Hook,
  outcome: { readonly status: string; readonly exitCode: number | null; readonly reason: string | null },
  output: string,
): HookEnd {
  const text = output.trim().slice(-MAX_HOOK_CHARS).toWellFormed()
  if (outcome.status === 'completed') return { type: 'passed', text }
  if (event === 'before_tool' && outcome.exitCode === BLOCKING_EXIT)
    return { type: 'blocked', text: text === '' ? 'It gave no reason.' : text }
  // A command that was ended for a reason has the exit code of its end, which says less.
  const how = outcome.reason ?? (outcome.exitCode === null ? outcome.status : `exit code ${outcome.exitCode}`)
  return {
    type: 'failed',
    message: `The hook ${JSON.stringify(run)} of ${event} failed: ${how}.${text === '' ? '' : ` ${text}`}`,
  }
}

/** Names one call of a hook: the same place and the same command are the same process, also after a crash. */
export function hookKey({ event }: Hook, place: string, mark: string): string {
  return `hook:${event}:${place}:${mark}`
}

export interface HookPlace {
  readonly event: HookEvent
  /** Where it is in the session: the turn, or the turn, the model call and the index of a tool call. */
  readonly place: string
  readonly turn: number
  readonly tool?: string
  /** What the hook reads, besides the event and the agent. */
  readonly facts: JsonObject
}

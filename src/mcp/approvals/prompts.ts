import {
  CLIENT_CAPABILITIES_META_KEY,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { ProcessRecord } from '../../core/process/record.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import type { ClientSession } from '../session.ts'

/** A process that waits for an approval. */
export interface Waiting {
  readonly pid: string
  readonly approval: string
  /** The last event before the answer. */
  readonly revision: number
}

/** The call in which a prompt is made. */
export interface PromptCall {
  readonly ctx: ServerContext
  readonly session: ClientSession
}

/** A call that waits for a process. */
export interface WaitingCall extends PromptCall {
  readonly acting: ReeveVerbs
  /** How long the call may wait. */
  readonly waitMs: number
}

/** Asks the person who sits at an agent's client. The approval stays pending for all other people until the first answer. */
export interface Prompts {
  /** After a process was started, or shown. It delays nothing. */
  afterStart(waiting: Waiting, call: PromptCall): void
  /** Before a call waits for the process. In the modern era it throws the question, and the client calls again with the answer. */
  beforeWait(waiting: Waiting, call: WaitingCall): Promise<void>
  /** Takes the answers that the client sends with a repeated call. */
  takeAnswers(call: PromptCall): Promise<TakenAnswers>
}

export interface TakenAnswers {
  /** The processes that they are about: this call was made before. */
  readonly pids: readonly string[]
  /** What the model must know about them. */
  readonly notes: readonly string[]
}

export const NONE_TAKEN: TakenAnswers = { pids: [], notes: [] }

/** The approval that a process waits for, if it does. */
export function waitingIn({ pid, gate, revision, outcome }: ProcessRecord): Waiting | null {
  return gate?.state === 'pending' && outcome === null ? { pid, approval: gate.approval, revision } : null
}

/** Whether the client can show a form to its user. */
export function canElicit(server: McpServer, { mcpReq }: ServerContext): boolean {
  const inEnvelope: unknown = Object.entries(mcpReq.envelope ?? {}).find(
    ([key]) => key === CLIENT_CAPABILITIES_META_KEY,
  )?.[1]
  const declared: unknown = mcpReq.envelope === undefined ? server.server.getClientCapabilities() : inEnvelope
  const { elicitation } = Object(declared) as { readonly elicitation?: unknown }
  if (elicitation === undefined || elicitation === null) return false
  // Without modes it is a client of the version that had forms only.
  return Object.keys(Object(elicitation)).length === 0 || Object(elicitation).form !== undefined
}

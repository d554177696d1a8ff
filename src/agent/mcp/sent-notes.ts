import { randomUUID } from 'node:crypto'
import { ReeveError } from '../../core/errors.ts'
import { asJson, objectOf } from '../../core/json/json.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import type { RpcId } from '../kept-rpc/rpc-message.ts'

/**
 * A note in the process of a call, made before a message is written to its server: a named signal without a waiter. Its position in the
 * feed numbers the write, so that the next kernel writes the same message under the same number, and so not again.
 */
export interface SentNote {
  /** The pid of the call. */
  readonly call: string
  /** The pid of the server. */
  readonly server: string
  readonly position: number
}

export interface RequestNote extends SentNote {
  /** Which request of the call it is, from 0: a call may be sent again with answers of a person. */
  readonly round: number
}

interface ReplyNote extends SentNote {
  /** The id of the question of the server. */
  readonly question: RpcId
}

export interface Notes {
  readonly requests: readonly RequestNote[]
  readonly replies: readonly ReplyNote[]
}

const REQUEST = 'mcp_request'
const REPLY = 'mcp_reply'
/** A call has few events. */
const MAX_EVENTS = 1_000

export type NoteVerbs = Pick<ReeveVerbs, 'events' | 'send'>

export async function sentNotes(verbs: NoteVerbs, call: string): Promise<Notes> {
  const { events } = await verbs.events({ pid: call, limit: MAX_EVENTS })
  const requests: RequestNote[] = []
  const replies: ReplyNote[] = []
  for (const { type, payload, position } of events) {
    const { server, round, question } = objectOf(objectOf(asJson(payload))['value'])
    if (typeof server !== 'string') continue
    if (type === `signal.${REQUEST}` && typeof round === 'number')
      requests.push({ call, server, round, position })
    if (type === `signal.${REPLY}` && (typeof question === 'string' || typeof question === 'number'))
      replies.push({ call, server, question, position })
  }
  return { requests, replies }
}

export async function noteRequest(
  verbs: NoteVerbs,
  call: string,
  { server, round }: Pick<RequestNote, 'server' | 'round'>,
): Promise<RequestNote> {
  await verbs.send({ pid: call, name: REQUEST, id: `${server}:${round}`, value: { server, round } })
  const { requests } = await sentNotes(verbs, call)
  const note = requests.find((one) => one.server === server && one.round === round)
  if (note === undefined) throw new Error(`${call} has no note of its request to ${server}`)
  return note
}

/** Undefined if the call takes no note any more: it has ended, or was asked very often. */
export async function noteReply(
  verbs: NoteVerbs,
  call: string,
  { server, question }: Pick<ReplyNote, 'server' | 'question'>,
): Promise<ReplyNote | undefined> {
  try {
    await verbs.send({ pid: call, name: REPLY, id: randomUUID(), value: { server, question } })
  } catch (error) {
    if (error instanceof ReeveError && FULL.includes(error.code)) return undefined
    throw error
  }
  const { replies } = await sentNotes(verbs, call)
  return replies.findLast((one) => one.server === server && one.question === question)
}

const FULL: readonly string[] = ['already_ended', 'signals_full', 'payload_too_large']

import type { ReeveVerbs } from '../../verbs/reeve.ts'
import { isJsonObject } from '../kept-rpc/rpc-message.ts'

/**
 * A note in the process of a call, made before its request is sent: a named signal without a waiter. Its position in the
 * feed numbers the write to the server, so that the next kernel sends the same request under the same number, and so not again.
 */
export interface SentNote {
  /** The pid of the server. */
  readonly server: string
  /** Which request of the call it is, from 0: a call may be sent again with answers of a person. */
  readonly round: number
  readonly position: number
}

const NAME = 'mcp_request'
/** A call has few events. */
const MAX_EVENTS = 1_000

export type NoteVerbs = Pick<ReeveVerbs, 'events' | 'send'>

export async function sentNotes(verbs: NoteVerbs, call: string): Promise<readonly SentNote[]> {
  const { events } = await verbs.events({ pid: call, limit: MAX_EVENTS })
  return events.flatMap((event) => {
    if (event.type !== `signal.${NAME}` || !isJsonObject(event.payload)) return []
    const { value } = event.payload
    if (!isJsonObject(value)) return []
    const { server, round } = value
    return typeof server === 'string' && typeof round === 'number'
      ? [{ server, round, position: event.position }]
      : []
  })
}

export async function noteRequest(
  verbs: NoteVerbs,
  call: string,
  { server, round }: Omit<SentNote, 'position'>,
): Promise<SentNote> {
  await verbs.send({ pid: call, name: NAME, id: `${server}:${round}`, value: { server, round } })
  const note = (await sentNotes(verbs, call)).find((one) => one.server === server && one.round === round)
  if (note === undefined) throw new Error(`${call} has no note of its request to ${server}`)
  return note
}

import type { Actor } from '../process/record.ts'

/** A person with a name. */
export type Person = Extract<Actor, `human:${string}`>

/** `host` is no name: `human:host` is the inbox of the user. */
export const PERSON_NAME = /^(?!host$)[\p{L}\p{N}_][\p{L}\p{N}._@+-]{0,63}$/u

/** Who is behind the calls of a client. */
export interface Seat {
  /**
   * The actor that answers and changes rules in place of the host: a person, or the host itself in a program that embeds a
   * kernel. Null: no person is known, and nothing is answered.
   */
  readonly person: Person | 'host' | null
  /** The person sits at the client of an agent, and may be asked there. */
  readonly approver: boolean
  /** The client may be a program that Reeve started, which changes no rules. */
  readonly mayBeProgram?: boolean
  /** The client of an agent through which the person answers. */
  readonly through?: AgentClient
}

/** The client of an agent that passes on the answers of a person. */
export interface AgentClient {
  /** The sessions in which its model acts: ids, or beginnings of ids that end with `*`. */
  readonly sessions: readonly string[]
  /** The person filled in a form that the client showed. If not, the model of the client answers for the person. */
  readonly elicited: boolean
}

/** The program that embeds a kernel is its operator. */
export const EMBEDDING_PROGRAM: Seat = { person: 'host', approver: false }

/** The person behind the calls of an actor, if one is known. */
export function personBehind(actor: Actor, { person }: Pick<Seat, 'person'>): Person | null {
  if (isPerson(actor)) return actor
  return person === 'host' ? null : person
}

function isPerson(actor: Actor): actor is Person {
  return actor.startsWith('human:')
}

/** The actor that answers and changes rules when `actor` calls; null if no such person is known. */
export function answererOf(actor: Actor, { person }: Pick<Seat, 'person'>): Actor | null {
  return actor === 'host' ? person : actor
}

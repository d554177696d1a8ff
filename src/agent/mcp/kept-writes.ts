import { isQuestion } from '../../core/approval/question.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import type { RpcId } from '../kept-rpc/rpc-message.ts'
import { isTakenOver } from '../kept-rpc/taken-over.ts'
import { type NoteVerbs, noteReply, type SentNote, sentNotes } from './sent-notes.ts'

/** The number of a write is that of its note; numbers below are those of the handshake. */
const FIRST_SEQ = 10
/** Calls that may have a note of a server. */
const MAX_CALLS = 1_000
/** Ended calls whose notes are read: a question may outlive its call while a call beside it goes on. */
const MAX_ENDED = 20
/** How long new writes wait for the last one of an earlier kernel. */
const REPEAT_MS = 10_000
/** A longer id of a question is not noted. */
const MAX_ID_CHARS = 200

export type WriteVerbs = NoteVerbs & Pick<ReeveVerbs, 'list' | 'wait' | 'waitFor'>

export function seqOf({ position }: SentNote): number {
  return FIRST_SEQ + position
}

/**
 * The order of the numbered writes to one kept server. A keeper writes no number that is lower than one before. So the last write that an
 * earlier kernel noted, which it may not have made, is repeated before a new one; all others were made.
 */
export class KeptWrites {
  readonly #verbs: WriteVerbs
  readonly #agent: string
  readonly #server: string
  readonly #replies: ReadonlyMap<RpcId, SentNote>
  readonly #lastNote: SentNote | undefined
  readonly #repeated = Promise.withResolvers<void>()
  #last: Promise<unknown>

  private constructor(
    verbs: WriteVerbs,
    agent: string,
    server: string,
    {
      replies,
      last,
    }: { readonly replies: ReadonlyMap<RpcId, SentNote>; readonly last: SentNote | undefined },
  ) {
    this.#verbs = verbs
    this.#agent = agent
    this.#server = server
    this.#replies = replies
    this.#lastNote = last
    this.#last = last === undefined ? Promise.resolve() : this.#untilRepeated(last)
  }

  static toNew(verbs: WriteVerbs, agent: string, server: string): KeptWrites {
    return new KeptWrites(verbs, agent, server, { replies: new Map(), last: undefined })
  }

  /** Reads what an earlier kernel noted of this server. */
  static async toAdopted(verbs: WriteVerbs, agent: string, server: string): Promise<KeptWrites> {
    const live = await callsOf(verbs, agent)
    const filter = { parent: agent, kind: 'tool' as const, status: 'any' as const }
    const { processes } = await verbs.list({ filter, newestFirst: true, limit: MAX_ENDED })
    const calls = new Set([...live, ...processes.map(({ record }) => record.pid)])
    const notes = await Promise.all([...calls].map((call) => sentNotes(verbs, call)))
    const replies = notes.flatMap((note) => note.replies).filter((note) => note.server === server)
    const requests = notes.flatMap((note) => note.requests).filter((note) => note.server === server)
    const [last] = [...requests, ...replies].toSorted((a, b) => b.position - a.position)
    return new KeptWrites(verbs, agent, server, {
      replies: new Map(replies.map((note) => [note.question, note])),
      // The message of an ended call is not needed any more.
      last: last !== undefined && live.includes(last.call) ? last : undefined,
    })
  }

  /** Runs one task after the other: each notes its message and writes it. */
  next<Value>(task: () => Promise<Value>): Promise<Value> {
    const done = this.#last.then(task)
    this.#last = done.catch(() => undefined)
    return done
  }

  /** Repeats the write of a note by an earlier kernel, unless it was made. Another keeper does not know which were made, and is asked for none. */
  async repeat(note: SentNote, write: (seq: number) => Promise<void>): Promise<void> {
    if (note.position !== this.#lastNote?.position) return
    try {
      if (!(await isTakenOver(this.#verbs, this.#server, note.position))) await write(seqOf(note))
    } finally {
      this.#repeated.resolve()
    }
  }

  /** Writes the reply to a question of the server, once: the next kernel reads the same question again. */
  async reply(question: RpcId, write: (seq?: number) => Promise<void>): Promise<void> {
    const earlier = this.#replies.get(question)
    if (earlier !== undefined) return this.repeat(earlier, write)
    await this.next(async () => {
      const note = String(question).length > MAX_ID_CHARS ? undefined : await this.#noteReply(question)
      await write(note === undefined ? undefined : seqOf(note))
    })
  }

  /** In the oldest call that still runs: it is read by each kernel that reads the question again. */
  async #noteReply(question: RpcId): Promise<SentNote | undefined> {
    for (const call of await callsOf(this.#verbs, this.#agent)) {
      const note = await noteReply(this.#verbs, call, { server: this.#server, question })
      if (note !== undefined) return note
    }
    return undefined
  }

  /** Or until its call has ended. */
  async #untilRepeated({ call }: SentNote): Promise<void> {
    const over = new AbortController()
    const ended = this.#verbs.wait({ pid: call, timeoutMs: REPEAT_MS }, { signal: over.signal })
    await Promise.race([this.#repeated.promise, ended]).catch(() => undefined)
    over.abort()
  }
}

/** The calls of an agent that run, the oldest first. Questions to people are no calls. */
async function callsOf(verbs: Pick<ReeveVerbs, 'list'>, agent: string): Promise<readonly string[]> {
  const { processes } = await verbs.list({ filter: { parent: agent, kind: 'tool' }, limit: MAX_CALLS })
  return processes.filter(({ record }) => !isQuestion(record)).map(({ record }) => record.pid)
}

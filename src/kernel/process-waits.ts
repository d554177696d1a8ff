import type { Json } from '../core/json/json.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { WaitRef } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { type Answered, answerByKey, awaitAnswer, keyOf } from './await-answer.ts'
import type { Edges } from './edges.ts'
import type { Work } from './executor.ts'
import type { Feed } from './feed.ts'
import { type Waited, type WaitOptions, waitForEnd, waitForEvent } from './wait.ts'

/** Waits for processes, by callers and by handlers, and the answers that end the waits of handlers. */
export class ProcessWaits {
  readonly #edges: Edges
  readonly #feed: Feed

  constructor(edges: Edges, feed: Feed) {
    this.#edges = edges
    this.#feed = feed
  }

  forEnd(pid: Pid, options: WaitOptions): Promise<Waited<ProcessRow>> {
    return waitForEnd(this.#edges, this.#feed, pid, options)
  }

  forEvent(
    pid: Pid,
    after: number,
    fits: (event: StoredEvent) => boolean,
    options: WaitOptions,
  ): Promise<Waited<StoredEvent | null>> {
    return waitForEvent(this.#edges, this.#feed, pid, after, fits, options)
  }

  /** Waits until the program has started or the process has ended, at most `timeoutMs`. Answers with the current record. */
  async untilBegun(record: ProcessRecord, timeoutMs: number): Promise<ProcessRecord> {
    const { pid, revision } = record
    const begun = ({ type }: StoredEvent) => type === 'program_started'
    await this.forEvent(pid, revision, begun, { timeoutMs })
    return (await this.#edges.store.ask({ ask: 'process', pid }))?.record ?? record
  }

  /** A handler's own wait, for a signal or a timer. */
  forAnswer(work: Work, wait: WaitRef, until: number | null): Promise<Answered> {
    return awaitAnswer(this.#edges, this.#feed, work, wait, until)
  }

  /** The one-shot key that answers this wait. */
  keyOf(pid: Pid, wait: WaitRef): Promise<string> {
    return keyOf(this.#edges, pid, wait)
  }

  answer(actor: Actor, key: string, value: Json): Promise<'accepted' | 'already_resolved' | 'unknown'> {
    return answerByKey(this.#edges, actor, key, value)
  }
}

import type { Change } from '../core/change.ts'
import type { Proof } from '../core/lease/holder.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { AnswerTo, Question } from './questions.ts'

/**
 * Everything Reeve needs from a database: answers to questions, writes that are decided on such answers, and notifications of
 * commits. A store keeps facts, and compares the facts that a write was decided on. It contains no other rules.
 */
export interface Store {
  /** The durability that `write` guarantees when it resolves. */
  readonly durability: Durability

  /** Answers from committed data. */
  ask<Q extends Question>(question: Q): Promise<AnswerTo<Q>>

  /**
   * Runs a plan and commits its changes: all of them or none, decided on facts that still hold at the commit.
   * Resolves after the commit, with the plan's answer. Plans that arrive in one turn of the loop are committed together;
   * each sees the changes of the plans before it. A plan may run more than once, so it must be pure.
   */
  write<Answer>(plan: Plan<Answer>): Promise<Answer>

  /** Calls the listener after every commit with events. For a commit of another OS process it is a nudge: read the feed. */
  onCommit(listener: (commit: Commit) => void): () => void

  /**
   * Returns some free space to the file system, if the store does not do so by itself. `more`: call it again, after other
   * work of the loop.
   */
  releaseSpace?(): Promise<'more' | 'done'>

  /** Locks that prove on one machine whether a holder is alive; absent if the store has none. */
  readonly locks?: HolderLocks

  readonly blobs: Blobs

  close(): Promise<void>
}

/**
 * Content under its hash. A process refers to a blob by a change of it; a blob without a reference is swept. Output of commands
 * is in output logs alone, and never copied here.
 */
export interface Blobs {
  /**
   * Call it before the write that refers to the blob. If the blob is there already, its age begins again. The hash is the
   * SHA-256 of the bytes, as hex. The bytes must not change before it resolves.
   */
  put(hash: string, bytes: Uint8Array): Promise<void>
  /** Null if there is none. */
  get(hash: string): Promise<Uint8Array | null>
  /** Deletes the blobs that no process refers to and that were put at least so long ago by the store's clock. Returns how many. */
  sweep(ageMs: number): Promise<number>
}

/** Locks that the operating system frees when the process that holds them dies, even by `kill -9`. */
export interface HolderLocks {
  /** Takes the lock of this holder until the OS process dies or the returned function is called. */
  hold(holder: string): () => void
  prove(holder: string): Proof
  /** Removes the lock of a dead holder, once no kernel needs the proof any more. */
  clear(holder: string): void
}

export interface Durability {
  readonly store: string
  /** Whether an acknowledged write survives a power cut. */
  readonly survivesPowerCut: boolean
  readonly settings: Readonly<Record<string, string>>
}

/** Yields questions, then returns the changes to commit. Pure: it runs again if a fact has changed meanwhile. */
export type Plan<Answer> = () => Generator<readonly Question[], Verdict<Answer>, readonly unknown[]>

export interface Verdict<Answer> {
  readonly answer: Answer
  readonly changes: readonly Change[]
}

export interface Commit {
  /** The last position before this commit, and the last one of it. */
  readonly after: number
  readonly position: number
  /** In order; null if another OS process committed, and the feed has to be read. */
  readonly events: readonly StoredEvent[] | null
}

/** Asks one question inside a plan. */
export function* know<Q extends Question>(
  question: Q,
): Generator<readonly Question[], AnswerTo<Q>, readonly unknown[]> {
  const [answer] = yield [question]
  return answer as AnswerTo<Q>
}

/** A plan that changes nothing. */
export function unchanged<Answer>(answer: Answer): Verdict<Answer> {
  return { answer, changes: [] }
}

export type {
  Activity,
  AnswerTo,
  Changes,
  DueBy,
  EndKey,
  Page,
  PruneCandidate,
  Question,
  Questions,
  Storage,
  StoredNotice,
} from './questions.ts'
export type { Change }

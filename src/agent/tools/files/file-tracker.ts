import { BoundedMap } from '../../../base/bounded-map.ts'
import { type ChangeVerdict, judgeChange } from '../../../core/files/judge-change.ts'
import type { Pid } from '../../../core/process/pid.ts'

/** Of each agent. An older read is forgotten, and the file must be read again before it is changed. */
const MAX_KNOWN_FILES = 10_000
const MAX_CHANGES = 10_000

/** What earlier programs have stored about files, by canonical path. */
export interface FileRecords {
  /** The files that the agent read or wrote, each with the hash of the content that it saw last. */
  knownTo(agent: Pid): Promise<ReadonlyMap<string, string>>
  /** The agent whose tool wrote this content. */
  writerOf(path: string, hash: string): Promise<Pid | undefined>
}

/**
 * The files that the agents of one program have read and changed, by canonical path. It is shared by all of them, so that a stale
 * write is refused and names the agent that wrote since. What earlier programs have seen comes from the records.
 */
export class FileTracker {
  readonly #records: FileRecords
  readonly #known = new Map<Pid, Map<string, string>>()
  /** Agents whose records are in `#known`. */
  readonly #loaded = new Map<Pid, Promise<void>>()
  readonly #changes = new BoundedMap<string, { readonly by: Pid; readonly hash: string | null }>(MAX_CHANGES)
  readonly #locks = new Map<string, Promise<unknown>>()

  constructor(records: FileRecords) {
    this.#records = records
  }

  /** The agent has seen this content. */
  read(agent: Pid, path: string, hash: string): void {
    this.#knownTo(agent).set(path, hash)
  }

  /** The agent's tool has written this content. */
  changed(agent: Pid, path: string, hash: string): void {
    this.#knownTo(agent).set(path, hash)
    this.#changes.set(path, { by: agent, hash })
  }

  /** Whether the agent may change the file, whose content has this hash now; null if there is no file. */
  async judge(agent: Pid, path: string, current: string | null): Promise<ChangeVerdict> {
    await this.#load(agent)
    const known = this.#knownTo(agent).get(path)
    const verdict = judgeChange({ known, current, lastChange: this.#changes.get(path) })
    if (verdict.type !== 'changed' || verdict.by !== null || current === null) return verdict
    const by = await this.#records.writerOf(path, current)
    return by === undefined || by === agent ? verdict : { type: 'changed', by }
  }

  /** The agent has ended. Its changes stay known: other agents are told of them. */
  forget(agent: Pid): void {
    this.#known.delete(agent)
    this.#loaded.delete(agent)
  }

  /** Runs `change` while no other change of this file runs here: between the check and the write nothing may come. */
  async exclusively<Answer>(path: string, change: () => Promise<Answer>): Promise<Answer> {
    const before = this.#locks.get(path)
    const running = (async () => {
      await before?.catch(() => undefined)
      return change()
    })()
    this.#locks.set(path, running)
    try {
      return await running
    } finally {
      if (this.#locks.get(path) === running) this.#locks.delete(path)
    }
  }

  #load(agent: Pid): Promise<void> {
    const loaded =
      this.#loaded.get(agent) ?? this.#records.knownTo(agent).then((files) => this.#add(agent, files))
    this.#loaded.set(agent, loaded)
    loaded.catch(() => this.#loaded.delete(agent))
    return loaded
  }

  /** What this program has seen of a file is newer. */
  #add(agent: Pid, files: ReadonlyMap<string, string>): void {
    const known = this.#knownTo(agent)
    for (const [path, hash] of files) if (!known.has(path)) known.set(path, hash)
  }

  #knownTo(agent: Pid): Map<string, string> {
    const known = this.#known.get(agent) ?? new BoundedMap<string, string>(MAX_KNOWN_FILES)
    this.#known.set(agent, known)
    return known
  }
}

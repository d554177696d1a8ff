import { BoundedMap } from '../../../base/bounded-map.ts'
import { type ChangeVerdict, judgeChange } from '../../../core/files/judge-change.ts'
import type { Pid } from '../../../core/process/pid.ts'

/** Of each agent. An older read is forgotten, and the file must be read again before it is changed. */
const MAX_KNOWN_FILES = 10_000
const MAX_CHANGES = 10_000

/**
 * The files that the agents of one program have read and changed, by canonical path. It is shared by all of them, so that a stale
 * write is refused and names the agent that wrote since. Without an entry, after a restart, a file counts as not read.
 */
export class FileTracker {
  readonly #known = new Map<Pid, Map<string, string | null>>()
  readonly #changes = new BoundedMap<string, { readonly by: Pid; readonly hash: string | null }>(MAX_CHANGES)
  readonly #locks = new Map<string, Promise<unknown>>()

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
  judge(agent: Pid, path: string, current: string | null): ChangeVerdict {
    const known = this.#known.get(agent)?.get(path)
    return judgeChange({ known, current, lastChange: this.#changes.get(path) })
  }

  /** The agent has ended. Its changes stay known: other agents are told of them. */
  forget(agent: Pid): void {
    this.#known.delete(agent)
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

  #knownTo(agent: Pid): Map<string, string | null> {
    const known = this.#known.get(agent) ?? new BoundedMap<string, string | null>(MAX_KNOWN_FILES)
    this.#known.set(agent, known)
    return known
  }
}

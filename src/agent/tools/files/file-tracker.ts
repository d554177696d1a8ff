import { BoundedMap } from '../../../base/bounded-map.ts'
import { type ChangeVerdict, judgeChange } from '../../../core/files/judge-change.ts'
import type { Pid } from '../../../core/process/pid.ts'

/** Of each agent. An older read is forgotten, and the file must be read again before it is changed. */
const MAX_KNOWN_FILES = 10_000
const MAX_CHANGES = 10_000

/** The content of a file that an agent has seen: by reading it, by writing it, or in an input. */
export interface SeenFile {
  /** Canonical. */
  readonly path: string
  readonly hash: string
  readonly at: number
}

/** What earlier programs have stored about files. */
export interface FileRecords {
  /** The files that the agent read or wrote, each as it saw it last. */
  seenBy(agent: Pid): Promise<readonly SeenFile[]>
  /** The agent whose tool wrote this content. */
  writerOf(path: string, hash: string): Promise<Pid | undefined>
}

/**
 * The files that the agents of one program have read and changed, by canonical path. It is shared by all of them, so that a stale
 * write is refused and names the agent that wrote since. What earlier programs have seen comes from the records.
 */
export class FileTracker {
  readonly #records: FileRecords
  readonly #now: () => number
  readonly #known = new Map<Pid, Map<string, SeenFile>>()
  /** Agents whose records are in `#known`. */
  readonly #loaded = new Map<Pid, Promise<void>>()
  readonly #changes = new BoundedMap<string, { readonly by: Pid; readonly hash: string | null }>(MAX_CHANGES)
  readonly #locks = new Map<string, Promise<unknown>>()

  constructor(records: FileRecords, now: () => number) {
    this.#records = records
    this.#now = now
  }

  /** The agent has seen this content. */
  read(agent: Pid, path: string, hash: string): void {
    this.seen(agent, [{ path, hash, at: this.#now() }])
  }

  /** The agent has seen these contents. What it saw last of a file counts. */
  seen(agent: Pid, files: readonly SeenFile[]): void {
    const known = this.#knownTo(agent)
    for (const file of files) if (file.at >= (known.get(file.path)?.at ?? 0)) known.set(file.path, file)
  }

  /** There is no such file any more: the agent may make it. */
  async gone(agent: Pid, path: string): Promise<void> {
    await this.#load(agent)
    this.#knownTo(agent).delete(path)
  }

  /** The agent's tool has written this content. */
  changed(agent: Pid, path: string, hash: string): void {
    this.read(agent, path, hash)
    this.#changes.set(path, { by: agent, hash })
  }

  /** The file has its earlier content again, because the session of the agent was rewound. That the agent has seen it is not known. */
  putBack(agent: Pid, path: string, hash: string | null): void {
    this.#changes.set(path, { by: agent, hash })
  }

  /** Whether the agent may change the file, whose content has this hash now; null if there is no file. */
  async judge(agent: Pid, path: string, current: string | null): Promise<ChangeVerdict> {
    await this.#load(agent)
    const known = this.#knownTo(agent).get(path)?.hash
    const verdict = judgeChange({ known, current, lastChange: this.#changes.get(path) })
    if (verdict.type !== 'changed' || verdict.by !== null || current === null) return verdict
    const by = await this.#records.writerOf(path, current)
    return by === undefined || by === agent ? verdict : { type: 'changed', by }
  }

  /** The agent has ended, or its session was rewound. Its changes stay known: other agents are told of them. */
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
      this.#loaded.get(agent) ?? this.#records.seenBy(agent).then((files) => this.seen(agent, files))
    this.#loaded.set(agent, loaded)
    loaded.catch(() => this.#loaded.delete(agent))
    return loaded
  }

  #knownTo(agent: Pid): Map<string, SeenFile> {
    const known = this.#known.get(agent) ?? new BoundedMap<string, SeenFile>(MAX_KNOWN_FILES)
    this.#known.set(agent, known)
    return known
  }
}

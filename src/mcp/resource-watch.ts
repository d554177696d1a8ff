import type { ReeveVerbs } from '../verbs/reeve.ts'
import { watchInbox } from './inbox-watch.ts'
import { resourceRef } from './resource-uris.ts'

const POLL_MS = 500
const MAX_URIS = 100
const MAX_PROCESSES = 1_000

/** A session, and the verbs in its name. */
export interface SessionAccess {
  readonly acting: ReeveVerbs
  readonly session: string
}

/** A text that changes whenever the resource does. */
type Fingerprint = string

/**
 * Notifies about changed resources. It polls, and only while there is a subscription: logs grow without an event, and
 * polling survives a restarted daemon. For the inbox it waits instead.
 */
export class ResourceWatch {
  readonly #access: () => Promise<SessionAccess>
  readonly #tell: (uri: string) => void
  readonly #seen = new Map<
    string,
    { count: number; fingerprint: Fingerprint | null; readonly stop: AbortController }
  >()
  #timer: NodeJS.Timeout | undefined
  #isChecking = false

  constructor(access: () => Promise<SessionAccess>, tell: (uri: string) => void) {
    this.#access = access
    this.#tell = tell
  }

  /** Returns whether the URI can be watched. Resolves when every later change will be reported. */
  async add(uri: string): Promise<boolean> {
    const known = this.#seen.get(uri)
    if (known !== undefined) {
      known.count++
      return true
    }
    if (resourceRef(uri) === null || this.#seen.size >= MAX_URIS) return false
    const stop = new AbortController()
    this.#seen.set(uri, { count: 1, fingerprint: null, stop })
    if (resourceRef(uri)?.type === 'inbox') {
      await watchInbox(this.#access, () => this.#tell(uri), stop.signal)
      return true
    }
    this.#timer ??= setInterval(() => void this.#checkAll(), POLL_MS).unref()
    await this.#tryCheck(uri)
    return true
  }

  delete(uri: string): void {
    const known = this.#seen.get(uri)
    if (known === undefined || --known.count > 0) return
    known.stop.abort()
    this.#seen.delete(uri)
    if (this.#seen.size === 0) this.close()
  }

  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    for (const { stop } of this.#seen.values()) stop.abort()
    this.#seen.clear()
  }

  async #checkAll(): Promise<void> {
    if (this.#isChecking) return
    this.#isChecking = true
    for (const uri of [...this.#seen.keys()])
      if (resourceRef(uri)?.type !== 'inbox') await this.#tryCheck(uri)
    this.#isChecking = false
  }

  async #tryCheck(uri: string): Promise<void> {
    try {
      await this.#check(uri)
    } catch {
      // Unreachable, or not there yet: the next poll tries again.
    }
  }

  async #check(uri: string): Promise<void> {
    const fingerprint = await fingerprintOf(await this.#access(), uri)
    const known = this.#seen.get(uri)
    if (known === undefined || known.fingerprint === fingerprint) return
    const isFirst = known.fingerprint === null
    known.fingerprint = fingerprint
    if (!isFirst) this.#tell(uri)
  }
}

async function fingerprintOf({ acting }: SessionAccess, uri: string): Promise<Fingerprint> {
  const ref = resourceRef(uri)
  switch (ref?.type) {
    case 'processes': {
      const { processes, next } = await acting.list({ limit: MAX_PROCESSES })
      return `${processes.map(({ record }) => `${record.pid} ${record.revision}`).join()} ${next}`
    }
    case 'process':
      return String((await acting.show({ pid: ref.pid })).revision)
    case 'log': {
      const { end } = await acting.output({ pid: ref.pid, offset: Number.MAX_SAFE_INTEGER, limit: 1 })
      return String(end)
    }
    default:
      return ''
  }
}

import type { ReeveVerbs } from '../verbs/reeve.ts'
import type { Operator } from './approvals/operator.ts'
import { type Feed, watchFeed } from './feed-watch.ts'
import { watchInbox } from './inbox-watch.ts'
import { type ResourceRef, resourceRef } from './resource-uris.ts'
import type { ClientSession } from './session.ts'

const POLL_MS = 500
const MAX_URIS = 100
const MAX_PROCESSES = 1_000

/** A session, and the verbs in its name. */
export interface SessionAccess {
  readonly acting: ReeveVerbs
  readonly session: string
  readonly feed: Feed
}

/** For background work. */
export async function accessOf(session: Pick<ClientSession, 'id' | 'feed'>): Promise<SessionAccess> {
  const feed = await session.feed()
  return { acting: feed.acting, session: session.id, feed }
}

/** A text that changes whenever the resource does. */
type Fingerprint = string

/**
 * Notifies about changed resources, while there is a subscription.
 *
 * | resource          | changes are found by                              |
 * | inbox             | a wait for notices                                |
 * | approvals         | the change feed                                   |
 * | a process         | the change feed                                   |
 * | processes, a log  | polling: logs grow without an event               |
 */
export class ResourceWatch {
  readonly #access: () => Promise<SessionAccess>
  readonly #tell: (uri: string) => void
  readonly #operator: Operator | undefined
  readonly #seen = new Map<
    string,
    { count: number; fingerprint: Fingerprint | null; isPolled: boolean; readonly stop: AbortController }
  >()
  #timer: NodeJS.Timeout | undefined
  #isChecking = false

  constructor(access: () => Promise<SessionAccess>, tell: (uri: string) => void, operator?: Operator) {
    this.#access = access
    this.#tell = tell
    this.#operator = operator
  }

  /** Returns whether the URI can be watched. Resolves when every later change will be reported. */
  async add(uri: string): Promise<boolean> {
    const known = this.#seen.get(uri)
    if (known !== undefined) {
      known.count++
      return true
    }
    const ref = resourceRef(uri)
    if (ref === null || this.#seen.size >= MAX_URIS) return false
    if (ref.type === 'approvals' && this.#operator === undefined) return false
    const stop = new AbortController()
    const watched = { count: 1, fingerprint: null, isPolled: false, stop }
    this.#seen.set(uri, watched)
    if (await this.#isFollowed(ref, () => this.#tell(uri), stop.signal)) return true
    watched.isPolled = true
    this.#timer ??= setInterval(() => void this.#checkAll(), POLL_MS).unref()
    await this.#tryCheck(uri)
    return true
  }

  /** Whether changes are heard without polling. */
  async #isFollowed(ref: ResourceRef, tell: () => void, signal: AbortSignal): Promise<boolean> {
    try {
      switch (ref.type) {
        case 'inbox':
          await watchInbox(this.#access, tell, signal)
          return true
        case 'approvals': {
          const { feed } = this.#operator ?? (await this.#access())
          return await watchFeed(async () => feed, { isWanted: isAboutApprovals }, tell, signal)
        }
        case 'process': {
          const open = async () => (await this.#access()).feed
          return await watchFeed(open, { pid: ref.pid, isWanted: () => true }, tell, signal)
        }
        default:
          return false
      }
    } catch {
      // Unreachable, or not there yet: polling finds it later.
      return false
    }
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
    for (const [uri, { isPolled }] of [...this.#seen]) if (isPolled) await this.#tryCheck(uri)
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
    const isOfOperator = resourceRef(uri)?.type === 'approvals'
    const access = isOfOperator && this.#operator !== undefined ? this.#operator : await this.#access()
    const fingerprint = await fingerprintOf(access, uri)
    const known = this.#seen.get(uri)
    if (known === undefined || known.fingerprint === fingerprint) return
    const isFirst = known.fingerprint === null
    known.fingerprint = fingerprint
    if (!isFirst) this.#tell(uri)
  }
}

/** An approval is added and settled with an event of its process. Its end withdraws it. */
function isAboutApprovals({ type, payload }: { readonly type: string; readonly payload: unknown }): boolean {
  if (type === 'ended') return Object(payload).startedAt === null
  return type === 'approval_requested' || type === 'approval_settled'
}

async function fingerprintOf({ acting }: Pick<SessionAccess, 'acting'>, uri: string): Promise<Fingerprint> {
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
    case 'approvals': {
      const { approvals } = await acting.approvals({ limit: MAX_PROCESSES })
      return approvals.map(({ id }) => id).join()
    }
    default:
      return ''
  }
}

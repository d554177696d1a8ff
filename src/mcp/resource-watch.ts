import type { ReeveVerbs } from '../verbs/reeve.ts'
import { watchInbox } from './inbox-watch.ts'
import { resourceRef } from './resource-uris.ts'

const LOOK_MS = 500
const MAX_URIS = 100
const MAX_PROCESSES = 1_000

/** Who looks. */
export interface Asking {
  readonly acting: ReeveVerbs
  readonly session: string
}

/** How a resource looks, in a word that changes whenever it does. */
type Look = string

/**
 * Tells when resources change. It looks now and then, and only while somebody has subscribed: logs grow without any event,
 * and a daemon that was restarted in between is simply asked again. For what comes into the inbox it waits.
 */
export class ResourceWatch {
  readonly #asking: () => Promise<Asking>
  readonly #tell: (uri: string) => void
  readonly #seen = new Map<string, { count: number; look: Look | null; readonly stop: AbortController }>()
  #timer: NodeJS.Timeout | undefined
  #looking = false

  constructor(asking: () => Promise<Asking>, tell: (uri: string) => void) {
    this.#asking = asking
    this.#tell = tell
  }

  /** Whether it is one that can be watched. Resolves when what comes from now on will be told. */
  async add(uri: string): Promise<boolean> {
    const known = this.#seen.get(uri)
    if (known !== undefined) {
      known.count++
      return true
    }
    if (resourceRef(uri) === null || this.#seen.size >= MAX_URIS) return false
    const stop = new AbortController()
    this.#seen.set(uri, { count: 1, look: null, stop })
    if (resourceRef(uri)?.type === 'inbox') {
      await watchInbox(this.#asking, () => this.#tell(uri), stop.signal)
      return true
    }
    this.#timer ??= setInterval(() => void this.#lookAtAll(), LOOK_MS).unref()
    await this.#tryLook(uri)
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

  async #lookAtAll(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    for (const uri of [...this.#seen.keys()]) if (resourceRef(uri)?.type !== 'inbox') await this.#tryLook(uri)
    this.#looking = false
  }

  async #tryLook(uri: string): Promise<void> {
    try {
      await this.#lookAt(uri)
    } catch {
      // Out of reach, or not there yet: it is looked at again in a moment.
    }
  }

  async #lookAt(uri: string): Promise<void> {
    const look = await lookAt(await this.#asking(), uri)
    const known = this.#seen.get(uri)
    if (known === undefined || known.look === look) return
    const isFirst = known.look === null
    known.look = look
    if (!isFirst) this.#tell(uri)
  }
}

async function lookAt({ acting }: Asking, uri: string): Promise<Look> {
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

import { appendFileSync } from 'node:fs'
import { isObject } from '../base/is-object.ts'
import { type NotedAnchor, thinned } from '../core/audit/anchors.ts'
import type { AnchorLog } from '../embed/anchoring.ts'
import type { HomePaths } from '../home/paths.ts'
import { readIfPresent, writeWholeFile } from '../home/write-file.ts'
import { createAuditKey, readAuditKey } from './audit-key.ts'
import type { DaemonLog } from './log.ts'

interface Line extends NotedAnchor {
  readonly store: string
}

/** About 1.2 MB. */
const MAX_LINES = 10_000

/** The anchors of the audit in the home, one JSON line each, and in the daemon's log; and its key. Only the daemon of the home writes them. */
export class AnchorFile implements AnchorLog {
  readonly #home: HomePaths
  readonly #path: string
  readonly #log: Pick<DaemonLog, 'info'>
  #lines: number | undefined

  constructor(home: HomePaths, log: Pick<DaemonLog, 'info'>) {
    this.#home = home
    this.#path = home.auditAnchors
    this.#log = log
  }

  read(store: string): NotedAnchor[] {
    return this.#read()
      .filter((line) => line.store === store)
      .map(({ store: _store, ...anchor }) => anchor)
      .sort((a, b) => a.position - b.position)
  }

  append(store: string, anchor: NotedAnchor): void {
    this.#lines ??= this.#repaired()
    if (this.#lines >= MAX_LINES) this.#lines = this.#thin()
    appendFileSync(this.#path, lineOf({ store, ...anchor }), { mode: 0o600 })
    this.#lines += 1
    const { position, hash, isStart = false } = anchor
    this.#log.info({ position, hash }, `the audit ${isStart ? 'begins after' : 'has reached'} this anchor`)
  }

  readKey(): string | null {
    return readAuditKey(this.#home)
  }

  createKey(): string {
    return createAuditKey(this.#home)
  }

  #read(): Line[] {
    return (readIfPresent(this.#path) ?? '').split('\n').flatMap(parsed)
  }

  /** A daemon that died while it wrote may have left a part of a line, which the next one would extend. */
  #repaired(): number {
    const text = readIfPresent(this.#path) ?? ''
    if (text !== '' && !text.endsWith('\n')) this.#replace(this.#read())
    return text.split('\n').length
  }

  #thin(): number {
    const byStore = Map.groupBy(this.#read(), ({ store }) => store)
    const kept = [...byStore.values()].flatMap(thinned)
    this.#replace(kept)
    return kept.length
  }

  #replace(lines: readonly Line[]): void {
    writeWholeFile(this.#path, lines.map(lineOf).join(''))
  }
}

function lineOf({ store, position, hash, isStart }: Line): string {
  return `${JSON.stringify({ store, position, hash, ...(isStart && { start: true }) })}\n`
}

function parsed(text: string): Line[] {
  try {
    const found: unknown = JSON.parse(text)
    if (!isObject(found)) return []
    const { store, position, hash, start } = found
    if (typeof store !== 'string' || typeof position !== 'number' || typeof hash !== 'string') return []
    return [{ store, position, hash, ...(start === true ? { isStart: true } : {}) }]
  } catch {
    // The last line of a file that was not written to its end.
    return []
  }
}

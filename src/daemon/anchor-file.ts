import { appendFileSync } from 'node:fs'
import { isObject } from '../base/is-object.ts'
import { thinned } from '../core/audit/anchors.ts'
import type { AuditAnchor } from '../core/audit/chain.ts'
import type { AnchorLog } from '../embed/anchoring.ts'
import type { HomePaths } from '../home/paths.ts'
import { readIfPresent, writeWholeFile } from '../home/write-file.ts'
import type { DaemonLog } from './log.ts'

interface Line extends AuditAnchor {
  readonly store: string
}

/** About 1.2 MB. */
const MAX_LINES = 10_000

/** The anchors of the audit in the home, one JSON line each, and in the daemon's log. Only the daemon of the home writes it. */
export class AnchorFile implements AnchorLog {
  readonly #path: string
  readonly #log: Pick<DaemonLog, 'info'>
  #lines: number | undefined

  constructor({ auditAnchors }: HomePaths, log: Pick<DaemonLog, 'info'>) {
    this.#path = auditAnchors
    this.#log = log
  }

  read(store: string): AuditAnchor[] {
    return this.#read()
      .filter((line) => line.store === store)
      .map(({ position, hash }) => ({ position, hash }))
      .sort((a, b) => a.position - b.position)
  }

  append(store: string, { position, hash }: AuditAnchor): void {
    this.#lines ??= this.#repaired()
    if (this.#lines >= MAX_LINES) this.#lines = this.#thin()
    appendFileSync(this.#path, lineOf({ store, position, hash }), { mode: 0o600 })
    this.#lines += 1
    this.#log.info({ position, hash }, 'the audit has reached this anchor')
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

function lineOf({ store, position, hash }: Line): string {
  return `${JSON.stringify({ store, position, hash })}\n`
}

function parsed(text: string): Line[] {
  try {
    const found: unknown = JSON.parse(text)
    if (!isObject(found)) return []
    const { store, position, hash } = found
    if (typeof store !== 'string' || typeof position !== 'number' || typeof hash !== 'string') return []
    return [{ store, position, hash }]
  } catch {
    // The last line of a file that was not written to its end.
    return []
  }
}

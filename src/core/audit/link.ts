import { isObject } from '../../base/is-object.ts'
import type { AuditLink, ChainedEntry } from './chain.ts'
import { type AuditEntry, auditText, isEntry } from './entry.ts'

/** A link before the store gives it its place. */
export interface LinkText {
  /** How many entries it holds. */
  readonly count: number
  /** The latest time of its entries. */
  readonly at: number
  readonly text: string
}

/** Bounds what verification names as changed, and what a page reads for one entry. */
const MAX_ENTRIES = 100
const MAX_CHARS = 16_384

/**
 * The links for the entries of one commit. A link of one entry has the text of that entry. In one of several, each entry after the
 * first has only the members that differ from those of the entry before it: entries of one commit often differ in their target alone.
 */
export function linkTexts(entries: readonly AuditEntry[]): LinkText[] {
  const links: LinkText[] = []
  let text = ''
  let count = 0
  let latest = 0
  let before: AuditEntry | undefined
  const close = () => links.push({ count, at: latest, text: count === 1 ? text : `[${text}]` })
  for (const entry of entries) {
    if (before === undefined || count >= MAX_ENTRIES || text.length >= MAX_CHARS) {
      if (before !== undefined) close()
      text = auditText(entry)
      count = 1
      latest = entry.at
    } else {
      text += `,${differenceText(before, entry)}`
      count += 1
      latest = Math.max(latest, entry.at)
    }
    before = entry
  }
  if (before !== undefined) close()
  return links
}

/** Members that are objects count as equal if they are the same object, which rules and masked inputs often are. */
function differenceText(before: AuditEntry, entry: AuditEntry): string {
  const { action, actor, at, decision, inputs, reason, rule, target, trace } = entry
  const isAlike =
    inputs === before.inputs &&
    rule === before.rule &&
    at === before.at &&
    action === before.action &&
    actor === before.actor &&
    decision === before.decision &&
    reason === before.reason &&
    trace === before.trace
  // Most are alike, and every allowed registration makes one.
  if (isAlike) return `{"target":${JSON.stringify(target)}}`
  // Members that are undefined are left out of the text.
  return JSON.stringify({
    action: action === before.action ? undefined : action,
    actor: actor === before.actor ? undefined : actor,
    at: at === before.at ? undefined : at,
    decision: decision === before.decision ? undefined : decision,
    inputs: inputs === before.inputs ? undefined : inputs,
    reason: reason === before.reason ? undefined : reason,
    rule: rule === before.rule ? undefined : rule,
    target: target === before.target ? undefined : target,
    trace: trace === before.trace ? undefined : trace,
  })
}

/** The entries that the text of a link holds, in order; null if the text was changed, so that it holds none. */
export function entriesIn(text: string): readonly AuditEntry[] | null {
  let found: unknown
  try {
    found = JSON.parse(text)
  } catch {
    return null
  }
  if (!Array.isArray(found)) return isEntry(found) ? [found] : null
  const entries: AuditEntry[] = []
  for (const difference of found) {
    const entry: unknown = isObject(difference) ? { ...entries.at(-1), ...difference } : difference
    if (!isEntry(entry)) return null
    entries.push(entry)
  }
  return entries.length === 0 ? null : entries
}

/** The latest time of the entries of a link, which is the time of the link. */
export function latestOf(entries: readonly AuditEntry[]): number {
  return Math.max(...entries.map(({ at }) => at))
}

/** The entries of a link, each with its own place. Of a text that holds none, it is one entry that cannot be read. */
export function entriesOf(link: AuditLink): readonly ChainedEntry[] {
  if (!link.text.startsWith('[')) return [link]
  const entries = entriesIn(link.text)
  if (entries === null) return [link]
  const first = link.position - entries.length + 1
  return entries.map((entry, index) => ({
    position: first + index,
    at: entry.at,
    text: auditText(entry),
    hash: link.hash,
  }))
}

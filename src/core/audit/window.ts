import { canonical } from '../json/canonical.ts'
import type { AuditEntry } from './entry.ts'

/** Equal denials within this time after the first are counted instead of appended. */
export const AUDIT_WINDOW_MS = 60_000

/** Counts denials that equal one in the audit, outside of the chain, so that a looping agent cannot fill the disk. */
export interface AuditWindow {
  /** The hash of the text that equal denials share: a target may be too long for a key. */
  readonly key: string
  readonly openedAt: number
  /** How many followed the first. */
  readonly repeats: number
  /** The first, which is in the chain. */
  readonly entry: AuditEntry
}

/** Equal if the same rule denied the same action of the same actor on the same target. Inputs may differ. */
export function denialText({ actor, action, target, rule }: AuditEntry): string {
  return canonical([actor, action, target, rule === null ? null : [rule.subject, rule.id]])
}

/** How many different denials of one actor are appended within the time of a window. Further ones are counted together. */
export const MAX_DENIALS = 100

/** The target of the window that counts all different denials of an actor. */
const ANY_TARGET = '*'

/** What all denials of an actor share. */
export function denierText({ actor }: AuditEntry): string {
  return canonical([actor, ANY_TARGET])
}

/** What all entries of an actor about one action share. */
export function actionText({ actor, action }: AuditEntry): string {
  return canonical([actor, ANY_TARGET, action])
}

export interface CountedDenial {
  /** Appended to the chain. */
  readonly entries: readonly AuditEntry[]
  readonly window: AuditWindow
}

/** The first denial is appended and opens a window. Equal ones are counted in it until it is over. */
export function countDenial(was: AuditWindow | null, key: string, entry: AuditEntry): CountedDenial {
  if (was !== null && !isOver(was, entry.at))
    return { entries: [], window: { ...was, repeats: was.repeats + 1 } }
  const window = { key, openedAt: entry.at, repeats: 0, entry }
  return { entries: [...(was === null ? [] : repeatedEntries(was, entry.at)), entry], window }
}

export interface CountedDenier extends CountedDenial {
  /** Too many different ones were appended, so this one is only counted. */
  readonly isFull: boolean
}

/** Counts a denial that equals none before it, so that an agent that varies its requests cannot fill the disk either. */
export function countDenier(was: AuditWindow | null, key: string, entry: AuditEntry): CountedDenier {
  if (was !== null && !isOver(was, entry.at)) {
    const window = { ...was, repeats: was.repeats + 1 }
    return { entries: [], window, isFull: beyond(window) > 0 }
  }
  const first: AuditEntry = {
    ...entry,
    target: ANY_TARGET,
    rule: null,
    reason: `More than ${MAX_DENIALS} different ${entry.decision === 'denied' ? 'denials' : 'entries'}.`,
    inputs: {},
    trace: null,
  }
  const window = { key, openedAt: entry.at, repeats: 0, entry: first }
  return { entries: was === null ? [] : repeatedEntries(was, entry.at), window, isFull: false }
}

/** How many of the counted denials are not in the chain. */
function beyond({ entry, repeats }: AuditWindow): number {
  return entry.target === ANY_TARGET ? Math.max(0, repeats + 1 - MAX_DENIALS) : repeats
}

/** A clock that was set back by more than the time of a window ends it, too: it would stay open until the clock is there again. */
export function isOver({ openedAt }: AuditWindow, at: number): boolean {
  return Math.abs(at - openedAt) >= AUDIT_WINDOW_MS
}

/** The entry with the total of a window that is over; none if nothing was repeated. */
export function repeatedEntries(window: AuditWindow, at: number): AuditEntry[] {
  const { entry, openedAt } = window
  const repeats = beyond(window)
  if (repeats === 0) return []
  const inputs = { repeats, since: openedAt }
  return [{ ...entry, at, decision: 'repeated', inputs, trace: null }]
}

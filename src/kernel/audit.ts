import { type Act, denialEntry, isDenial } from '../core/audit/denial.ts'
import type { AuditEntry } from '../core/audit/entry.ts'
import {
  AUDIT_WINDOW_MS,
  type AuditWindow,
  actionText,
  countDenial,
  countDenier,
  denialText,
  denierText,
  isOver,
  repeatedEntries,
} from '../core/audit/window.ts'
import type { Change } from '../core/change.ts'
import { RefusedError } from '../core/errors.ts'
import type { JsonObject } from '../core/json/json.ts'
import { isRefusal, type Refusal } from '../core/refusal.ts'
import { know, type Plan } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import type { PlanPart } from './plan-part.ts'

type Specs = readonly JsonObject[]

/** What a caller adds to the entries of its request. */
export interface AuditContext {
  readonly reason?: string | null
  readonly trace?: string | null
}

/**
 * The entries of one plan: its changes are committed with those of the action. After the commit, call `onAudited` of the
 * edges.
 */
export class PlannedAudit {
  readonly #hash: Edges['hash']
  readonly #entries: Extract<Change, { type: 'audit' }>[] = []
  readonly #windows = new Map<
    string,
    { readonly was: AuditWindow | null; readonly now: AuditWindow; readonly about?: Specs }
  >()

  constructor({ hash }: Pick<Edges, 'hash'>) {
    this.#hash = hash
  }

  record(...entries: readonly AuditEntry[]): void {
    this.#recordAbout([], entries)
  }

  #recordAbout(about: Specs, entries: readonly AuditEntry[]): void {
    this.#entries.push(...entries.map((entry) => ({ type: 'audit', entry, about }) as const))
  }

  /** Appends a denial, or counts it if an equal one was appended a moment ago. `about`: the specs that it is about. */
  *deny(entry: AuditEntry, about: Specs = []): PlanPart<void> {
    const key = this.#hash(denialText(entry))
    const { was, now } = yield* this.#window(key)
    if (now === null || isOver(now, entry.at)) {
      const denier = this.#hash(denierText(entry))
      const before = yield* this.#window(denier)
      const { entries, window, isFull } = countDenier(before.now, denier, entry)
      this.record(...entries)
      this.#windows.set(denier, { was: before.was, now: window })
      if (isFull) return
    }
    const { entries, window } = countDenial(now, key, entry)
    this.#recordAbout(about, entries)
    this.#windows.set(key, { was, now: window, about })
  }

  /** Appends an entry that an agent can cause as often as it likes, or counts it if there were too many a moment ago. */
  *recordSome(entry: AuditEntry): PlanPart<void> {
    const key = this.#hash(actionText(entry))
    const before = yield* this.#window(key)
    const { entries, window, isFull } = countDenier(before.now, key, entry)
    this.record(...entries, ...(isFull ? [] : [entry]))
    this.#windows.set(key, { was: before.was, now: window })
  }

  /** As it was stored, and with the denials of this plan. */
  *#window(key: string): PlanPart<{ readonly was: AuditWindow | null; readonly now: AuditWindow | null }> {
    const known = this.#windows.get(key)
    if (known !== undefined) return known
    const was = yield* know({ ask: 'auditWindow', key })
    return { was, now: was }
  }

  get changes(): Change[] {
    return [
      ...this.#entries,
      ...[...this.#windows.values()].map(
        ({ was, now, about = [] }) => ({ type: 'audit_window', was, window: now, about }) as const,
      ),
    ]
  }
}

/** What a refused plan writes: the entry of a denial, and nothing for any other refusal. */
export function* refusalChanges(
  edges: Pick<Edges, 'hash'>,
  refused: Refusal,
  act: Act,
): PlanPart<readonly Change[]> {
  if (!isDenial(refused)) return []
  const audit = new PlannedAudit(edges)
  yield* audit.deny(denialEntry(refused, act))
  return audit.changes
}

/** A plan whose refusal, if it is a denial, leaves an entry. */
export function auditedPlan<Answer>(
  edges: Pick<Edges, 'hash'>,
  act: Act,
  plan: Plan<Answer | Refusal>,
): Plan<Answer | Refusal> {
  return function* () {
    const verdict = yield* plan()
    const { answer } = verdict
    return isRefusal(answer) ? { answer, changes: yield* refusalChanges(edges, answer, act) } : verdict
  }
}

/** Throws the refusal of an act that was refused before its plan. The audit has it if it is a denial. */
export async function refuseAct(
  edges: Edges,
  refused: Refusal | undefined,
  act: Omit<Act, 'at'>,
): Promise<void> {
  if (refused === undefined) return
  if (isDenial(refused)) await auditDenial(edges, denialEntry(refused, { ...act, at: edges.clock.now() }))
  throw new RefusedError(refused)
}

/** Records a denial of an action that changes nothing else. */
export async function auditDenial(edges: Edges, entry: AuditEntry): Promise<void> {
  await edges.store.write<void>(function* () {
    const audit = new PlannedAudit(edges)
    yield* audit.deny(entry)
    return { answer: undefined, changes: audit.changes }
  })
  edges.onAudited?.()
}

const PAGE = 100

/** Appends the totals of the windows that are over. */
export async function closeAuditWindows(edges: Edges): Promise<void> {
  for (;;) {
    const at = edges.clock.now()
    const before = at - AUDIT_WINDOW_MS + 1
    const found = await edges.store.ask({ ask: 'auditWindows', before, limit: PAGE })
    if (found.length === 0) return
    await edges.store.write<void>(function* () {
      const questions = found.map(({ key }) => ({ ask: 'auditWindow', key }) as const)
      // Another kernel may have closed a window, or opened it again.
      const now = ((yield questions) as (AuditWindow | null)[]).filter((window) => window !== null)
      const over = now.filter((window) => isOver(window, at))
      const changes = over.flatMap((window): Change[] => [
        ...repeatedEntries(window, at).map((entry) => ({ type: 'audit', entry }) as const),
        { type: 'audit_window_gone', key: window.key },
      ])
      return { answer: undefined, changes }
    })
    if (found.length < PAGE) return
  }
}

import type { AuditEntry } from '../../../src/core/audit/entry.ts'
import type { AuditWindow } from '../../../src/core/audit/window.ts'
import type { Change } from '../../../src/store/contract.ts'
import type { Check, Ledger } from '../ledger.ts'
import type { Stage } from '../stage.ts'

/** So many different denials of one actor are appended within a window, as the documentation says. */
const MOST_DIFFERENT = 100
/** Equal denials are counted for so long after the first. */
const WINDOW_MS = 60_000

/**
 * Every denial is written in the commit of its refusal, by a rule or by ownership: as an entry, or as one more in the counter of
 * equal ones, or in that of all further ones of its actor. So the entries stay few however often an actor is denied something.
 */
export function checkDenials(stage: Stage, ledger: Ledger): Check {
  /** The windows that are open, by the text that equal denials share, and when they were opened. */
  const open = new Map<string, { readonly key: string; readonly openedAt: number }>()

  const isBounded = (entry: AuditEntry) => {
    const since = open.get(textOf(entry))?.openedAt
    // A clock that was set back ends a window, too.
    if (since !== undefined && Math.abs(entry.at - since) < WINDOW_MS)
      stage.violated(
        'equal denials are counted',
        `${textOf(entry)} was appended ${entry.at - since} ms after an equal one`,
      )
  }

  const windowsChange = (changes: readonly Change[]) => {
    for (const change of changes) {
      if (isDenialWindow(change) && !isOfActor(change)) open.set(textOf(change.window.entry), change.window)
      // A kernel with another clock may have closed it.
      if (change.type === 'audit_window_gone')
        for (const [text, { key }] of [...open]) if (key === change.key) open.delete(text)
    }
  }

  /** Only what is not the actor's own is denied to it by ownership. */
  const isOthers = ({ actor, action, target, rule }: AuditEntry) => {
    const record = ledger.entry(target.slice('process:'.length))?.record
    if (rule !== null || !ACTS_ON_PROCESSES.includes(action) || record === undefined) return
    const { owner, sessionsAbove = [], pid, parent } = record
    const owners = [owner.session, ...sessionsAbove].map((session) => `session:${session}`)
    const own = [...owners, `process:${pid}`, `process:${parent}`]
    if (own.includes(actor) || !/^(session|process):/.test(actor))
      stage.violated('only what is not its own is denied', `${actor} was denied ${action} of ${pid}`)
  }

  return {
    plan({ changes, answer }) {
      const entries = changes.flatMap((change) =>
        change.type === 'audit' && change.entry.decision === 'denied' ? [change.entry] : [],
      )
      const windows = changes.filter(isDenialWindow)
      const repeated = sum(
        windows.filter((one) => !isOfActor(one)).map(({ was, window }) => repeatsOf(was, window)),
      )
      const ofActors = windows.filter(isOfActor)
      const different = sum(ofActors.map(({ was, window }) => countOf(window) - countBefore(was, window)))
      const told = denialsIn(answer)
      const broke = (what: string) => stage.violated('every denial is in the audit', what)
      if (told > 0 && told !== repeated + different)
        broke(`${told} denials were told, ${repeated} equal and ${different} different ones were counted`)
      const isFull = ofActors.some(({ window }) => countOf(window) > MOST_DIFFERENT)
      if (isFull ? entries.length > different : entries.length !== different)
        broke(`${different} different denials were counted, and ${entries.length} entries appended`)
      if (
        entries.length > 0 &&
        ofActors.every(({ was, window }) => countBefore(was, window) >= MOST_DIFFERENT)
      )
        stage.violated(
          'denials are bounded',
          `${entries.length} entries were appended after ${MOST_DIFFERENT}`,
        )
      for (const entry of entries) {
        isBounded(entry)
        isOthers(entry)
      }
      windowsChange(changes)
    },
  }
}

/** Equal denials are of the same actor, action, target and rule. */
function textOf({ actor, action, target, rule }: AuditEntry): string {
  return JSON.stringify([actor, action, target, rule?.subject ?? null, rule?.id ?? null])
}

/** Intents whose denial by ownership is about the process itself, and nothing else. */
const ACTS_ON_PROCESSES: readonly string[] = [
  ...['stop', 'signal', 'pause', 'resume', 'append', 'end'],
  ...['request_abandon', 'change_cwd', 'set_external_ref'],
]

type WindowChange = Extract<Change, { type: 'audit_window' }>

/** Other entries that an agent can cause are counted in windows as well. */
function isDenialWindow(change: Change): change is WindowChange {
  return change.type === 'audit_window' && change.window.entry.decision === 'denied'
}

function isOfActor({ window }: WindowChange): boolean {
  return window.entry.target === '*'
}

/** How many of a window were repeated just now. A window that opens anew begins with an entry. */
function repeatsOf(was: AuditWindow | null, now: AuditWindow): number {
  return was?.openedAt === now.openedAt ? now.repeats - was.repeats : now.repeats
}

function countOf({ repeats }: AuditWindow): number {
  return repeats + 1
}

function countBefore(was: AuditWindow | null, now: AuditWindow): number {
  return was?.openedAt === now.openedAt ? countOf(was) : 0
}

/** How many denials a plan answers. */
function denialsIn(answer: unknown): number {
  if (Array.isArray(answer)) return sum(answer.map(denialsIn))
  const { code, remedy, refusal } = Object(answer) as Readonly<Record<string, unknown>>
  if (refusal !== undefined) return denialsIn(refusal)
  return remedy !== undefined && DENIALS.includes(code) ? 1 : 0
}

/** A policy file that cannot be read denies everything. */
const DENIALS: readonly unknown[] = ['denied', 'policy_invalid']

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

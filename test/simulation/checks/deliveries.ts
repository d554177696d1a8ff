import type { Inbox } from '../../../src/core/inbox/inbox.ts'
import type { Check } from '../ledger.ts'
import type { Stage } from '../stage.ts'

/**
 * A notice that a consumer has taken goes to no other before its timeout, and an acknowledged notice to none. An observation in
 * one turn survives an observation in another. Derived from the committed changes alone; `now` is the clock of the writer.
 */
export function checkDeliveries(stage: Stage): Check {
  const inboxes = new Map<string, Inbox>()
  const done = new Set<number>()
  const looked = new Map<number, readonly string[]>()
  const broke = (what: string) => stage.violated('exclusive delivery', what)

  const given = (before: Inbox | undefined, inbox: Inbox, now: number) => {
    const out = new Map((before?.taken ?? []).map((taken) => [taken.position, taken]))
    const positions = inbox.taken.map(({ position }) => position)
    if (new Set(positions).size !== positions.length) broke(`${inbox.scope}: one notice is out twice`)
    for (const { position, by, until } of inbox.taken) {
      const was = out.get(position)
      if (was !== undefined && was.by === by && was.until === until) continue
      if (was !== undefined && was.until > now) broke(`${position} is given to ${by}, and ${was.by} has it`)
      if (done.has(position)) broke(`${position} is given to ${by} after it was done`)
    }
  }

  return {
    other(change, now) {
      if (change.type === 'inbox') {
        given(inboxes.get(change.inbox.scope), change.inbox, now)
        inboxes.set(change.inbox.scope, change.inbox)
      } else if (change.type === 'notices_done') for (const position of change.positions) done.add(position)
      else if (change.type === 'notice_observed') {
        const { position, turns } = change
        const missing = (looked.get(position) ?? []).find((turn) => !turns.includes(turn))
        if (missing !== undefined) broke(`${position} was looked at in ${missing}, and that is forgotten`)
        looked.set(position, turns)
      } else if (change.type === 'drop_notices') inboxes.delete(change.scope)
    },
  }
}

import type { OutputOf } from '../../verbs/reeve.ts'

type Kept = OutputOf<'prune'>['kept']
type Reason = Kept[number]['reason']

const TEXTS: Readonly<Record<Reason, string>> = {
  live: 'it runs',
  just_ended: 'it has only just ended',
  carrying: 'its stop is still being passed on to its children',
  live_tree: 'processes of its tree run',
  live_parent: 'its parent runs, and may look for it',
  referenced: 'a running process waits for it, or is its restart',
  unread: 'a notice about it has not been read (reeve inbox --ack)',
}

export function reasonText(reason: Reason): string {
  return TEXTS[reason]
}

/** A line for each reason, with the number of processes. */
export function keptText(kept: Kept): string[] {
  const reasons = Map.groupBy(kept, ({ reason }) => reason)
  return [...reasons].map(([reason, { length }]) => `Kept ${length}: ${reasonText(reason)}.`)
}

import type { OutputOf } from '../verbs/reeve.ts'
import { askedIn } from './print/status.ts'

type ProcessRecord = OutputOf<'show'>

/** Which live commands ended with their daemon, and which still run: ` Ended with it: web. Still running: db.` */
export function stopSummary(live: readonly ProcessRecord[], keep: boolean): string {
  const ended = live.filter(({ lifetime }) => lifetime === 'daemon' && !keep)
  const others = live.filter((record) => !ended.includes(record))
  const ends = ended.length === 0 ? '' : ` Ended with it: ${namesOf(ended)}.`
  const waiting = others.filter((record) => askedIn(record) !== null)
  const running = others.filter((record) => !waiting.includes(record))
  const goes = running.length === 0 ? '' : ` Still running: ${namesOf(running)}.`
  return `${ends}${goes}${waiting.length === 0 ? '' : ` Waiting for your approval: ${namesOf(waiting)}.`}`
}

const MAX_NAMES = 5

function namesOf(records: readonly ProcessRecord[]): string {
  const names = records.map(({ name, pid }) => name ?? pid)
  const more = names.length - MAX_NAMES
  return more > 0 ? `${names.slice(0, MAX_NAMES).join(', ')} and ${more} more` : names.join(', ')
}

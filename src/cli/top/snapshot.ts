import { setTimeout as sleep } from 'node:timers/promises'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import type { ProcessFilter } from '../list-processes.ts'
import { commandText } from '../print/status.ts'
import { EMPTY, type Picture, type Sort } from './picture.ts'
import { type Row, rowsOf } from './rows.ts'
import { tableOf } from './table.ts'
import { ROUND_MS, Watch } from './watch.ts'

/** Prints the figures of one round, for programs and pipes; with `goOn`, of every round as a line of JSON. */
export async function printSnapshots(
  { print }: Context<unknown>,
  reeve: ReeveVerbs,
  { filter, sort, goOn }: { readonly filter: ProcessFilter; readonly sort: Sort; readonly goOn: boolean },
): Promise<void> {
  let picture: Picture = { ...EMPTY, sort }
  const watch = new Watch(reeve, filter, (update) => {
    picture = update(picture)
  })
  await watch.load()
  await watch.sample(picture)
  do {
    await sleep(ROUND_MS)
    await watch.load()
    await watch.sample(picture)
    await watch.updatePorts(picture)
    await watch.updateDaemon()
    const now = Date.now()
    const rows = rowsOf(picture)
    if (print.isJson) print.json({ at: now, processes: rows.map((row) => facts(row, now)) })
    else for (const line of tableOf(rows, print.width, print.colours, now)) print.line(line)
    if (picture.approvals !== null) print.aside(picture.approvals)
    if (picture.warning !== null) print.aside(picture.warning)
  } while (goOn)
}

function facts({ record, figures, depth, ports }: Row, now: number): object {
  const { pid, name, kind, status, parent, owner, outcome, firstStarted, createdAt } = record
  const ageMs = (outcome?.endedAt ?? now) - (firstStarted?.at ?? createdAt)
  return {
    pid,
    name,
    kind,
    status,
    parent,
    depth,
    owner,
    command: commandText(record),
    ageMs,
    ...figures,
    ports,
  }
}

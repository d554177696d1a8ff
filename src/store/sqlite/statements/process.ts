import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { Pid } from '../../../core/process/pid.ts'
import type { ProcessRow } from '../../../core/process/row.ts'
import type { BelowChanges } from '../../../core/session/sessions-above.ts'
import type { Page, Questions } from '../../contract.ts'
import { dueOf } from '../../due.ts'
import type { UnreadableRow, UnreadableRows } from '../../unreadable.ts'
import { allRows, getRow } from '../rows.ts'
import { statementCache } from '../statement-cache.ts'
import { type StoredProcessColumns, storedPayload, unpackProcess } from '../stored-texts.ts'
import { marks, visibleRows } from './conditions.ts'
import { changedLease, changedProcess, changedRecord, newProcess } from './process-values.ts'

/** A row with the number that its events refer to and that orders it in lists. */
export interface NumberedRow {
  readonly id: number
  readonly row: ProcessRow
}

export const PROCESS_COLUMNS = `id, pid, fence, holder, carry, created_at, moving, ${storedPayload('event')} as payload,
  case when ended_at is not null then (select ${storedPayload('last')} from event as last
    where last.process = process.id and last.seq = process.revision) end as ending`
export const PROCESS_FROM = 'process join event on event.process = process.id and event.seq = 1'

export function processStatements(db: DatabaseSync, unreadable: UnreadableRows) {
  const byPid = db.prepare(`select ${PROCESS_COLUMNS} from ${PROCESS_FROM} where pid = ?`)
  const insert = db.prepare(`insert into process
    (pid, revision, fence, holder, carry, due, kind, target, name, parent, root, session, wake_target, created_at, ended_at, end_status,
      label_signature, definition_signature, moving, placement)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const update =
    db.prepare(`update process set revision = ?, fence = ?, holder = ?, carry = ?, due = ?, session = ?,
    wake_target = ?, ended_at = ?, end_status = ?, moving = ? where id = ?`)
  // Most events change no indexed column, and then no index needs to be updated.
  const updateRecord = db.prepare('update process set revision = ?, moving = ? where id = ?')
  const updateLease = db.prepare('update process set fence = ?, holder = ?, carry = ?, due = ? where id = ?')
  const addBelow = db.prepare('insert into below_session (session, is_ended, process) values (?, ?, ?)')
  const removeBelow = db.prepare(
    'delete from below_session where session = ? and is_ended = ? and process = ?',
  )
  const held = db.prepare(
    `select ${PROCESS_COLUMNS} from ${PROCESS_FROM} where holder = ? and id > ? order by id limit ?`,
  )
  const carrying = db.prepare(
    `select ${PROCESS_COLUMNS} from ${PROCESS_FROM} where carry is not null and id > ? order by id limit ?`,
  )
  const waking = db.prepare('select pid from process where wake_target = ? and ended_at is null limit ?')
  const liveOfSession = db.prepare(`select count(*) as live, max(created_at) as newestAt from (
      select created_at from process where session = ? and ended_at is null and created_at >= ?
      union all select process.created_at from below_session cross join process on process.id = below_session.process
        where below_session.session = ? and below_session.is_ended = 0 and process.created_at >= ?)`)
  const liveSince = db.prepare(
    'select count(*) as live, max(created_at) as newestAt from process where ended_at is null and created_at >= ?',
  )
  const newestLive = db.prepare(
    'select created_at as newestAt from process where ended_at is null order by id desc limit 1',
  )

  const prepared = statementCache(db)

  return {
    read(pid: Pid): NumberedRow | null {
      const found = getRow<StoredProcessColumns>(byPid, pid)
      if (found !== undefined) return unreadable.read(pid, () => numbered(found))
      unreadable.forget([pid])
      return null
    },

    /** Reads the unreadable rows again: another program may have repaired or pruned them. */
    unreadable(): readonly UnreadableRow[] {
      for (const { pid } of unreadable.all()) {
        const found = getRow<StoredProcessColumns>(byPid, pid)
        if (found === undefined) unreadable.forget([pid])
        else unreadable.readOrSkip(pid, () => unpackProcess(found))
      }
      return unreadable.all()
    },

    insert(row: ProcessRow): number {
      const { lastInsertRowid } = insert.run(...newProcess(row))
      return Number(lastInsertRowid)
    },

    update(id: number, was: ProcessRow, row: ProcessRow): void {
      if (was.record === row.record) updateLease.run(...changedLease(row), id)
      else if (movesNoIndex(was, row)) updateRecord.run(...changedRecord(row), id)
      else update.run(...changedProcess(row), id)
    },

    changeBelow(id: number, { added, removed }: BelowChanges): void {
      for (const { session, isEnded } of removed) removeBelow.run(session, Number(isEnded), id)
      for (const { session, isEnded } of added) addBelow.run(session, Number(isEnded), id)
    },

    pids({ prefix, visibleTo, limit }: Questions['pids'][0]): Pid[] {
      const seen = visibleRows(visibleTo)
      const query = prepared(
        `select pid from process where pid >= ? and pid < ? and ${seen.where} order by pid limit ?`,
      )
      return query.all(prefix, `${prefix}~`, ...seen.values, limit).map((found) => String(found['pid']))
    },

    held: (question: Questions['held'][0]): Page<ProcessRow> =>
      page(
        allRows<StoredProcessColumns>(held, question.holder, question.after ?? 0, question.limit),
        question.limit,
        unreadable,
      ),

    carrying: (question: Questions['carrying'][0]): Page<ProcessRow> =>
      page(
        allRows<StoredProcessColumns>(carrying, question.after ?? 0, question.limit),
        question.limit,
        unreadable,
      ),

    waking: (question: Questions['waking'][0]): Pid[] =>
      waking.all(question.session, question.limit).map((found) => String(found['pid'])),

    claimable({ serves, here, at, limit }: Questions['claimable'][0]): Pid[] {
      const found = serves.flatMap((served) => {
        const { where, values } = servedBy(served, here)
        const sql = `select id, pid from process where ${where} and due <= ? order by id limit ?`
        return prepared(sql).all(...values, at, limit + unreadable.size) as { id: number; pid: Pid }[]
      })
      return found
        .filter(({ pid }) => !unreadable.has(pid))
        .sort((a, b) => a.id - b.id)
        .slice(0, limit)
        .map(({ pid }) => pid)
    },

    nextDue({ serves, here, at }: Questions['nextDue'][0]): number | null {
      const times = serves.flatMap((served) => {
        const { where, values } = servedBy(served, here)
        const found = prepared(`select min(due) as due from process where ${where} and due > ?`).get(
          ...values,
          at,
        )
        const due = found?.['due'] as number | null | undefined
        return due === null || due === undefined ? [] : [due]
      })
      return times.length === 0 ? null : Math.min(...times)
    },

    activity({ session, since }: Questions['activity'][0], liveInAll: number) {
      if (session !== null)
        return (
          plain<{ live: number; newestAt: number | null }>(
            liveOfSession.get(session, since ?? 0, session, since ?? 0),
          ) ?? NO_PROCESSES
        )
      if (since !== null)
        return plain<{ live: number; newestAt: number | null }>(liveSince.get(since)) ?? NO_PROCESSES
      return { live: liveInAll, newestAt: (newestLive.get()?.['newestAt'] as number | undefined) ?? null }
    },
  }
}

const NO_PROCESSES = { live: 0, newestAt: null }

type Serving = Questions['claimable'][0]['serves'][number]

function servedBy(
  { kind, targets }: Serving,
  here: Questions['claimable'][0]['here'],
): { where: string; values: SQLInputValue[] } {
  const placed = `(placement is null or placement in (${marks(here)}))`
  const ofKind = `kind = ? and due is not null and ${placed}`
  if (targets === null) return { where: ofKind, values: [kind, ...here] }
  return { where: `${ofKind} and target in (${marks(targets)})`, values: [kind, ...here, ...targets] }
}

/** Skips rows that cannot be read. */
function page(
  found: readonly StoredProcessColumns[],
  limit: number,
  unreadable: UnreadableRows,
): Page<ProcessRow> {
  return {
    items: found.flatMap((columns) => unreadable.readOrSkip(columns.pid, () => unpackProcess(columns)) ?? []),
    next: found.length < limit ? null : (found.at(-1)?.id ?? null),
  }
}

function numbered(columns: StoredProcessColumns): NumberedRow {
  return { id: columns.id, row: unpackProcess(columns) }
}

function plain<Thing>(found: object | undefined): Thing | null {
  return found === undefined ? null : ({ ...found } as Thing)
}

function movesNoIndex(was: ProcessRow, row: ProcessRow): boolean {
  const [before, after] = [was.record, row.record]
  return (
    was.holder === row.holder &&
    was.fence === row.fence &&
    was.carry === row.carry &&
    dueOf(was) === dueOf(row) &&
    before.owner.session === after.owner.session &&
    before.wakeTarget === after.wakeTarget &&
    before.outcome === after.outcome
  )
}

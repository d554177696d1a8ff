import type { DatabaseSync } from 'node:sqlite'
import { isOpen, type Schedule } from '../../../core/schedule/schedule.ts'
import type { Questions } from '../../contract.ts'

export function scheduleStatements(db: DatabaseSync) {
  const read = db.prepare('select body from schedule where id = ?')
  const list = db.prepare('select body from schedule where id > ? order by id limit ?')
  const listOpen = db.prepare('select body from schedule where open = 1 and id > ? order by id limit ?')
  const put = db.prepare(
    'insert into schedule values (?, ?, ?) on conflict (id) do update set open = excluded.open, body = excluded.body',
  )
  const remove = db.prepare('delete from schedule where id = ?')

  return {
    read(id: string): Schedule | null {
      const found = read.get(id)
      return found === undefined ? null : scheduleFrom(found)
    },
    list: ({ open, after, limit }: Questions['schedules'][0]): Schedule[] =>
      (open === true ? listOpen : list).all(after ?? '', limit).map(scheduleFrom),
    put: (schedule: Schedule) => put.run(schedule.id, Number(isOpen(schedule)), JSON.stringify(schedule)),
    remove: (id: string) => remove.run(id),
  }
}

function scheduleFrom(found: Record<string, unknown>): Schedule {
  return JSON.parse(String(found['body'])) as Schedule
}

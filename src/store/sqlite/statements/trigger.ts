import type { DatabaseSync } from 'node:sqlite'
import { type Delivery, isWaiting } from '../../../core/trigger/delivery.ts'
import type { Trigger } from '../../../core/trigger/trigger.ts'
import type { Questions } from '../../contract.ts'

export function triggerStatements(db: DatabaseSync) {
  const read = db.prepare('select body from trigger_definition where id = ?')
  const list = db.prepare('select body from trigger_definition where id > ? order by id limit ?')
  const put = db.prepare(
    'insert into trigger_definition values (?, ?) on conflict (id) do update set body = excluded.body',
  )
  const remove = db.prepare('delete from trigger_definition where id = ?')
  const removeDeliveries = db.prepare('delete from delivery where trigger_id = ?')
  const readDelivery = db.prepare('select body from delivery where pid = ?')
  const listDeliveries = db.prepare(
    'select body from delivery where trigger_id = ? and number < ? order by number desc limit ?',
  )
  const putDelivery = db.prepare(
    'insert into delivery values (?, ?, ?, ?, ?) on conflict (pid) do update set waits = excluded.waits, body = excluded.body',
  )
  const prune = db.prepare('delete from delivery where trigger_id = ? and number <= ? and waits = 0')

  return {
    read: (id: string): Trigger | null => bodyIn<Trigger>(read.get(id)),
    list: ({ after, limit }: Questions['triggers'][0]): Trigger[] =>
      bodiesIn<Trigger>(list.all(after ?? '', limit)),
    put: (trigger: Trigger) => put.run(trigger.id, JSON.stringify(trigger)),
    remove(id: string) {
      remove.run(id)
      removeDeliveries.run(id)
    },
    readDelivery: (pid: string): Delivery | null => bodyIn<Delivery>(readDelivery.get(pid)),
    listDeliveries: ({ trigger, before, limit }: Questions['deliveries'][0]): Delivery[] =>
      bodiesIn<Delivery>(listDeliveries.all(trigger, before ?? Number.MAX_SAFE_INTEGER, limit)),
    putDelivery(delivery: Delivery) {
      const { pid, trigger, number } = delivery
      putDelivery.run(pid, trigger, number, Number(isWaiting(delivery)), JSON.stringify(delivery))
    },
    prune: (trigger: string, through: number) => prune.run(trigger, through),
  }
}

function bodyIn<Body>(found: Record<string, unknown> | undefined): Body | null {
  return found === undefined ? null : (JSON.parse(String(found['body'])) as Body)
}

function bodiesIn<Body>(found: readonly Record<string, unknown>[]): Body[] {
  return found.map((row) => JSON.parse(String(row['body'])) as Body)
}

import { auditText } from '../../../src/core/audit/entry.ts'
import type { Json } from '../../../src/core/json/json.ts'
import type { Actor } from '../../../src/core/process/record.ts'
import type { Delivery } from '../../../src/core/trigger/delivery.ts'
import type { Change } from '../../../src/store/contract.ts'
import { type Check, type Ledger, same } from '../ledger.ts'
import type { Observer } from '../observer.ts'
import { asJson } from '../payload.ts'
import type { Stage } from '../stage.ts'

/**
 * All rows except processes: sessions, turns, groups, grants, environments, holders, tombstones, and the rows of authority are
 * what the committed changes made of them. So a refused write, which commits no change, leaves no trace.
 */
export function checkTables(stage: Stage, ledger: Ledger): Check {
  const tables = new Map(Object.keys(READ).map((name) => [name, new Map<string, Json>()]))
  const table = (name: string) => tables.get(name) ?? new Map<string, Json>()
  let audited = 0

  return {
    other(change, now) {
      if (change.type === 'audit') table('audit').set(String(++audited), auditText(change.entry))
      note(table, change, now)
    },
    full() {
      for (const [name, read] of Object.entries(READ)) {
        const expected = table(name)
        for (const [key, value] of expected) {
          const found = read(ledger.observer, key)
          if (same(found, value)) continue
          stage.violated(
            'rejected writes change nothing, acknowledged ones last',
            `${name} ${key} is ${JSON.stringify(found)}, and should be ${JSON.stringify(value)}`,
          )
        }
        const count = name === 'audit' ? auditedEntries(ledger.observer) : ledger.observer.count(name)
        if (count !== expected.size)
          stage.violated(
            'rejected writes change nothing, acknowledged ones last',
            `there are ${count} rows of ${name}, and should be ${expected.size}`,
          )
      }
    },
  }
}

/** A row of the audit is a link with one entry or several. Positions count the entries. */
function auditedEntries(observer: Observer): number {
  const { start, position } = observer.ask({ ask: 'auditTail' })
  return position - (start?.position ?? 0)
}

function note(table: (name: string) => Map<string, Json>, change: Change, now: number): void {
  switch (change.type) {
    case 'session':
      table('session').set(change.session.id, asJson(change.session))
      return
    case 'session_gone':
      table('session').delete(change.id)
      remove(table('turn'), (key) => key.startsWith(`${change.id} `))
      for (const key of [...table('environment_use').keys()])
        if (key.startsWith(`session:${change.id} `)) endUses(table, key)
      dropRuleSet(table, `session:${change.id}`)
      return
    case 'turn':
      table('turn').set(`${change.turn.session} ${change.turn.id}`, asJson(change.turn))
      return
    case 'group':
      table('process_group').set(change.group.id, asJson(change.group))
      return
    case 'group_gone':
      table('process_group').delete(change.id)
      return
    case 'environment':
      if (!table('environment').has(change.ref))
        table('environment').set(change.ref, asJson(change.environment))
      return
    case 'environment_used':
      table('environment_use').set(`${change.by} ${change.ref}`, change.ref)
      return
    case 'environment_unused':
      endUses(table, `${change.by} ${change.ref}`)
      return
    case 'grant': {
      const key = `${change.grant.session} ${change.grant.pid}`
      const first = table('visible').get(key) as { at: number } | undefined
      table('visible').set(key, asJson({ ...change.grant, at: first?.at ?? change.grant.at }))
      return
    }
    case 'revoke':
      table('visible').delete(`${change.session} ${change.pid}`)
      return
    case 'holder':
      table('holder').set(change.holder.id, asJson({ ...change.holder, renewedAt: now }))
      return
    case 'holder_gone':
      table('holder').delete(change.id)
      return
    case 'account':
      table('account').set(change.account.id, asJson(change.account))
      return
    case 'account_gone':
      table('account').delete(change.id)
      return
    case 'inbox':
      table('inbox').set(change.inbox.scope, asJson(change.inbox))
      return
    case 'prune':
      for (const tombstone of change.tombstones) {
        const { pid } = tombstone
        table('tombstone').set(pid, asJson(tombstone))
        remove(table('visible'), (key) => key.endsWith(` ${pid}`))
        for (const key of [...table('environment_use').keys()])
          if (key.startsWith(`process:${pid} `)) endUses(table, key)
        dropRuleSet(table, `process:${pid}`)
        remove(table('revocation'), (key) => (table('revocation').get(key) as { root: Json }).root === pid)
        for (const [id, approval] of [...table('approval')])
          if ((approval as { pid: Json }).pid === pid) table('approval').delete(id)
      }
      return
    case 'tombstones_gone':
      for (const pid of change.pids) table('tombstone').delete(pid)
      return
    case 'schedule':
      table('schedule').set(change.schedule.id, asJson(change.schedule))
      return
    case 'schedule_gone':
      table('schedule').delete(change.id)
      return
    case 'liens':
      table('lien').set(change.liens.host, asJson(change.liens))
      return
    case 'revocation':
      table('revocation').set(change.revocation.handle, asJson(change.revocation))
      return
    case 'trigger':
      table('trigger_definition').set(change.trigger.id, asJson(change.trigger))
      return
    case 'trigger_gone':
      table('trigger_definition').delete(change.id)
      removeDeliveries(table('delivery'), ({ trigger }) => trigger === change.id)
      return
    case 'delivery':
      table('delivery').set(change.delivery.pid, asJson(change.delivery))
      return
    case 'deliveries_gone':
      removeDeliveries(
        table('delivery'),
        ({ trigger, number, verdict }) =>
          trigger === change.trigger && number <= change.through && verdict !== 'queued',
      )
      return
    case 'rule_set':
      table('rule_set').set(change.ruleSet.subject, asJson(change.ruleSet))
      return
    case 'rule_set_gone':
      dropRuleSet(table, change.subject)
      return
    case 'rule_use':
      table('rule_use').set(change.use.id, asJson(change.use))
      return
    case 'rule_use_gone':
      table('rule_use').delete(change.id)
      return
    case 'approval':
      table('approval').set(change.approval.id, asJson(change.approval))
      return
    case 'audit_window':
      table('audit_window').set(change.window.key, asJson(change.window))
      return
    case 'audit_window_gone':
      table('audit_window').delete(change.key)
      return
    case 'audit_pruned':
      for (const key of [...table('audit').keys()])
        if (Number(key) <= change.start.position) table('audit').delete(key)
      return
    // `checkTables` numbers them.
    case 'audit':
    // These have checks of their own.
    case 'process':
    case 'notice':
    case 'notices_done':
    case 'notice_observed':
      return
    case 'drop_notices':
      table('inbox').delete(change.scope)
      return
  }
}

/** With the uses of its rules. */
function dropRuleSet(table: (name: string) => Map<string, Json>, subject: string): void {
  table('rule_set').delete(subject)
  for (const [id, use] of [...table('rule_use')])
    if ((use as { subject: Json }).subject === subject) table('rule_use').delete(id)
}

/** An environment is removed with its last use. */
function endUses(table: (name: string) => Map<string, Json>, key: string): void {
  const ref = table('environment_use').get(key)
  if (ref === undefined) return
  table('environment_use').delete(key)
  if (![...table('environment_use').values()].includes(ref)) table('environment').delete(String(ref))
}

/** How each row is read back, by its key here. */
const READ: Readonly<Record<string, (observer: Observer, key: string) => Json>> = {
  session: (observer, id) => asJson(observer.ask({ ask: 'session', id })),
  turn: (observer, key) => {
    const [session = '', id = ''] = key.split(' ')
    return asJson(observer.ask({ ask: 'turn', session, id }))
  },
  process_group: (observer, id) => asJson(observer.ask({ ask: 'group', id })),
  environment: (observer, ref) => asJson(observer.ask({ ask: 'environment', ref })),
  environment_use: (observer, key) => {
    const [usedBy, ref = ''] = key.split(' ') as [Actor, string?]
    const used = observer.ask({ ask: 'environments', usedBy, limit: 1_000 })
    return used.includes(ref) ? ref : null
  },
  visible: (observer, key) => {
    const [session = '', pid = ''] = key.split(' ')
    return asJson(observer.ask({ ask: 'grants', session, pid })[0] ?? null)
  },
  holder: (observer, id) => {
    const { expired: _expired, ...row } = observer.ask({ ask: 'holder', id }) ?? { expired: null }
    return asJson(row)
  },
  account: (observer, id) => asJson(observer.ask({ ask: 'account', id })),
  schedule: (observer, id) => asJson(observer.ask({ ask: 'schedule', id })),
  lien: (observer, host) => asJson(observer.ask({ ask: 'liens', host })),
  revocation: (observer, handle) => asJson(observer.ask({ ask: 'revocation', handle })),
  trigger_definition: (observer, id) => asJson(observer.ask({ ask: 'trigger', id })),
  delivery: (observer, pid) => asJson(observer.ask({ ask: 'delivery', pid })),
  inbox: (observer, scope) => asJson(observer.ask({ ask: 'inbox', scope })),
  rule_set: (observer, subject) => asJson(observer.ask({ ask: 'ruleSet', subject })),
  rule_use: (observer, id) => asJson(observer.ask({ ask: 'ruleUse', id })),
  approval: (observer, id) => asJson(observer.ask({ ask: 'approval', id })),
  audit: (observer, key) => {
    const [found] = observer.ask({ ask: 'audit', after: Number(key) - 1, limit: 1 }).items
    return found?.position === Number(key) ? found.text : null
  },
  audit_window: (observer, key) => asJson(observer.ask({ ask: 'auditWindow', key })),
  tombstone: (observer, pid) => asJson(observer.ask({ ask: 'tombstone', pid })),
}

function removeDeliveries(map: Map<string, Json>, isGone: (delivery: Delivery) => boolean): void {
  for (const [pid, delivery] of [...map]) if (isGone(delivery as object as Delivery)) map.delete(pid)
}

function remove(map: Map<string, Json>, gone: (key: string) => boolean): void {
  for (const key of [...map.keys()]) if (gone(key)) map.delete(key)
}

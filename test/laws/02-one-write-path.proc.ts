import type { Reeve } from 'reeve'
import { openSqlite } from 'reeve/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { verbs } from '../../src/verbs/reeve.ts'
import { TempReeve } from '../command/commands.ts'
import { tempStore } from '../temp-folder.ts'
import { callEveryVerb } from './every-verb.ts'
import { WriteWitness } from './write-witness.ts'

/** Events that the calls must produce, so that the witness has seen a write of each kind. */
const EVENT_TYPES = [
  'registered',
  'started',
  'program_started',
  'ready',
  'watch_matched',
  'revealed',
  'ended',
  'paused',
  'resumed',
  'signal.go',
  'message_received',
  'approval_requested',
  'approval_settled',
  'message_sent',
  'note',
  'shipped',
  'stop_requested',
  'abandon_requested',
  'stop_delivered',
  'cwd_changed',
  'reowned',
  'external_ref_set',
  'wake_target_cleared',
  'limit_near',
  'child_registered',
  'step_ended',
  'wait_entered',
  'parked',
  'wait_left',
  'released',
  'object_put',
  'object_written',
  'object_linked',
  'object_released',
  'objects_merged',
]

test('after every verb, each committed record is the fold of its events', async () => {
  await using temp = new TempReeve()
  const store = await openSqlite(tempStore())
  onTestFinished(() => store.close())
  const witness = new WriteWitness(store)
  const called = new Set<string>()
  await callEveryVerb(noting(called, await temp.embed({}, { store: witness.store })))
  expect(Object.keys(verbs).filter((verb) => !called.has(verb))).toEqual([])
  expect(witness.violations).toEqual([])
  expect([...witness.eventTypes]).toEqual(expect.arrayContaining(EVENT_TYPES))
})

test('the check finds a record that changed without an event, or not as its event says', async () => {
  await using temp = new TempReeve()
  const store = await openSqlite(tempStore())
  onTestFinished(() => store.close())
  const witness = new WriteWitness(store)
  const reeve = await temp.embed({}, { store: witness.store })
  const { record } = await reeve.spawn({ kind: 'external', spec: { description: 'x' } })
  const was = await store.ask({ ask: 'process', pid: record.pid })
  if (was === null) throw new Error('It is not stored.')
  const row = { ...was, record: { ...was.record, cwd: '/elsewhere' } }
  const change = { type: 'process', was, row, events: [] } as const
  // biome-ignore lint/correctness/useYield: a plan that asks nothing
  await witness.store.write(function* () {
    return { answer: null, changes: [change] }
  })
  expect(witness.violations).toEqual([`${record.pid}: the record is not the fold of no events`])
})

function noting(called: Set<string>, reeve: Reeve): Reeve {
  return new Proxy(reeve, {
    get(target, name) {
      called.add(String(name))
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

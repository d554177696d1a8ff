import { expect, test } from 'vitest'
import { refuseParent, takesChildren } from '../../../src/core/process/parent.ts'
import { restartRequest } from '../../../src/core/process/restart-request.ts'
import type { ProcessRow } from '../../../src/core/process/row.ts'
import { after, registered } from '../registered.ts'

const PARENT = 'p_parent000000'
const CHILD = 'p_child0000000'
const asked = { actor: 'host', at: 2_000 } as const

const live = registered(PARENT)
const held: ProcessRow = { ...live, holder: 'k1', fence: 3 }
const stopping = after(held, {
  type: 'stop',
  pid: PARENT,
  how: 'cancel',
  reason: 'test',
  cause: null,
  replayKey: 'stop',
  ...asked,
})
const ended = after(live, { type: 'request_abandon', pid: PARENT, reason: 'test', ...asked })

test('a live process takes children; one that is stopping or has ended takes none', () => {
  expect([live, stopping, ended].map(({ record }) => record.status)).toEqual([
    'queued',
    'stopping',
    'abandoned',
  ])
  expect([live, stopping, ended].map(({ record }) => takesChildren(record))).toEqual([true, false, false])
})

test('a parent is refused if it is unknown, lost by its executor, being stopped, or ended', () => {
  const code = (
    parent: ProcessRow | null,
    stoppingAncestor: ProcessRow | null = null,
    fence: { readonly holder: string; readonly fence: number } | null = null,
  ) => refuseParent({ parent, stoppingAncestor }, { pid: CHILD, parent: PARENT, fence })?.code
  expect(code(null)).toBe('unknown_pid')
  expect(code(live)).toBeUndefined()
  expect(code(held, null, { holder: 'k1', fence: 3 })).toBeUndefined()
  expect(code(held, null, { holder: 'k1', fence: 2 })).toBe('stale_fence')
  expect(code(live, stopping)).toBe('stopping')
  expect(code(live, ended)).toBe('already_ended')
})

test('a process without a parent needs no permission of one', () => {
  const facts = { parent: null, stoppingAncestor: null }
  expect(refuseParent(facts, { pid: CHILD, parent: undefined, fence: null })).toBeUndefined()
})

test('a restart keeps the parent while that takes children, and becomes a root otherwise', () => {
  const old = registered(CHILD, { name: 'web', cwd: '/srv' }).record
  const { parent, ...rest } = restartRequest(old, live.record)
  expect(parent).toBe(PARENT)
  expect(rest).toMatchObject({ kind: 'tool', name: 'web', cwd: '/srv', restartOf: CHILD })
  for (const gone of [null, stopping.record, ended.record]) expect(restartRequest(old, gone)).toEqual(rest)
})

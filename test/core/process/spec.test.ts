import { expect, expectTypeOf, test } from 'vitest'
import type * as z from 'zod'
import { knownEvent, type StoredEvent } from '../../../src/core/process/event.ts'
import { type CommandSpec, isKind, type Specs, specOf } from '../../../src/core/process/spec.ts'
import type { specs } from '../../../src/verbs/shapes/spec.ts'
import { registered } from '../registered.ts'

test('the specs of core have the fields of the schemas that parse them', () => {
  type Parsed = { [K in keyof typeof specs]: z.output<(typeof specs)[K]> }
  expectTypeOf<keyof CommandSpec>().toEqualTypeOf<keyof Parsed['command']>()
  expectTypeOf<Parsed['command']>().toExtend<CommandSpec>()
  expectTypeOf<keyof Specs>().toEqualTypeOf<keyof Parsed>()
})

test('a record is of the kind that it says, and only then has the spec of that kind', () => {
  const { record } = registered('p_azzzzzzzzzzz', { kind: 'command', spec: { run: 'make' } })
  expect(isKind(record, 'command') && record.spec.run).toBe('make')
  expect(isKind(record, 'tool')).toBe(false)
  expect(specOf(record, 'command')).toEqual({ run: 'make' })
  expect(() => specOf(record, 'tool')).toThrow('A command where only a tool can be')
})

test('an event of one of Reeve’s own types is known; one that a process declared is not', () => {
  const event: StoredEvent = {
    pid: 'p_azzzzzzzzzzz',
    seq: 1,
    position: 1,
    type: 'parked',
    at: 1,
    actor: 'host',
    replayKey: null,
    payload: { holder: 'k1', until: 7 },
  }
  const known = knownEvent(event)
  expect(known?.type === 'parked' && known.payload.until).toBe(7)
  expect(knownEvent({ ...event, type: 'signal.go' })).not.toBeNull()
  expect(knownEvent({ ...event, type: 'progress' })).toBeNull()
})

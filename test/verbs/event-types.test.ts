import type { Outcome, OutputOf, Reeve, StoredEvent } from 'reeve'
import { embed } from 'reeve'
import { expect, expectTypeOf, test } from 'vitest'
import { tempStore } from '../temp-folder.ts'

type Followed = ReturnType<Reeve['follow']> extends AsyncIterable<infer Event> ? Event : never

test('every answer with events has the same type', () => {
  expectTypeOf<OutputOf<'events'>['events'][number]>().toEqualTypeOf<StoredEvent>()
  expectTypeOf<OutputOf<'changes'>['events'][number]>().toEqualTypeOf<StoredEvent>()
  expectTypeOf<Followed>().toEqualTypeOf<StoredEvent>()
})

test('a comparison of the type tells the payload, and any other type can be compared and assigned', async () => {
  const reeve = await embed({ store: tempStore() })
  const { record } = await reeve.spawn({
    kind: 'external',
    spec: { description: 'a build' },
    eventTypes: { progress: { schema: { type: 'object' } } },
  })
  const { pid } = record
  await reeve.append({ events: [{ pid, type: 'progress', payload: { percent: 40 } }] })
  await reeve.send({ pid, name: 'go', value: 1 })
  await reeve.end({ pid, status: 'completed', result: 'built', replayKey: 'end' })
  const { events } = await reeve.events({ pid })
  expect(events.flatMap(describe)).toEqual([
    'external registered',
    'progress 40',
    'signal 1',
    'completed: "built"',
  ])
  await reeve.close()
})

/** Without any cast. */
function describe(event: StoredEvent): string[] {
  switch (event.type) {
    case 'registered':
      return [`${event.payload.kind} registered`]
    case 'ended': {
      expectTypeOf(event.payload).toEqualTypeOf<Outcome>()
      return [`${event.payload.status}: ${JSON.stringify(event.payload.result)}`]
    }
    case 'signal.go':
      return [`signal ${event.payload.value}`]
    case 'progress': {
      const progress: { readonly percent: number } = event.payload
      return [`progress ${progress.percent}`]
    }
    default:
      return []
  }
}

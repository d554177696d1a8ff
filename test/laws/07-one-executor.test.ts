import { embed, type Json, type ToolHandler } from 'reeve'
import { expect, test } from 'vitest'
import { decideRegister } from '../../src/core/process/register.ts'
import { FACTS, INTENT } from '../core/registered.ts'
import { tempStore } from '../temp-folder.ts'
import { everyStep } from './arbitrary.ts'

test('a fenced write is appended only under the current fence, and fences never go back', () => {
  let fenced = 0
  everyStep(({ was, asked, decision, next }) => {
    expect(next.row.fence).toBeGreaterThanOrEqual(was.row.fence)
    if (asked === null || decision?.type !== 'append') return
    const fence = 'fence' in asked ? asked.fence : 'observed' in asked ? asked.observed : null
    if (fence === null) return
    fenced += 1
    expect(fence).toEqual({ holder: was.row.holder, fence: was.row.fence })
  })
  expect(fenced).toBeGreaterThan(300)
})

test('of three kernels over one file each process is executed by one, once', async () => {
  const file = tempStore()
  const executed: string[] = []
  const work: ToolHandler = ({ pid }) => {
    executed.push(pid)
    return null
  }
  const [boss, ...workers] = await Promise.all([
    embed({ store: file }),
    embed({ store: file, tools: { work }, concurrency: 7 }),
    embed({ store: file, tools: { work }, concurrency: 7 }),
    embed({ store: file, tools: { work }, concurrency: 7 }),
  ])
  const request = { kind: 'tool', spec: { tool: 'work' } } as const
  const { processes } = await boss.spawnMany({ processes: Array.from({ length: 300 }, () => request) })
  const pids = processes.map(({ record }) => record.pid)
  const ended = await boss.waitAll({ pids })
  expect(ended.records.map(({ outcome, attempts }) => [outcome?.status, attempts])).toEqual(
    pids.map(() => ['completed', 1]),
  )
  expect(executed.toSorted()).toEqual(pids.toSorted())
  await Promise.all([boss, ...workers].map((reeve) => reeve.close()))
})

test('an executor that lost its lease writes nothing more', async () => {
  const begun = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  const late = Promise.withResolvers<Json>()
  const reeve = await embed({
    store: tempStore(),
    tools: {
      async slow(context) {
        begun.resolve()
        await go.promise
        late.resolve(
          await context.append('note', 'too late').then(
            () => 'written',
            (error) => error.code,
          ),
        )
        return 'also too late'
      },
    },
  })
  const eventTypes = { note: { schema: {} } }
  const { record } = await reeve.spawn({ kind: 'tool', spec: { tool: 'slow' }, eventTypes })
  await begun.promise
  await reeve.signal({ pid: record.pid, signal: 'kill', reason: 'it hangs' })
  const ended = await reeve.wait({ pid: record.pid })
  expect(ended.type === 'ended' && ended.record.outcome).toMatchObject({
    status: 'cancelled',
    reason: 'it hangs',
  })
  const before = await reeve.events({ pid: record.pid })
  go.resolve()
  expect(await late.promise).toMatch(/^(already_ended|stale_fence)$/)
  expect(await reeve.events({ pid: record.pid })).toEqual(before)
  await reeve.close()
})

test('an executor that lost its lease gets no more children', async () => {
  const reeve = await embed({ store: tempStore() })
  const { record } = await reeve.spawn({ kind: 'tool', spec: { tool: 'nobody serves' } })
  await reeve.close()
  const parent = { record, holder: 'k_new', fence: 2, carry: null }
  const request = { kind: 'tool', spec: { tool: 'child' }, parent: record.pid } as const
  const child = { ...INTENT, pid: 'p_cccccccccccc', request, at: record.createdAt } as const
  const spawnUnder = (fence: { holder: string; fence: number } | null) =>
    decideRegister(
      { ...FACTS, parent },
      { ...child, actor: `process:${record.pid}`, fence },
      { mask: (text) => text, maxPayloadBytes: 1_000 },
    )
  expect(spawnUnder({ holder: 'k_old', fence: 1 })).toMatchObject({
    type: 'refuse',
    refusal: { code: 'stale_fence' },
  })
  expect(spawnUnder({ holder: 'k_new', fence: 1 })).toMatchObject({
    type: 'refuse',
    refusal: { code: 'stale_fence' },
  })
  expect(spawnUnder({ holder: 'k_new', fence: 2 }).type).toBe('register')
})

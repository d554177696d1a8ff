import { MemoryTables, openMemory } from 'reeve/testing'
import { expect, test } from 'vitest'
import type { Answer } from '../../src/core/approval/decide-answer.ts'
import { isRefusal } from '../../src/core/refusal.ts'
import { answerApproval } from '../../src/kernel/answer-approval.ts'
import { claimAndStart } from '../../src/kernel/claim.ts'
import { addRule } from '../../src/kernel/policies.ts'
import { register } from '../../src/kernel/register.ts'
import { openSession } from '../../src/kernel/sessions.ts'
import type { Plan, Store } from '../../src/store/contract.ts'
import { testEdges } from '../../src/testing/test-edges.ts'
import { Random } from '../simulation/random.ts'

const RACES = 1_000
const YES: Answer = { type: 'approve', grant: 'once' }
const NO: Answer = { type: 'deny' }

test(`${RACES} races of two approvers: one wins, the other is told which, and the process begins at most once`, {
  timeout: 300_000,
}, async () => {
  const shared = new MemoryTables()
  const random = new Random(13)
  const edgesOf = async (seed: number) => testEdges(delayed(await openMemory({ shared }), random), { seed })
  const [host, ada, bob] = [await edgesOf(1), await edgesOf(2), await edgesOf(3)]
  await openSession(host, 'host', 's1', null)
  const rule = { effect: 'ask', rights: ['execute'], resource: 'tool:deploy' } as const
  await addRule(host, 'host', 'session:s1', (id) => ({ ...rule, id }))
  const wins = { ada: 0, bob: 0 }
  for (let race = 1; race <= RACES; race++) {
    const request = { kind: 'tool', spec: { tool: 'deploy' } } as const
    const registered = await register(host, [{ request, actor: 'session:s1' }], 'no-environment')
    if (isRefusal(registered) || registered[0]?.type !== 'registered') throw new Error('not registered')
    const { pid, gate } = registered[0].row.record
    const id = gate?.approval ?? ''
    const [first, second] = [random.pick([YES, NO]), random.pick([YES, NO])]
    const [adas, bobs] = await Promise.all([
      answerApproval(ada, 'k1', { id, by: 'human:ada', answer: first }),
      answerApproval(bob, 'k2', { id, by: 'human:bob', answer: second }),
    ])
    if (adas.type === 'refused' || bobs.type === 'refused')
      throw new Error(`race ${race}: an answer is refused`)
    expect([adas.type, bobs.type].sort(), `race ${race}`).toEqual(['settled', 'settled_before'])
    const winner = adas.type === 'settled' ? 'ada' : 'bob'
    wins[winner] += 1
    expect(adas.approval.answer, `race ${race}`).toEqual(bobs.approval.answer)
    expect(adas.approval.answer?.by, `race ${race}`).toBe(`human:${winner}`)
    const isYes = (winner === 'ada' ? first : second) === YES
    const begun = await Promise.all([claimAndStart(ada, [pid], 'k1'), claimAndStart(bob, [pid], 'k2')])
    expect(begun.flat(), `race ${race}`).toHaveLength(isYes ? 1 : 0)
  }
  // Both sides win, so that the races are races.
  expect(Math.min(wins.ada, wins.bob)).toBeGreaterThan(RACES / 10)
})

/** A store whose writes begin some turns later. */
function delayed(store: Store, random: Random): Store {
  return {
    durability: store.durability,
    blobs: store.blobs,
    ask: (question) => store.ask(question),
    async write<Answer>(plan: Plan<Answer>): Promise<Answer> {
      for (let turns = random.between(0, 3); turns > 0; turns--) await Promise.resolve()
      return store.write(plan)
    },
    onCommit: (listener) => store.onCommit(listener),
    close: () => store.close(),
  }
}

import { openMemory } from 'reeve/testing'
import { expect, test } from 'vitest'
import { UNANALYSED } from '../../src/core/capability/action.ts'
import type { Actor } from '../../src/core/process/record.ts'
import { Approvals } from '../../src/kernel/approvals.ts'
import { addRule } from '../../src/kernel/policies.ts'
import { register } from '../../src/kernel/register.ts'
import { openSession } from '../../src/kernel/sessions.ts'
import { simulatedClock } from '../../src/testing/simulated-clock.ts'
import { testKernel } from '../../src/testing/test-kernel.ts'

/** A request of the session s1 that an edit answers, and how often the edit was read and its command resolved. */
async function askedCommand() {
  const clock = simulatedClock()
  const { kernel } = await testKernel(await openMemory(), { id: 'k1', serves: [], clock })
  const { edges } = kernel
  for (const session of ['s1', 's2', 'approver']) await openSession(edges, 'host', session, null)
  const rule = { effect: 'ask', rights: ['execute'], resource: 'shell:git', answerWithinMs: 5_000 } as const
  await addRule(edges, 'host', 'home', () => ({ ...rule, id: 'ask' }))
  const allow = { id: 'may', effect: 'allow', rights: ['approve'], resource: 'session:s1' } as const
  await addRule(edges, 'host', 'session:approver', () => allow)
  const looks = { read: 0, resolved: 0 }
  const executor = {
    serves: [{ kind: 'command', targets: null } as const],
    resolve: async () => {
      looks.resolved += 1
      return UNANALYSED
    },
    run: () => Promise.reject(new Error('It runs nothing')),
  }
  const approvals = new Approvals(edges, kernel, [executor])
  const request = { kind: 'command', spec: { run: 'git push' } } as const
  const registered = await register(edges, [{ request, actor: 'session:s1' }], kernel.defaultEnvRef)
  const id =
    'code' in registered || registered[0]?.type !== 'registered'
      ? ''
      : (registered[0].row.record.gate?.approval ?? '')
  const edit = () => {
    looks.read += 1
    return { run: 'git push --dry-run' }
  }
  const answer = { type: 'approve', grant: 'once' } as const
  const answerAs = (by: Actor, more = {}) => approvals.answer({ id, by, answer, edit, ...more })
  return { approvals, answerAs, looks, clock, id }
}

test('the edit of an actor that may not answer is neither read nor resolved', async () => {
  const { answerAs, looks } = await askedCommand()
  for (const by of ['session:s1', 'session:s2', 'session:approver', 'kernel:k1'] as const)
    expect(await answerAs(by)).toMatchObject({ type: 'refused', refusal: { code: 'denied' } })
  for (const through of [
    { sessions: [], elicited: true },
    { sessions: ['s1'], elicited: false },
  ])
    expect(await answerAs('human:ada', { through })).toMatchObject({
      type: 'refused',
      refusal: { code: 'denied' },
    })
  expect(looks).toEqual({ read: 0, resolved: 0 })
  await answerAs('human:ada')
  expect(looks).toEqual({ read: 1, resolved: 1 })
})

test('an edit that comes too late is neither read nor resolved', async () => {
  const { approvals, answerAs, looks, clock, id } = await askedCommand()
  clock.jump(5_000)
  expect(await answerAs('human:ada')).toMatchObject({
    type: 'settled_before',
    approval: { state: 'expired' },
  })
  expect(await answerAs('human:ada')).toMatchObject({
    type: 'settled_before',
    approval: { state: 'expired' },
  })
  expect(looks).toEqual({ read: 0, resolved: 0 })
  const unknown = await approvals.answer({ id: `${id}x`, by: 'human:ada', answer: { type: 'deny' } })
  expect(unknown).toMatchObject({ type: 'refused', refusal: { code: 'approval_unknown' } })
})

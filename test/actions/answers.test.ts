import { RefusedError } from 'reeve'
import { expect, test } from 'vitest'
import { embedTemp } from '../embed-temp.ts'

async function asking() {
  const reeve = await embedTemp({
    tools: { deploy: ({ input }) => ({ deployed: input }) },
    workflows: { release: async ({ input }) => ({ released: input }) },
  })
  for (const resource of ['tool:deploy', 'workflow:release'])
    await reeve.addRule({ rule: { effect: 'ask', resource } })
  await reeve.openSession({ session: 's1' })
  return { reeve, agent: reeve.as('session:s1') }
}

test('tools and workflows get the input of the answer, and their records keep the one that was asked for', async () => {
  const { reeve, agent } = await asking()
  for (const [request, edited, result] of [
    [
      { kind: 'tool', spec: { tool: 'deploy', input: 'a' } },
      { tool: 'deploy', input: 'b' },
      { deployed: 'b' },
    ],
    [
      { kind: 'workflow', spec: { workflow: 'release', input: 'a' } },
      { workflow: 'release', input: 'b' },
      { released: 'b' },
    ],
  ] as const) {
    const { record } = await agent.spawn(request)
    await reeve.approve({ id: record.gate?.approval ?? '', spec: edited })
    const ended = await reeve.wait({ pid: record.pid })
    expect(ended).toMatchObject({
      type: 'ended',
      record: { pid: record.pid, spec: request.spec, effectiveSpec: edited, outcome: { result } },
    })
  }
})

test('an answer that makes no sense is refused with its reason, and the request still waits', async () => {
  const { reeve, agent } = await asking()
  const { record } = await agent.spawn({ kind: 'tool', spec: { tool: 'deploy', input: 'a' } })
  const id = record.gate?.approval ?? ''
  const { approval } = await reeve.approval({ id })
  const rule = approval.request.type === 'permission' ? { ...approval.request.alwaysRule } : {}
  const spec = { tool: 'deploy', input: 'b' }
  for (const [input, code] of [
    [{ spec: { tool: 'deploy', inputs: 'b' } }, 'invalid_input'],
    [{ spec: { tool: 'other' } }, 'invalid_input'],
    [{ spec, grant: 'session' }, 'invalid_input'],
    [{ grant: 'process' }, 'invalid_input'],
    [{ grant: 'always' }, 'invalid_input'],
    [{ grant: 'always', rule: { ...rule, rights: ['admin'] } }, 'invalid_input'],
    [{ grant: 'session', rule }, 'invalid_input'],
  ] as const) {
    const refused = await reeve.approve({ id, ...input } as Parameters<typeof reeve.approve>[0]).then(
      () => 'accepted',
      (error: unknown) => (error instanceof RefusedError ? error.code : String(error)),
    )
    expect([input, refused]).toEqual([input, code])
  }
  await expect(reeve.approve({ id: 'a_none' })).rejects.toMatchObject({ code: 'approval_unknown' })
  await expect(reeve.approval({ id: 'a_none' })).rejects.toMatchObject({ code: 'approval_unknown' })
  expect((await reeve.approval({ id })).approval.state).toBe('pending')
  await reeve.openSession({ session: 's2' })
  await expect(reeve.as('session:s2').approval({ id })).rejects.toMatchObject({ code: 'approval_unknown' })
  expect((await agent.approval({ id })).approval.id).toBe(id)
})

test('a rule that a session holds answers only its own requests', async () => {
  const { reeve, agent } = await asking()
  await reeve.openSession({ session: 's2' })
  const request = { kind: 'tool', spec: { tool: 'deploy', input: 'a' } } as const
  const { record } = await agent.spawn(request)
  const other = await reeve.as('session:s2').spawn(request)
  await reeve.approve({ id: record.gate?.approval ?? '', grant: 'session' })
  expect((await agent.spawn(request)).record.gate).toBe(null)
  expect((await reeve.show({ pid: other.record.pid })).gate?.state).toBe('pending')
  await reeve.deny({ id: other.record.gate?.approval ?? '' })
  expect((await agent.spawn(request)).record.gate).toBe(null)
})

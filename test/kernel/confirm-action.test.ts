import { MemoryTables, openMemory } from 'reeve/testing'
import { expect, test } from 'vitest'
import type { ResolvedAction } from '../../src/core/capability/action.ts'
import { EMPTY_ENVIRONMENT } from '../../src/core/environment/environment.ts'
import { isRefusal } from '../../src/core/refusal.ts'
import { answerApproval } from '../../src/kernel/answer-approval.ts'
import { claimAndStart } from '../../src/kernel/claim.ts'
import { confirmAction } from '../../src/kernel/confirm-action.ts'
import { putEnvironment } from '../../src/kernel/environments.ts'
import type { Work } from '../../src/kernel/executor.ts'
import { addRule } from '../../src/kernel/policies.ts'
import { register } from '../../src/kernel/register.ts'
import { openSession } from '../../src/kernel/sessions.ts'
import { testEdges } from '../../src/testing/test-edges.ts'

const PUSH: Omit<ResolvedAction, 'variables'> = {
  shell: { type: 'commands', commands: [{ program: 'git', args: ['push'], env: [] }], writes: [] },
  programs: [{ name: 'git', real: '/usr/bin/git', identity: '1' }],
  cwd: '/work',
  environmentHash: 'all variables',
  env: [],
  codeVariables: [],
}

/** A command that a person has approved for the host `h1`, and that a kernel is about to begin. */
async function approvedCommand() {
  const edges = testEdges(await openMemory({ shared: new MemoryTables() }))
  const ref = await putEnvironment(edges, 'host', EMPTY_ENVIRONMENT)
  await openSession(edges, 'host', 's1', null)
  const rule = { effect: 'ask', rights: ['execute'], resource: 'shell:git' } as const
  await addRule(edges, 'host', 'session:s1', (id) => ({ ...rule, id }))
  const request = { kind: 'command', spec: { argv: ['git', 'push'] }, cwd: '/work' } as const
  const registering = { request, actor: 'session:s1', here: ['host:h1'] } as const
  const registered = await register(edges, [registering], ref, async () => PUSH as ResolvedAction)
  if (isRefusal(registered) || registered[0]?.type !== 'registered') throw new Error('It was not registered')
  const { pid, gate } = registered[0].row.record
  const answer = { type: 'approve', grant: 'once' } as const
  await answerApproval(edges, 'k1', { id: gate?.approval ?? '', by: 'human:ada', answer })
  const [row] = await claimAndStart(edges, [pid], 'k1')
  if (row === undefined) throw new Error('It was not begun')
  const work: Work = {
    record: row.record,
    signal: new AbortController().signal,
    fence: () => ({ holder: 'k1', fence: row.fence }),
    onRequest: () => () => undefined,
    lendSlot: () => () => undefined,
  }
  const gateNow = async () => (await edges.store.ask({ ask: 'process', pid }))?.record.gate?.state
  return { edges, work, gateNow }
}

test('an approved command begins on the host that the person was asked about', async () => {
  const { edges, work, gateNow } = await approvedCommand()
  expect(await confirmAction(edges, work, PUSH as ResolvedAction, 'h1')).toBe(true)
  expect(await gateNow()).toBe('approved')
})

test.each([
  ['host', {}, 'h2'],
  ['environment', { environmentHash: 'other variables' }, 'h1'],
  ['folder', { cwd: '/elsewhere' }, 'h1'],
  ['program', { programs: [{ name: 'git', real: '/usr/bin/git', identity: '2' }] }, 'h1'],
] as const)('another %s is another action, and is asked about again', async (_what, change, host) => {
  const { edges, work, gateNow } = await approvedCommand()
  expect(await confirmAction(edges, work, { ...PUSH, ...change } as ResolvedAction, host)).toBe(false)
  expect(await gateNow()).toBe('pending')
})

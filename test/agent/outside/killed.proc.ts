import { connect, type Reeve } from 'reeve'
import { expect, test } from 'vitest'
import { TempReeve } from '../../temp-reeve.ts'
import { entries, lastTurn, OutsideAgent, pendingApproval } from './outside-agent.ts'

/** Starts a daemon in an OS process of its own, for the next test step. */
async function nextDaemon(temp: TempReeve): Promise<Reeve> {
  await temp.start(['--listen', 'off'])
  return connect({ home: temp.folder })
}

async function killed(temp: TempReeve, reeve: Reeve): Promise<Reeve> {
  await temp.killDaemon()
  await reeve.close()
  return nextDaemon(temp)
}

test('a turn survives kill -9 of its daemon: no update is lost or comes twice, and the answer arrives', async () => {
  await using temp = new TempReeve()
  let reeve = await nextDaemon(temp)
  const outside = new OutsideAgent()
  const steps = [
    'say before',
    'tool t1 long',
    'wait one',
    'done t1 ready',
    'say more',
    'wait two',
    'say after',
  ]
  const pid = await outside.start(reeve, steps)
  await expect.poll(() => entries(reeve, pid)).toContain('execute long')
  await expect.poll(() => outside.heard('waits one')).toHaveLength(1)
  await temp.killDaemon()
  // Reports while no daemon lives.
  outside.present('one')
  await expect.poll(() => outside.heard('waits two')).toHaveLength(1)
  await reeve.close()
  reeve = await nextDaemon(temp)
  await expect.poll(() => entries(reeve, pid), { timeout: 30_000 }).toContain('result ready')
  reeve = await killed(temp, reeve)
  outside.present('two')
  expect(await lastTurn(reeve, pid)).toMatchObject({ turn: 1, reason: 'finished' })
  const said = (await entries(reeve, pid)).filter((line) => !line.startsWith('cut '))
  expect(said.slice(0, 4)).toEqual(['input goal', 'text before ', 'execute long', 'result ready'])
  expect(
    said
      .filter((line) => line.startsWith('text '))
      .map((line) => line.slice(5))
      .join(''),
  ).toBe('before more after ')
  expect(outside.heard('prompt')).toHaveLength(1)
  expect(outside.heard('initialize')).toHaveLength(1)
  const { processes } = await reeve.list({ filter: { parent: pid, kind: 'command', status: 'any' } })
  expect(processes).toHaveLength(1)
  // Reeve's own MCP server, for the session of the agent.
  const [servers = ''] = outside.heard('servers')
  expect(servers).toContain(`{"name":"REEVE_SESSION","value":"agent:${pid}"}`)
  await reeve.shutDownAgent({ pid })
  await temp.killDaemon()
  await reeve.close()
})

test('a permission that was open when the daemon was killed is asked once, and its answer arrives', async () => {
  await using temp = new TempReeve()
  let reeve = await nextDaemon(temp)
  const outside = new OutsideAgent()
  const pid = await outside.start(reeve, ['say hm', 'ask t1 make', 'done t1 made', 'say ready'])
  const id = await pendingApproval(reeve)
  reeve = await killed(temp, reeve)
  expect(await pendingApproval(reeve)).toBe(id)
  await reeve.reply({ id, value: 'allow once' })
  expect(await lastTurn(reeve, pid)).toMatchObject({ reason: 'finished', result: 'ready ' })
  expect(outside.heard('permission')).toEqual(['permission t1 allow_once'])
  const questions = await reeve.list({ filter: { parent: pid, kind: 'tool', status: 'any' } })
  expect(questions.processes).toHaveLength(1)
  await reeve.shutDownAgent({ pid })
  await temp.killDaemon()
  await reeve.close()
})

test('a cancel before the kill reaches the program after it', async () => {
  await using temp = new TempReeve()
  let reeve = await nextDaemon(temp)
  const outside = new OutsideAgent()
  const pid = await outside.start(reeve, ['say begun', 'wait go', 'say never'])
  await expect.poll(() => outside.heard('waits')).toHaveLength(1)
  expect((await reeve.cancelTurn({ pid })).type).toMatch(/cancelled|rolled_back/)
  reeve = await killed(temp, reeve)
  await reeve.runAgent({ pid, text: 'say next' })
  expect(await lastTurn(reeve, pid)).toMatchObject({ turn: 2, result: 'next ' })
  expect(outside.heard('session/cancel')).toHaveLength(1)
  await reeve.shutDownAgent({ pid })
  await temp.killDaemon()
  await reeve.close()
})

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../temp-folder.ts'
import { TempReeve } from '../../temp-reeve.ts'
import { entries, lastTurn, OutsideAgent } from './outside-agent.ts'

/** A native agent that ends its turns at once. */
async function parentOf(reeve: Awaited<ReturnType<TempReeve['embed']>>, folder: string): Promise<string> {
  const answers = Array.from({ length: 6 }, () => ({ parts: [{ text: 'noted' }] }))
  writeFileSync(join(folder, 'script.json'), JSON.stringify({ answers }))
  const { record } = await reeve.spawn({
    kind: 'agent',
    cwd: folder,
    spec: { agent: 'lead', model: 'scripted/script.json' },
  })
  return record.pid
}

test('a native agent gets reports of outside agents below it, also of a death in mid-turn', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const folder = tempFolder()
  const parent = await parentOf(reeve, folder)
  const outside = new OutsideAgent({ folder })
  const asked = { parent, model: 'acp/scripted', program: outside.program } as const
  const lead = reeve.as(`process:${parent}`)
  const reports = async () => {
    const { items } = await reeve.agentLog({ pid: parent, last: 100 })
    return items.flatMap((item) =>
      item.type === 'notices_promoted' ? item.payload.parts.map((part) => String(part['text'])) : [],
    )
  }
  const fine = await lead.spawnAgent({ ...asked, goal: 'say it is built' })
  await expect.poll(reports, { timeout: 30_000 }).toHaveLength(1)
  const dead = await lead.spawnAgent({ ...asked, goal: 'say half\ndie', once: true })
  await expect.poll(reports, { timeout: 30_000 }).toHaveLength(2)
  const [first, second] = await reports()
  expect(first).toContain(`Report of agent ${fine.record.pid} "say it is built": turn 1 finished.`)
  // Its program lives, and is no work of its own.
  expect(first).not.toContain('It waits')
  expect(first).toMatch(/Model: acp\/scripted\..*Result:\nit is built /s)
  expect(second).toMatch(
    /turn 1 failed \(crashed\)\. The agent has ended \(failed\)\..*Message: The program of acp\/scripted is gone in mid-turn.*Partial output:\nhalf /s,
  )
  expect(dead.record.parent).toBe(parent)
})

test('an agent below an outside agent is the same program, unless it names a model', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const outside = new OutsideAgent()
  const parent = await outside.start(reeve, ['say lead'])
  await lastTurn(reeve, parent)
  const { record } = await reeve.spawnAgent({ parent, goal: 'say child' })
  expect(await lastTurn(reeve, record.pid)).toMatchObject({ result: 'child ' })
  expect(record.spec).toMatchObject({ model: 'acp/scripted' })
  await expect(reeve.spawnAgent({ parent, goal: 'x', model: 'acp/none' })).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('knows no outside agent acp/none'),
  })
  await expect(reeve.configureAgent({ pid: parent, model: 'scripted/demo' })).rejects.toMatchObject({
    code: 'invalid_request',
  })
})

test('an outside agent has no budget of cost, and does not compact', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const outside = new OutsideAgent()
  const { program } = outside
  const spec = { agent: 'x', model: 'acp/scripted', program, goal: 'say hi' }
  await expect(reeve.spawn({ kind: 'agent', allowance: { cost: 1 }, spec })).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('budget of cost'),
  })
  const pid = await outside.start(reeve, ['say hi'])
  await lastTurn(reeve, pid)
  await reeve.compactAgent({ pid })
  expect(await lastTurn(reeve, pid)).toMatchObject({ reason: 'setup_failed' })
  expect(await entries(reeve, pid)).toContain('text hi ')
})

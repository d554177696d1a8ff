import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type Reeve } from 'reeve'
import { expect, test } from 'vitest'
import { tempFolder } from '../../temp-folder.ts'
import { TempReeve } from '../../temp-reeve.ts'

const SOURCE = `export default async (_: unknown, reeve: any) => {
  const results = await Promise.all([
    reeve.write_file({ path: 'one.txt', content: 'one' }),
    reeve.read_file({ path: 'given.txt' }),
    reeve.write_file({ path: 'two.txt', content: 'two' }),
  ])
  const read = await reeve.read_file({ path: 'one.txt' })
  return [results.length, /given/.test(results[1]), /one/.test(read)]
}`

const ANSWERS = [
  { parts: [{ tool: 'tool_search', input: { query: 'script' } }] },
  { parts: [{ tool: 'script', input: { source: SOURCE } }] },
  { parts: [{ text: 'Done.' }] },
]

async function scriptBelow(reeve: Reeve, agent: string) {
  const { processes } = await reeve.list({ filter: { parent: [agent], status: 'any' }, limit: 50 })
  return processes.map(({ record }) => record).find(({ spec }) => spec['tool'] === 'agent.script')
}

test.each([
  ['in memory', false],
  ['out of memory', true],
])(
  'a script that waits in Promise.all for approvals, %s, goes on after kill -9 of its daemon',
  async (_, isParked) => {
    const temp = new TempReeve()
    const workspace = tempFolder()
    writeFileSync(join(workspace, 'given.txt'), 'given')
    writeFileSync(join(workspace, 'plays.json'), JSON.stringify({ answers: ANSWERS }))
    const daemon = await temp.start()
    const reeve = await connect({ home: temp.folder })
    await reeve.addRule({ rule: { effect: 'ask', resource: 'tool:write_file' } })
    const spec = { agent: 'helper', model: 'scripted/plays.json', goal: 'go' }
    const { record } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec })
    await expect.poll(async () => (await reeve.approvals({})).approvals.length).toBe(2)
    if (isParked) await expect.poll(async () => (await scriptBelow(reeve, record.pid))?.parked).toBe(true)
    const { approvals } = await reeve.approvals({})
    await daemon.kill()
    await temp.start()
    const next = await connect({ home: temp.folder })
    // The later one first.
    for (const { id } of approvals.toReversed()) await next.approve({ id, grant: 'once' })
    const waited = await next.waitAgent({ pid: record.pid, turn: 1, timeoutMs: 120_000 })
    expect(waited).toMatchObject({ turn: { reason: 'finished' } })
    const ended = await scriptBelow(next, record.pid)
    expect(ended).toMatchObject({ status: 'completed', children: 4 })
    const text = '[\n  3,\n  true,\n  true\n]'
    expect(ended?.outcome?.result).toMatchObject({ parts: [{ type: 'text', text }] })
    expect(readFileSync(join(workspace, 'two.txt'), 'utf8')).toBe('two')
    await next.shutDownAgent({ pid: record.pid })
    await Promise.all([reeve.close(), next.close()])
  },
)

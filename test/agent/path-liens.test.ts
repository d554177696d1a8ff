import { mkdirSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Embedded, InputOf } from 'reeve'
import { expect, test } from 'vitest'
import { HeldModel } from './held-model.ts'
import { scriptedAgents } from './scripted-agent.ts'
import { answerOrCode } from './served-agents.ts'

/** A lead in a workspace with src and docs, whose agents answer as the test says. */
async function family() {
  const model = new HeldModel()
  const { reeve, workspace } = await scriptedAgents({ models: { 'my/model': model } })
  for (const folder of ['src/a', 'docs']) mkdirSync(join(workspace, folder), { recursive: true })
  const spec = { agent: 'lead', model: 'my/model' }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec })
  const { pid: lead } = record
  /** An idle child. */
  const spawn = async (paths: readonly string[], more: Partial<InputOf<'spawnAgent'>> = {}) => {
    names += 1
    const given = { parent: lead, goal: 'a part', name: `n${names}`, paths: [...paths], ...more }
    const started = await reeve.spawnAgent(given)
    const first = await model.next()
    first.answer('ready')
    await reeve.waitAgent({ pid: started.record.pid })
    return started.record.pid
  }
  /** Ends a child of the lead, which reads its report. */
  const end = async (pid: string) => {
    await reeve.shutDownAgent({ pid })
    const report = await model.next()
    report.answer('seen')
    await reeve.waitAgent({ pid: lead })
  }
  return { reeve, workspace, lead, spawn, end, write: writer(reeve, model) }
}

let names = 0

/** Lets an agent write a file with its tool. Returns what its model reads about it. */
function writer(reeve: Embedded, model: HeldModel) {
  return async (pid: string, path: string): Promise<string> => {
    await reeve.runAgent({ pid, text: `write ${path}` })
    const asked = await model.next()
    asked.call('write_file', { path, content: `by ${pid}` })
    const told = await model.next()
    told.answer('done')
    await reeve.waitAgent({ pid })
    const { events } = await reeve.events({ pid, limit: 1_000 })
    const result = events.findLast(({ type }) => type === 'tool_answered')
    return JSON.stringify(result?.payload)
  }
}

test('a child alone writes below its paths, and its parent again when it has ended', async () => {
  const { reeve, lead, spawn, end, write, workspace } = await family()
  const child = await spawn(['src'])
  expect(await write(lead, 'src/x.ts')).toContain(
    `${child} (n${names}) has src until it ends, so src/x.ts is not free. Wait for its report, or write elsewhere.`,
  )
  expect(await write(lead, 'docs/x.md')).toContain('Made docs/x.md')
  expect(await write(child, 'src/x.ts')).toContain('Made src/x.ts')
  expect(await write(child, 'docs/y.md')).toContain('You may write below src only, and docs/y.md is outside.')
  expect(await reeve.inspectAgent({ pid: child })).toMatchObject({ paths: [join(workspace, 'src')] })
  expect((await reeve.agents({ parent: lead })).agents).toMatchObject([{ paths: [join(workspace, 'src')] }])
  await end(child)
  expect(await write(lead, 'src/z.ts')).toContain('Made src/z.ts')
  expect(await reeve.inspectAgent({ pid: child })).toMatchObject({ paths: null })
})

test('links, dots and new folders are the paths that they lead to, also when a link changes later', async () => {
  const { reeve, lead, spawn, write, workspace } = await family()
  symlinkSync('src', join(workspace, 'link'))
  const child = await spawn(['docs/../link/new'])
  expect((await reeve.show({ pid: child })).spec['paths']).toMatchObject({
    paths: [join(workspace, 'src/new')],
  })
  expect(await write(lead, 'link/new/x')).toContain('has src/new until it ends')
  expect(await write(lead, 'src/a/../new/x')).toContain('has src/new until it ends')
  expect(await write(child, 'link/new/x')).toContain('Made src/new/x')
  unlinkSync(join(workspace, 'link'))
  symlinkSync('docs', join(workspace, 'link'))
  expect(await write(child, 'link/new/y')).toContain(
    'You may write below src/new only, and docs/new/y is outside.',
  )
  renameSync(join(workspace, 'src/new'), join(workspace, 'docs/moved'))
  symlinkSync('../docs/moved', join(workspace, 'src/new'))
  expect(await write(child, 'src/new/z')).toContain('docs/moved/z is outside.')
  expect(readFileSync(join(workspace, 'docs/moved/x'), 'utf8')).toBe(`by ${child}`)
})

test('a request for paths that cannot be met changes nothing: held, not lent, outside, too many', async () => {
  const { reeve, lead, spawn, workspace } = await family()
  const child = await spawn(['src/a'])
  writeFileSync(join(workspace, 'file'), '')
  symlinkSync('/', join(workspace, 'root'))
  const pids = async () => (await reeve.list({})).processes.map(({ record }) => record.pid)
  const before = await pids()
  const asked = (paths: string[], parent = lead) =>
    answerOrCode(reeve.spawnAgent({ parent, goal: 'x', paths }))
  expect(await asked(['src'])).toBe('path_held')
  expect(await asked(['src/a/b'])).toBe('path_held')
  expect(await asked(['docs'], child)).toBe('path_held')
  expect(await asked(['../other'])).toBe('invalid_request')
  expect(await asked(['root/etc'])).toBe('invalid_request')
  expect(await asked(['file/x'])).toBe('invalid_request')
  expect(await asked(Array.from({ length: 51 }, (_, index) => `f${index}`))).toBe('invalid_input')
  expect(await pids()).toEqual(before)
})

test('a child lends a part further, and a grandchild keeps it beyond the end of the child', async () => {
  const { reeve, lead, spawn, end, write } = await family()
  const child = await spawn(['src'])
  const grandchild = await spawn(['src/a'], { parent: child })
  expect(await write(child, 'src/a/x')).toContain(`${grandchild} (n${names}) has src/a until it ends`)
  expect(await write(lead, 'src/a/x')).toContain(`${grandchild} (n${names}) has src/a until it ends`)
  expect(await write(child, 'src/x')).toContain('Made src/x')
  expect(await write(grandchild, 'src/a/x')).toContain('Made src/a/x')
  await end(child)
  await reeve.wait({ pid: grandchild })
  expect(await write(lead, 'src/a/y')).toContain('Made src/a/y')
})

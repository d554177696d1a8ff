import { mkdirSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InputOf } from 'reeve'
import { expect, test } from 'vitest'
import { tempStore } from '../temp-folder.ts'
import { HeldModel } from './held-model.ts'
import { eventTypes, payloads, scriptedAgents } from './scripted-agent.ts'

type Parts = NonNullable<InputOf<'runAgent'>['parts']>

/** An idle agent in a workspace with `a.txt`, whose model the test plays. */
async function idleAgent(options: Parameters<typeof scriptedAgents>[0] = {}) {
  const model = new HeldModel()
  const { reeve, workspace } = await scriptedAgents({ ...options, models: { 'my/model': model } })
  writeFileSync(join(workspace, 'a.txt'), 'one\ntwo\nthree\n')
  const { record } = await reeve.spawn({
    kind: 'agent',
    cwd: workspace,
    spec: { agent: 'x', model: 'my/model' },
  })
  const { pid } = record
  const send = (parts: Parts, id = 'i') => reeve.runAgent({ pid, id, parts })
  /** The refusal of an input, of which nothing may be stored. */
  const refused = async (parts: Parts) => {
    const before = await eventTypes(reeve, pid)
    const error: unknown = await send(parts).catch((thrown: unknown) => thrown)
    expect(await eventTypes(reeve, pid)).toEqual(before)
    return error
  }
  return { reeve, pid, workspace, model, send, refused }
}

const reference = (path: string, more: { from?: number; to?: number } = {}) => ({
  type: 'reference' as const,
  path,
  ...more,
})

test('a pasted text is a part of its own, and the model reads it as pasted', async () => {
  const { reeve, pid, model, send } = await idleAgent()
  await send([
    { type: 'text', text: 'Explain this.' },
    { type: 'paste', text: 'Error: no such file', name: 'log' },
  ])
  const call = await model.next()
  expect(call.prompt).toContain('"text":"Pasted text (log):\\nError: no such file"')
  call.answer('ok')
  await reeve.waitAgent({ pid, turn: 1 })
  expect(await payloads(reeve, pid, 'input_admitted')).toMatchObject([
    { parts: [{ type: 'text' }, { type: 'paste', text: 'Error: no such file', name: 'log' }] },
  ])
  const { text } = await reeve.exportAgent({ pid, format: 'markdown' })
  expect(text).toContain('Error: no such file')
})

test('a referenced file is read before the input is admitted, and the model has its lines', async () => {
  const { reeve, pid, model, send } = await idleAgent()
  await send([{ type: 'text', text: 'What is this?' }, reference('a.txt', { from: 2, to: 2 })])
  const call = await model.next()
  expect(call.prompt).toContain('"text":"File: a.txt"')
  expect(call.prompt).toContain('2\\ttwo\\n(lines 2 to 2 of 3; go on with offset 3)')
  call.answer('a file')
  await reeve.waitAgent({ pid, turn: 1 })
  const { text } = await reeve.exportAgent({ pid, format: 'markdown' })
  expect(text).toContain('(file a.txt)')
})

test('the same input again is the same input, also if a referenced file has changed meanwhile or is gone', async () => {
  const { workspace, model, send } = await idleAgent()
  const parts = [reference('a.txt')]
  expect(await send(parts)).toMatchObject({ type: 'started', turn: 1 })
  writeFileSync(join(workspace, 'a.txt'), 'changed\n')
  expect(await send(parts)).toMatchObject({ type: 'started', turn: 1 })
  unlinkSync(join(workspace, 'a.txt'))
  expect(await send(parts)).toMatchObject({ type: 'started', turn: 1 })
  await expect(send([{ type: 'text', text: 'other' }])).rejects.toMatchObject({ code: 'input_conflict' })
  ;(await model.next()).answer('ok')
})

test('a large referenced file is a blob, and reaches the model whole', async () => {
  const { reeve, pid, workspace, model, send } = await idleAgent()
  writeFileSync(join(workspace, 'large.txt'), `${'x'.repeat(99)}\n`.repeat(500))
  await send([reference('large.txt')])
  const call = await model.next()
  expect(call.prompt).toContain(`500\\t${'x'.repeat(99)}`)
  call.answer('ok')
  await reeve.waitAgent({ pid, turn: 1 })
  expect(await payloads(reeve, pid, 'input_admitted')).toMatchObject([
    { parts: [{ type: 'reference', path: 'large.txt', bytes: 50_000 }, { type: 'blob' }] },
  ])
})

test('a secret in a referenced file is masked', async () => {
  const secret = `ghp_${'q7Rt2Wx9'.repeat(4)}Zk4p`
  const { workspace, model, send } = await idleAgent()
  writeFileSync(join(workspace, 'key.txt'), `the key is ${secret}\n`)
  await send([reference('key.txt')])
  const call = await model.next()
  expect(call.prompt).toContain('the key is')
  expect(call.prompt).not.toContain(secret)
  call.answer('ok')
})

test('a reference that cannot be read is refused, and nothing is admitted', async () => {
  const { reeve, workspace, refused } = await idleAgent()
  mkdirSync(join(workspace, 'folder'))
  symlinkSync('/etc/hostname', join(workspace, 'link'))
  writeFileSync(join(workspace, 'data.bin'), Buffer.from([1, 0, 2]))
  const problem = (code: string) => ({ code: 'invalid_request', details: { problem: code } })
  expect(await refused([reference('absent.txt')])).toMatchObject(problem('not_found'))
  expect(await refused([reference('folder')])).toMatchObject(problem('not_a_file'))
  expect(await refused([reference('/etc/hostname')])).toMatchObject(problem('outside_workspace'))
  expect(await refused([reference('link')])).toMatchObject(problem('outside_workspace'))
  expect(await refused([reference('data.bin')])).toMatchObject(problem('not_text'))
  expect(await refused([reference('a.txt', { from: 9 })])).toMatchObject(problem('invalid_input'))
  await reeve.addRule({ rule: { effect: 'deny', resource: `fs:${workspace}/a.txt`, rights: ['read'] } })
  expect(await refused([reference('a.txt')])).toMatchObject(problem('refused'))
})

test('an unknown command is refused, and nothing is admitted', async () => {
  const { refused } = await idleAgent()
  expect(await refused([{ type: 'command', name: 'review', arguments: 'all' }])).toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('there is no command /review'),
    details: { problem: 'unknown_command' },
  })
})

test('a picture is refused for a model without vision, given or referenced', async () => {
  const { workspace, refused } = await idleAgent({
    modelOptions: { models: { 'my/model': { features: { images: false } } } },
  })
  const png = Buffer.from('89504e470d0a1a0a0000', 'hex')
  writeFileSync(join(workspace, 'a.png'), png)
  const refusal = { code: 'invalid_request', details: { problem: 'model_unfit' } }
  expect(await refused([reference('a.png')])).toMatchObject(refusal)
  expect(
    await refused([{ type: 'image', mediaType: 'image/png', data: png.toString('base64') }]),
  ).toMatchObject(refusal)
})

const EDIT = { tool: 'edit_file', input: { path: 'a.txt', edits: [{ oldText: 'two', newText: '2' }] } }

test('a file that an input refers to counts as read, also after a restart', async () => {
  const store = tempStore()
  const first = await scriptedAgents({ store })
  const file = join(first.workspace, 'a.txt')
  writeFileSync(file, 'one\ntwo\n')
  const pid = await first.start({
    replies: [{ when: { input: 'edit' }, answer: { parts: [EDIT] } }],
    answers: [{ parts: [{ text: 'Seen.' }] }],
    atEnd: 'repeat',
  })
  await first.reeve.runAgent({ pid, parts: [reference('a.txt')] })
  await first.reeve.waitAgent({ pid, turn: 1 })
  await first.reeve.close()
  const { reeve } = await scriptedAgents({ store })
  await reeve.runAgent({ pid, text: 'edit' })
  await reeve.waitAgent({ pid, turn: 2 })
  expect(await payloads(reeve, pid, 'tool_answered')).toMatchObject([{ isError: false }])
  expect(readFileSync(file, 'utf8')).toBe('one\n2\n')
})

test('a file that has changed since an input referred to it is not edited', async () => {
  const { reeve, workspace, start } = await scriptedAgents()
  const file = join(workspace, 'a.txt')
  writeFileSync(file, 'one\ntwo\n')
  const pid = await start({
    replies: [{ when: { input: 'edit' }, answer: { parts: [EDIT] } }],
    answers: [{ parts: [{ text: 'Seen.' }] }],
    atEnd: 'repeat',
  })
  await reeve.runAgent({ pid, parts: [reference('a.txt')] })
  await reeve.waitAgent({ pid, turn: 1 })
  writeFileSync(file, 'one\ntwo\nthree\n')
  await reeve.runAgent({ pid, text: 'edit' })
  await reeve.waitAgent({ pid, turn: 2 })
  expect(await payloads(reeve, pid, 'tool_answered')).toMatchObject([
    { isError: true, parts: [{ text: expect.stringContaining('a.txt was changed since you read it') }] },
  ])
})

test('a file after @ is completed with the files that the agent may read, and ignored ones are left out', async () => {
  const { reeve, workspace } = await scriptedAgents()
  mkdirSync(join(workspace, 'src/parts'), { recursive: true })
  for (const name of ['src/part.ts', 'src/other.ts', 'src/part.log']) writeFileSync(join(workspace, name), '')
  writeFileSync(join(workspace, 'src/parts/part.map'), '')
  writeFileSync(join(workspace, '.gitignore'), '*.log\n')
  writeFileSync(join(workspace, 'src/.gitignore'), '*.map\n')
  const spec = { agent: 'helper', model: 'scripted/none.json' }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec })
  const { pid } = record
  const complete = (text: string, limit?: number) =>
    reeve.completeInput({ pid, text, ...(limit === undefined ? {} : { limit }) })
  const file = (type: string, text: string) => ({ type, text, source: '', about: '' })
  expect(await complete('look at @src/pa')).toEqual({
    from: 8,
    completions: [file('file', '@src/part.ts'), file('folder', '@src/parts/')],
    more: false,
  })
  expect(await complete('@src/', 1)).toMatchObject({
    completions: [file('file', '@src/other.ts')],
    more: true,
  })
  expect(await complete('@src/parts/')).toMatchObject({ completions: [] })
  expect(await complete('@src/.')).toMatchObject({ completions: [file('file', '@src/.gitignore')] })
  expect(await complete('@../')).toMatchObject({ completions: [] })
  expect(await complete('@none/')).toMatchObject({ completions: [] })
  expect(await complete('plain words')).toEqual({ from: 11, completions: [], more: false })
  await reeve.shutDownAgent({ pid })
  expect(await complete('@src/')).toMatchObject({ completions: [] })
})

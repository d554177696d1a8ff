import { randomUUID } from 'node:crypto'
import { InMemoryTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Reeve } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { TokenFile } from '../../src/daemon/token-file.ts'
import { serveMcpStdio } from '../../src/mcp/stdio.ts'
import { TASKS_EXTENSION } from '../../src/mcp/tasks.ts'
import { TempReeve } from '../temp-reeve.ts'
import { call, clientOf } from './connected.ts'
import { asked, envelope, resultOf, type Server, TaskClient } from './task-client.ts'

const token = (temp: TempReeve) => new TokenFile(temp.home).create({ role: 'operate' }).token
const serverAt = (url: string | null, of: string): Server => ({
  url: `${url}/mcp?folder=${process.cwd()}&structured=1`,
  token: of,
})

async function up() {
  const temp = new TempReeve()
  const daemon = await temp.up()
  return { temp, daemon, server: serverAt(daemon.url, token(temp)) }
}

const READS = { run: 'echo one; read line; echo "got $line"; exit 3', stdin: 'pipe' } as const

test('a slow command becomes a task with the pid as its id and the tool’s result', async () => {
  const { daemon, server } = await up()
  const client = await TaskClient.at(server)
  const { run, taskId } = await client.task('process_start', READS)
  expect(await daemon.reeve.show({ pid: taskId })).toMatchObject({ pid: taskId, status: 'running' })
  const working = await asked(server, 'tasks/get', { taskId })
  expect(working).toMatchObject({
    kind: 'result',
    result: { taskId, status: 'working', ttlMs: null, resultType: 'complete' },
  })
  expect(working).not.toHaveProperty('result.result')
  await daemon.reeve.write({ pid: taskId, text: 'it\n' })
  const { structured, text } = await resultOf(run)
  expect(structured).toMatchObject({
    finished: true,
    type: 'ended',
    output: 'one\ngot it\n',
    process: { pid: taskId, exitCode: 3 },
  })
  expect(text).toContain('exit code 3')
  const { session = '' } = (await daemon.reeve.show({ pid: taskId })).owner
  const told = await daemon.reeve.notices({ scope: `session:${session}`, all: true })
  expect(told.notices).toMatchObject([{ pid: taskId, done: 'consumed' }])
  const again = await asked(server, 'tasks/get', { taskId })
  expect(again).toMatchObject({ result: { status: 'completed', result: { structuredContent: structured } } })
  const plain = { ...server, url: server.url.replace('&structured=1', '') }
  const inText = await asked(plain, 'tasks/get', { taskId })
  expect(inText).toMatchObject({ result: { result: { content: [{ text }] } } })
  expect(inText).not.toHaveProperty('result.result.structuredContent')
})

test('a fast command, and a call with waitMs, is answered without a task', async () => {
  const { server } = await up()
  const client = await TaskClient.at(server)
  const run = await client.session.callTool('process_start', { run: 'echo fast', waitMs: 30_000 })
  expect(run.kind).toBe('immediate')
  expect((await resultOf(run)).structured).toMatchObject({ finished: true, output: 'fast\n' })
  const given = await client.session.callTool('process_start', { ...READS, waitMs: 0 })
  expect(given.kind).toBe('immediate')
  const none = await asked(server, 'tools/call', { name: 'process_start', arguments: READS }, {})
  expect(none).toMatchObject({
    result: { resultType: 'complete', structuredContent: { finished: false } },
  })
  const capabilities = { extensions: { [TASKS_EXTENSION]: {} } }
  const older = clientOf({ era: 'legacy', capabilities })
  const headers = { authorization: `Bearer ${server.token}` }
  await older.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers } }))
  expect(await call(older, 'process_start', READS)).toMatchObject({ structured: { finished: false } })
})

test('over stdio a task is found by any server of the client', async () => {
  const { daemon } = await up()
  const first = await stdio(daemon.reeve)
  const begun = await first('tools/call', { name: 'process_start', arguments: READS })
  const { taskId } = begun.result
  expect(begun.result).toMatchObject({ resultType: 'task', status: 'working' })
  const second = await stdio(daemon.reeve)
  expect((await second('tasks/get', { taskId })).result).toMatchObject({ taskId, status: 'working' })
  await daemon.reeve.write({ pid: taskId, text: 'it\n' })
  await daemon.reeve.wait({ pid: taskId })
  expect((await second('tasks/get', { taskId })).result).toMatchObject({
    status: 'completed',
    result: { resultType: 'complete', structuredContent: { output: 'one\ngot it\n' } },
  })
})

/** A client of `reeve mcp` that writes raw messages. */
async function stdio(reeve: Reeve) {
  const [there, here] = InMemoryTransport.createLinkedPair()
  const served = serveMcpStdio(reeve, { transport: there, cwd: '/', structured: true })
  onTestFinished(() => served.close())
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the raw answer
  const waiting = new Map<unknown, (message: any) => void>()
  here.onmessage = (message) => {
    if ('id' in message) waiting.get(message.id)?.(message)
  }
  await here.start()
  return async (method: string, params: Record<string, unknown>) => {
    const id = randomUUID()
    // biome-ignore lint/suspicious/noExplicitAny: a test reads the raw answer
    const { promise, resolve } = Promise.withResolvers<any>()
    waiting.set(id, resolve)
    await here.send({ jsonrpc: '2.0', id, method, params: { ...params, _meta: envelope() } })
    return promise
  }
}

test('a task survives kill -9 of the daemon and the end of its client', async () => {
  const temp = new TempReeve()
  const first = await temp.start()
  const of = token(temp)
  const client = await TaskClient.at(serverAt(first.url, of))
  const { reference, taskId } = await client.task('process_start', READS)
  await first.kill()
  await client.close().catch(() => undefined)

  const second = await temp.start()
  const server = serverAt(second.url, of)
  const other = await TaskClient.at(server)
  const resumed = await other.session.resumeTask(reference)
  expect(await asked(server, 'tasks/get', { taskId })).toMatchObject({ result: { status: 'working' } })
  const typed = { name: 'process_write', arguments: { pid: taskId, text: 'it\n' } }
  expect(await asked(server, 'tools/call', typed)).toMatchObject({ kind: 'result' })
  expect((await resultOf(resumed)).structured).toMatchObject({
    output: 'one\ngot it\n',
    process: { pid: taskId, exitCode: 3 },
  })

  await second.kill()
  const third = serverAt((await temp.start()).url, of)
  expect(await asked(third, 'tasks/get', { taskId })).toMatchObject({
    result: { status: 'completed', result: { structuredContent: { output: 'one\ngot it\n' } } },
  })
})

test('cancelling a task ends the wait and never the process', async () => {
  const { daemon, server } = await up()
  const client = await TaskClient.at(server)
  const { run, reference, taskId } = await client.task('process_start', { run: 'sleep 300' })
  expect(await asked(server, 'tasks/cancel', { taskId })).toMatchObject({
    result: { resultType: 'complete' },
  })
  const over = run.settle()
  await client.close()
  await expect(over.then(({ outcome }) => outcome.status)).resolves.not.toBe('completed')
  expect((await daemon.reeve.show({ pid: taskId })).status).toBe('running')

  const back = await TaskClient.at(server)
  const resumed = await back.session.resumeTask(reference)
  await back.session.callTool('process_kill', { pid: taskId })
  expect((await resultOf(resumed)).structured).toMatchObject({
    finished: true,
    process: { status: 'cancelled' },
  })
  expect(await asked(server, 'tasks/cancel', { taskId })).toMatchObject({ kind: 'result' })
})

test('a task outlives its session, for a client that is in the next one', async () => {
  const { daemon, server } = await up()
  const client = await TaskClient.at(server)
  const { taskId } = await client.task('process_start', { run: 'echo one; exec sleep 300' })
  const { owner } = await daemon.reeve.show({ pid: taskId })
  await daemon.reeve.endSession({ session: owner.session ?? '' })
  await daemon.reeve.wait({ pid: taskId })
  const next = await client.session.callTool('process_start', { run: 'true', waitMs: 30_000 })
  const { structured } = await resultOf(next)
  expect((await daemon.reeve.show({ pid: structured.process.pid })).owner).not.toEqual(owner)
  expect(await asked(server, 'tasks/get', { taskId })).toMatchObject({
    result: { status: 'completed', result: { structuredContent: { finished: true, output: 'one\n' } } },
  })
})

test('a wait for the end is a task with the pid as its id, or a longer id if that is in use', async () => {
  const { daemon, server } = await up()
  const client = await TaskClient.at(server)
  const { taskId, reference } = await client.task('process_start', { run: 'sleep 300', name: 'slow' })
  const second = await client.task('process_wait', { pid: 'slow' })
  expect(second.taskId.startsWith(`${taskId}.`)).toBe(true)
  const limited = await client.task('process_wait', { pid: 'slow', timeoutMs: 1_500 })
  expect((await resultOf(limited.run)).structured).toMatchObject({ type: 'timed_out', finished: false })
  const short = await client.session.callTool('process_wait', { pid: 'slow', timeoutMs: 100 })
  expect(short.kind).toBe('immediate')
  expect((await resultOf(short)).structured).toMatchObject({ type: 'timed_out', finished: false })
  // A closing client cancels its tasks, too, but the close does not wait for that.
  await asked(server, 'tasks/cancel', { taskId })
  await client.close()

  const back = await TaskClient.at(server)
  const third = await back.task('process_wait', { pid: 'slow' })
  expect(third.taskId).toBe(taskId)
  const other = await TaskClient.at(server)
  const runs = [
    third.run,
    await other.session.resumeTask(reference),
    await other.session.resumeTask(second.reference),
  ]
  await daemon.reeve.kill({ pid: taskId })
  for (const run of runs)
    expect((await resultOf(run)).structured).toMatchObject({ type: 'ended', finished: true })
})

test('a wait for a line is a task that survives kill -9 of the daemon', async () => {
  const temp = new TempReeve()
  const first = await temp.start()
  const of = token(temp)
  const client = await TaskClient.at(serverAt(first.url, of))
  const { taskId: pid } = await client.task('process_start', READS)
  const given = { pid, until: { pattern: 'got \\w+' }, timeoutMs: 600_000 }
  const { taskId, reference } = await client.task('process_wait', given)
  expect(taskId.startsWith(`${pid}.`)).toBe(true)
  await first.kill()
  await client.close().catch(() => undefined)

  const server = serverAt((await temp.start()).url, of)
  const other = await TaskClient.at(server)
  const resumed = await other.session.resumeTask(reference)
  expect(await asked(server, 'tasks/get', { taskId })).toMatchObject({ result: { status: 'working' } })
  await asked(server, 'tools/call', { name: 'process_write', arguments: { pid, text: 'it\n' } })
  const { structured } = await resultOf(resumed)
  expect(structured).toMatchObject({ type: 'matched', line: 'got it', process: { pid } })

  const late = await other.task('process_start', { run: 'sleep 300' })
  const never = await other.task('process_wait', {
    pid: late.taskId,
    until: { text: 'never' },
    timeoutMs: 1_500,
  })
  expect((await resultOf(never.run)).structured).toMatchObject({ type: 'timed_out', finished: false })
  await asked(server, 'tools/call', { name: 'process_kill', arguments: { pid: late.taskId } })
})

test('a task is visible only to its own session, by its whole id, and to clients that know tasks', async () => {
  const { temp, server, daemon } = await up()
  const client = await TaskClient.at(server)
  const { taskId } = await client.task('process_start', { run: 'sleep 300', name: 'mine' })
  const { token: agents } = new TokenFile(temp.home).create({ role: 'agent', session: 's1' })
  const stranger = serverAt(daemon.url, agents)
  const wrong = [
    [stranger, taskId],
    [server, 'mine'],
    [server, taskId.slice(0, 8)],
    [server, `${taskId}.`],
    [server, `${taskId}.e30`],
    [server, `${taskId}.${'x'.repeat(5_000)}`],
    [server, 'p_000000000000'],
  ] as const
  for (const [who, id] of wrong)
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update'])
      expect(await asked(who, method, { taskId: id })).toMatchObject({ error: { code: -32602 } })
  for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update'])
    expect(await asked(server, method, { taskId }, {})).toMatchObject({ error: { code: -32021 } })
  expect((await daemon.reeve.show({ pid: taskId })).status).toBe('running')
  await daemon.reeve.kill({ pid: taskId })
})

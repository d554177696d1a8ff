import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, defineTool, type InputOf } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { startProgram } from '../crash/program.ts'
import { TempReeve } from '../temp-reeve.ts'

/** A worker counts as dead after five seconds of silence. */
const TIMES = { renewMs: 500, ttlMs: 5_000, sweepMs: 200 }

async function daemonWithClient(times?: typeof TIMES) {
  const temp = new TempReeve()
  const daemon = await temp.up(times === undefined ? {} : { times })
  const { folder } = temp.home
  const connected = async () => {
    const reeve = await connect({ home: folder })
    onTestFinished(() => reeve.close())
    return reeve
  }
  const reeve = await connected()
  const call = async (tool: string, given: Partial<Omit<InputOf<'spawn'>, 'kind' | 'spec'>> = {}) => {
    const request = { kind: 'tool', spec: { tool, input: { n: 1 } }, ...given } as InputOf<'spawn'>
    return (await reeve.spawn(request)).record.pid
  }
  const outcomeOf = async (pid: string) => {
    const ended = await reeve.wait({ pid })
    return ended.type === 'ended' ? ended.record.outcome : ended.type
  }
  return { temp, folder, daemon, reeve, connected, call, outcomeOf }
}

const input = z.object({ n: z.number() })

test('a client runs tools of its own for a daemon, with the whole context', async () => {
  const { reeve, connected, call, outcomeOf } = await daemonWithClient()
  const worker = await connected()
  await worker.tool(
    defineTool({
      name: 'everything',
      description: 'Uses every call of the context.',
      input,
      run: async ({ n }, ctx) => {
        await ctx.append('note', { n })
        await ctx.untilResumed()
        await ctx.sleep(1)
        const child = await ctx.spawn({ kind: 'command', spec: { run: 'exit 3' } })
        const { outcome } = await ctx.wait(child.pid)
        const key = await ctx.keyFor('go')
        const signal = await ctx.waitForSignal('go')
        const late = await ctx.waitForSignal('never', { timeoutMs: 1 })
        await ctx.sendMessage({ to: `process:${ctx.pid}`, channel: 'own', value: new Date(0) })
        const message = await ctx.receive({ channel: 'own' })
        await ctx.charge({ cost: 0.5 })
        const answer = await ctx.ask({ question: 'Which?', choices: ['a', 'b'] })
        return {
          exitCode: outcome?.exitCode ?? null,
          key: key.startsWith(ctx.pid),
          signal,
          late: late.type,
          message: message.type === 'message' ? message.value : null,
          answer: answer.type === 'replied' ? answer.value : answer.type,
        }
      },
    }),
  )
  const pid = await call('everything', {
    eventTypes: { note: { schema: {} } },
    allowance: { cost: 1 },
  })
  await reeve.send({ pid, name: 'go', value: ['hello'] })
  const asked = await expect
    .poll(async () => (await reeve.approvals()).approvals[0]?.id, { timeout: 60_000 })
    .toBeDefined()
    .then(async () => (await reeve.approvals()).approvals[0]?.id ?? '')
  await reeve.reply({ id: asked, value: 'b' })
  expect(await outcomeOf(pid)).toMatchObject({
    status: 'completed',
    result: {
      exitCode: 3,
      key: true,
      signal: { type: 'signal', value: ['hello'] },
      late: 'timed_out',
      message: { $reeve: 'Date', value: '1970-01-01T00:00:00.000Z' },
      answer: 'b',
    },
  })
  const { events } = await reeve.events({ pid })
  expect(events.filter(({ type }) => type === 'note')).toMatchObject([{ payload: { n: 1 } }])
  expect((await reeve.tools()).tools).toMatchObject([
    { name: 'everything', workers: 1, declaration: { description: 'Uses every call of the context.' } },
  ])
  await worker.close()
  expect(await reeve.tools()).toEqual({ tools: [] })
})

test('a paused tool of a client goes on when it is resumed, and a cancelled one is aborted', async () => {
  const { reeve, connected, call, outcomeOf } = await daemonWithClient()
  const worker = await connected()
  const begun = Promise.withResolvers<void>()
  const paused = Promise.withResolvers<void>()
  await worker.tool(
    defineTool({
      name: 'patient',
      description: 'Waits.',
      input,
      run: async (_, ctx) => {
        begun.resolve()
        await paused.promise
        await ctx.untilResumed()
        await ctx.waitForSignal('never')
        return 1
      },
    }),
  )
  const pid = await call('patient')
  await begun.promise
  await reeve.signal({ pid, signal: 'pause' })
  paused.resolve()
  await reeve.signal({ pid, signal: 'resume' })
  await reeve.waitFor({ pid, types: ['wait_entered'] })
  await reeve.signal({ pid, signal: 'cancel', reason: 'enough' })
  expect(await outcomeOf(pid)).toMatchObject({ status: 'cancelled', reason: 'enough' })
})

test('after the death of its program a bound call is abandoned, and a rerunnable one runs elsewhere', async () => {
  const { folder, reeve, call, outcomeOf } = await daemonWithClient(TIMES)
  const log = join(folder, 'attempts')
  const first = await startProgram('tool-worker', [folder, log])
  const bound = await call('deliver')
  await reeve.waitFor({ pid: bound, types: ['wait_entered'] })
  const rerunnable = await call('deliver', { recovery: 'rerunnable' })
  await reeve.waitFor({ pid: rerunnable, types: ['wait_entered'] })
  await first.kill()
  const second = await startProgram('tool-worker', [folder, log])
  await reeve.waitFor({ pid: rerunnable, types: ['holder_lost'] })
  await reeve.send({ pid: rerunnable, name: 'go', value: 1 })
  expect(await outcomeOf(bound)).toMatchObject({ status: 'abandoned' })
  expect(await outcomeOf(rerunnable)).toMatchObject({
    status: 'completed',
    result: { by: second.osPid, told: 1 },
  })
  expect(readFileSync(log, 'utf8')).toBe(
    `attempt 1 by ${first.osPid}\nattempt 1 by ${first.osPid}\nattempt 2 by ${second.osPid}\n`,
  )
})

test('a call goes on when the daemon is replaced meanwhile', async () => {
  const { temp, folder, daemon, call } = await daemonWithClient()
  const log = join(folder, 'attempts')
  await startProgram('tool-worker', [folder, log])
  const pid = await call('deliver')
  const before = await connect({ home: folder })
  await before.waitFor({ pid, types: ['wait_entered'] })
  await before.close()
  await daemon.close()
  await temp.up()
  const after = await connect({ home: folder })
  onTestFinished(() => after.close())
  await after.send({ pid, name: 'go', value: 2 })
  const ended = await after.wait({ pid })
  expect(ended).toMatchObject({
    type: 'ended',
    record: { outcome: { status: 'completed', result: { told: 2 } } },
  })
  expect(readFileSync(log, 'utf8').trim().split('\n')).toHaveLength(1)
})

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { startProgram } from '../crash/program.ts'
import { TempReeve } from '../temp-reeve.ts'

async function dwell() {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const connected = async () => {
    const reeve = await connect({ home: temp.home.folder })
    onTestFinished(() => reeve.close())
    return reeve
  }
  return { temp, daemon, connected, reeve: await connected() }
}

const workflow = (name: string, input: string | number | null = null) =>
  ({ kind: 'workflow', spec: { workflow: name, input } }) as const

async function outcomeOf(reeve: Awaited<ReturnType<typeof connect>>, pid: string) {
  const ended = await reeve.wait({ pid })
  if (ended.type !== 'ended') throw new Error(`${pid} has not ended`)
  return ended.record.outcome
}

test('a client runs workflows of its own for a daemon: steps, signals, sleeps, children', async () => {
  const { reeve, connected } = await dwell()
  const worker = await connected()
  await worker.workflow('all', async (ctx, input) => {
    const doubled = await ctx.step('double', () => Number(input) * 2)
    const said = await ctx.waitForSignal('word')
    await ctx.sleep(1)
    const child = await ctx.spawn({ kind: 'command', spec: { run: 'exit 3' } })
    const { exitCode } = await ctx.wait(child)
    const late = await ctx.waitForSignal('never', { timeoutMs: 1 })
    return { doubled, said, exitCode, late: late ?? 'timed out', ids: ctx.uuid().length }
  })
  expect(await reeve.workflows()).toEqual({ workflows: [{ name: 'all', workers: 1 }] })
  const { record } = await reeve.spawn(workflow('all', 21))
  await reeve.send({ pid: record.pid, name: 'word', value: ['hello'] })
  expect(await outcomeOf(reeve, record.pid)).toMatchObject({
    status: 'completed',
    result: { doubled: 42, said: ['hello'], exitCode: 3, late: 'timed out', ids: 36 },
  })
})

test('a worker sends and receives messages, parked or not, with values unmasked', async () => {
  const { reeve, connected } = await dwell()
  const worker = await connected()
  const secret = `ghp_${'aB3'.repeat(12)}`
  await worker.workflow(
    'talk',
    async ({ pid, sendMessage, receive }) => {
      const own = { to: `process:${pid}`, channel: 'own', correlationId: 'c', value: new Date(0) } as const
      await sendMessage(own)
      const first = await receive({ channel: 'own', correlationId: 'c', from: `process:${pid}` })
      const second = await receive({ channel: 'outside' })
      const refused = await sendMessage({ to: 'session:other' }).catch(({ code }) => code as string)
      const late = await receive({ timeoutMs: 1 })
      return {
        first: first.type === 'message' ? first.value : null,
        isUnmasked: second.type === 'message' && Object(second.value).password === secret,
        refused: refused ?? null,
        late: late.type,
      }
    },
    { parkAfterMs: 1 },
  )
  const { record } = await reeve.spawn(workflow('talk'))
  const { pid } = record
  await reeve.waitFor({ pid, types: ['parked'] })
  await reeve.sendMessage({ to: `process:${pid}`, channel: 'outside', value: { password: secret } })
  const first = { $reeve: 'Date', value: '1970-01-01T00:00:00.000Z' }
  const result = { first, isUnmasked: true, refused: 'denied', late: 'timed_out' }
  expect(await outcomeOf(reeve, pid)).toMatchObject({ status: 'completed', result })
})

test('a worker gets values unmasked, even if others see them masked', async () => {
  const { reeve, connected } = await dwell()
  const worker = await connected()
  const secret = `ghp_${'aB3'.repeat(12)}`
  const short = { parkAfterMs: 1 }
  await worker.workflow('child', async (ctx, input) => ctx.step('echo', () => input ?? null))
  await worker.workflow(
    'all',
    async (ctx, input) => {
      const kept = await ctx.step('keep', () => ({ password: secret }))
      const child = await ctx.spawn({
        kind: 'workflow',
        spec: { workflow: 'child', input: { token: secret } },
      })
      const said = await ctx.waitForSignal('word')
      const { result } = await ctx.wait(child)
      const more = await ctx.waitForSignal('more')
      return { input: input ?? null, kept, said, result, more }
    },
    short,
  )
  const { record } = await reeve.spawn({ kind: 'workflow', spec: { workflow: 'all', input: secret } })
  const { pid } = record
  await reeve.waitFor({ pid, types: ['parked'] })
  await reeve.send({ pid, name: 'word', value: { authorization: secret } })
  await reeve.send({ pid, name: 'more', value: secret })
  expect(await outcomeOf(reeve, pid)).toMatchObject({
    status: 'completed',
    result: {
      input: secret,
      kept: { password: secret },
      said: { authorization: secret },
      result: { token: secret },
      more: secret,
    },
  })
  expect(JSON.stringify(await reeve.events({ pid }))).not.toContain(secret)
})

test('a thrown error and a stop end the process in a worker as in a kernel', async () => {
  const { reeve, connected } = await dwell()
  const worker = await connected()
  await worker.workflow('fail', async (ctx) =>
    ctx.step('no', () => Promise.reject(new Error('no such file'))),
  )
  await worker.workflow('hang', async (ctx) => ctx.waitForSignal('never'))
  const failed = await reeve.spawn(workflow('fail'))
  expect(await outcomeOf(reeve, failed.record.pid)).toMatchObject({
    status: 'failed',
    reason: 'no such file',
  })
  for (const how of ['cancel', 'kill'] as const) {
    const { record } = await reeve.spawn(workflow('hang'))
    await reeve.waitFor({ pid: record.pid, types: ['wait_entered'] })
    await reeve.signal({ pid: record.pid, signal: how, reason: 'enough' })
    expect(await outcomeOf(reeve, record.pid)).toMatchObject({ status: 'cancelled', reason: 'enough' })
  }
})

test('a function that waits long leaves the worker, and a signal brings it back', async () => {
  const { reeve, connected } = await dwell()
  const worker = await connected()
  let begun = 0
  await worker.workflow(
    'wait',
    async (ctx) => {
      begun += 1
      return ctx.waitForSignal('go')
    },
    { parkAfterMs: 1 },
  )
  const { record } = await reeve.spawn(workflow('wait'))
  const { pid } = record
  await reeve.waitFor({ pid, types: ['parked'] })
  expect(await reeve.show({ pid })).toMatchObject({ status: 'waiting', parked: true })
  await reeve.send({ pid, name: 'go', value: 'now' })
  expect(await outcomeOf(reeve, pid)).toMatchObject({ status: 'completed', result: 'now' })
  expect(begun).toBe(2)
})

test('a closed worker gives its leases back, and the next one goes on', async () => {
  const { temp, reeve } = await dwell()
  const log = join(temp.home.folder, 'done')
  const first = await startProgram('workflow-worker', [temp.home.folder, log])
  const { record } = await reeve.spawn(workflow('order', 'a lamp'))
  const { pid } = record
  await reeve.waitFor({ pid, types: ['wait_entered'] })
  first.tell('close')
  expect(await first.ended()).toBe(0)
  expect(await reeve.show({ pid })).toMatchObject({ status: 'queued', attempts: 0 })
  expect(await reeve.workflows()).toEqual({ workflows: [] })
  const second = await startProgram('workflow-worker', [temp.home.folder, log])
  await reeve.send({ pid, name: 'address', value: 'Elm Street 5' })
  expect(await outcomeOf(reeve, pid)).toMatchObject({ result: { input: 'a lamp', address: 'Elm Street 5' } })
  expect(readFileSync(log, 'utf8')).toBe(`charge ${first.osPid}\nship ${second.osPid}\n`)
})

test('a worker goes on with the next daemon when its daemon is killed', async () => {
  const temp = new TempReeve()
  const daemon = await temp.start()
  const worker = await connect({ home: temp.home.folder })
  onTestFinished(() => worker.close())
  const steps: string[] = []
  await worker.workflow('order', async (ctx) => {
    await ctx.step('charge', () => void steps.push('charge'))
    const address = await ctx.waitForSignal('address')
    await ctx.step('ship', () => void steps.push('ship'))
    return address
  })
  const { record } = await worker.spawn(workflow('order'))
  await worker.waitFor({ pid: record.pid, types: ['wait_entered'] })
  await daemon.kill()
  await temp.start()
  const reeve = await connect({ home: temp.home.folder })
  onTestFinished(() => reeve.close())
  await reeve.send({ pid: record.pid, name: 'address', value: 'Elm Street 5' })
  expect(await outcomeOf(reeve, record.pid)).toMatchObject({ status: 'completed', result: 'Elm Street 5' })
  expect(steps).toEqual(['charge', 'ship'])
  expect((await reeve.show({ pid: record.pid })).attempts).toBe(1)
})

test('a worker with a stale fence writes nothing, and an unannounced one claims nothing', async () => {
  const { reeve, daemon } = await dwell()
  const worker = `w_${'0'.repeat(24)}`
  await expect(reeve.claimWork({ worker })).rejects.toMatchObject({ code: 'not_found' })
  await reeve.announceWorker({ worker, workflows: ['mine'] })
  const { record } = await reeve.spawn(workflow('mine'))
  await reeve.spawn(workflow('theirs'))
  const { work } = await reeve.claimWork({ worker })
  expect(work).toMatchObject([{ record: { pid: record.pid, status: 'running' }, fence: 1 }])
  // An answer that was lost is given again.
  expect((await reeve.claimWork({ worker })).work).toMatchObject([{ fence: 1 }])
  expect((await reeve.claimWork({ worker, known: [record.pid] })).work).toEqual([])
  const act = { type: 'end', status: 'completed' } as const
  const other = `w_${'1'.repeat(24)}`
  for (const stale of [
    { worker, fence: 0 },
    { worker: other, fence: 1 },
  ])
    await expect(reeve.doWork({ ...stale, pid: record.pid, act })).rejects.toMatchObject({
      code: 'stale_fence',
    })
  expect(await reeve.show({ pid: record.pid })).toMatchObject({ status: 'running', revision: 2 })
  await expect(reeve.as('session:s').announceWorker({ worker, workflows: [] })).rejects.toMatchObject({
    code: 'denied',
  })
  await reeve.retireWorker({ worker })
  expect(await daemon.reeve.show({ pid: record.pid })).toMatchObject({ status: 'queued' })
})

test('a result that is too large for a request fails the step, or the function, and says so', async () => {
  const { reeve, connected } = await dwell()
  const worker = await connected()
  await worker.workflow('step', async (ctx) => ctx.step('read', () => 'x'.repeat(20_000_000)))
  await worker.workflow('all', async () => 'x'.repeat(20_000_000))
  for (const [name, reason] of [
    ['step', /^The result of step read cannot be stored: /],
    ['all', /bytes/],
  ] as const) {
    const { record } = await reeve.spawn(workflow(name))
    expect(await outcomeOf(reeve, record.pid)).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(reason),
    })
  }
})

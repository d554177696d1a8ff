import { connect } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { TempReeve } from '../temp-reeve.ts'

test('a daemon that is away for longer than a call is retried fails no function, whether it parks or waits for a child', {
  timeout: 240_000,
}, async () => {
  const temp = new TempReeve()
  const daemon = await temp.start()
  const worker = await connect({ home: temp.home.folder })
  onTestFinished(() => worker.close())
  await worker.workflow('park', async (ctx) => ctx.waitForSignal('go'), { parkAfterMs: 2_000 })
  await worker.workflow('child', async (ctx) => {
    const child = await ctx.spawn({ kind: 'command', spec: { run: 'sleep 600' } })
    return (await ctx.wait(child)).status
  })
  const begin = async (name: string) => {
    const { record } = await worker.spawn({ kind: 'workflow', spec: { workflow: name } })
    return record.pid
  }
  const child = await begin('child')
  await worker.waitFor({ pid: child, types: ['wait_entered'] })
  const park = await begin('park')
  await worker.waitFor({ pid: park, types: ['wait_entered'] })
  await daemon.kill()
  // As long as a call is repeated.
  await expect(worker.show({ pid: park })).rejects.toMatchObject({ code: 'daemon_unreachable' })
  await expect(worker.show({ pid: park })).rejects.toMatchObject({ code: 'daemon_unreachable' })
  await temp.start()
  const reeve = await connect({ home: temp.home.folder })
  onTestFinished(() => reeve.close())
  await reeve.waitFor({ pid: park, types: ['parked'] })
  await reeve.send({ pid: park, name: 'go', value: 'now' })
  const { processes } = await reeve.list({ filter: { kind: ['command'] } })
  await reeve.kill({ pid: processes[0]?.record.pid ?? '' })
  const outcome = async (pid: string) => {
    const ended = await reeve.wait({ pid })
    return ended.type === 'ended' ? ended.record.outcome : ended.type
  }
  expect(await outcome(park)).toMatchObject({ status: 'completed', result: 'now' })
  expect(await outcome(child)).toMatchObject({ status: 'completed', result: 'cancelled' })
})

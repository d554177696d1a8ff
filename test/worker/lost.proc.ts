import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { startProgram } from '../crash/program.ts'
import { TempReeve } from '../temp-reeve.ts'

/** A worker counts as dead after five seconds of silence: one that lives breaks it sooner, also on a busy machine. */
const TIMES = { renewMs: 500, ttlMs: 5_000, sweepMs: 200 }
/** A worker that hangs for a moment does not count as dead. */
const PATIENT = { ...TIMES, ttlMs: 120_000 }

/** A daemon, and an order that a worker has charged for, and waits with. */
async function orderOfWorker(times = TIMES) {
  const temp = new TempReeve()
  await temp.up({ times })
  const { folder } = temp.home
  const log = join(folder, 'done')
  const reeve = await connect({ home: folder })
  onTestFinished(() => reeve.close())
  const worker = () => startProgram('workflow-worker', [folder, log])
  const first = await worker()
  const { record } = await reeve.spawn({ kind: 'workflow', spec: { workflow: 'order', input: 'a lamp' } })
  const { pid } = record
  await reeve.waitFor({ pid, types: ['wait_entered'] })
  const result = async () => {
    const ended = await reeve.wait({ pid })
    return ended.type === 'ended' ? ended.record.outcome : ended.type
  }
  return { reeve, worker, first, pid, result, done: () => readFileSync(log, 'utf8') }
}

test('the next worker goes on with the processes of a killed one', async () => {
  const { reeve, worker, first, pid, result, done } = await orderOfWorker()
  await first.kill()
  const second = await worker()
  await reeve.waitFor({ pid, types: ['holder_lost'] })
  await reeve.send({ pid, name: 'address', value: 'Elm Street 5' })
  expect(await result()).toMatchObject({ status: 'completed', result: { address: 'Elm Street 5' } })
  expect(done()).toBe(`charge ${first.osPid}\nship ${second.osPid}\n`)
})

test('a worker that hung and lost its leases does no more work on those processes when it wakes', async () => {
  const { reeve, worker, first, pid, result, done } = await orderOfWorker()
  process.kill(first.osPid, 'SIGSTOP')
  const second = await worker()
  await reeve.waitFor({ pid, types: ['holder_lost'] })
  await reeve.send({ pid, name: 'address', value: 'Elm Street 5' })
  expect(await result()).toMatchObject({ status: 'completed', result: { address: 'Elm Street 5' } })
  process.kill(first.osPid, 'SIGCONT')
  await first.says('aborted', ({ aborted }) => aborted === 'Another worker may have taken it over.')
  first.tell('close')
  expect(await first.ended()).toBe(0)
  expect(done()).toBe(`charge ${first.osPid}\nship ${second.osPid}\n`)
})

test('a worker that hung and lost no lease goes on', async () => {
  const { reeve, first, pid, result, done } = await orderOfWorker(PATIENT)
  process.kill(first.osPid, 'SIGSTOP')
  await reeve.send({ pid, name: 'address', value: 'Elm Street 5' })
  process.kill(first.osPid, 'SIGCONT')
  expect(await result()).toMatchObject({ status: 'completed', result: { address: 'Elm Street 5' } })
  expect(done()).toBe(`charge ${first.osPid}\nship ${first.osPid}\n`)
})

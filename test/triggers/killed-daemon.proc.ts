import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type Reeve } from 'reeve'
import { expect, test } from 'vitest'
import { until } from '../keeper/client.ts'
import { TempReeve } from '../temp-reeve.ts'
import { deliver } from './served-hooks.ts'

const DELIVERIES = 60
const AT_ONCE = 6
/** The daemon is killed after so many acknowledged deliveries. */
const KILL_AFTER = [12, 30]

test('deliveries that a killed daemon has acknowledged run exactly once, and so do those that are sent again', async () => {
  const temp = new TempReeve()
  let daemon = await temp.start()
  const effects = join(temp.folder, 'effects')
  writeFileSync(effects, '')
  const secret = await withClient(temp, async (reeve) => {
    const added = await reeve.addTrigger({
      trigger: 'deploy',
      source: { type: 'webhook', maxPerMinute: 60_000 },
      overlap: 'allow',
      process: { kind: 'command', spec: { run: `printf '%s\\n' "$REEVE_TRIGGER" >> ${effects}` } },
    })
    return added.secret ?? ''
  })
  let acknowledged = 0
  let kills = 0
  /** Senders wait while there is no daemon. */
  let isUp = Promise.resolve()
  let next = 0
  const send = async () => {
    for (let n = next++; n < DELIVERIES; n = next++) {
      for (;;) {
        await isUp
        const answer = await deliver(daemon.url ?? '', 'deploy', secret, { id: `d${n}`, n }).catch(() => null)
        if (answer !== null) expect(answer).toMatchObject({ status: 200 })
        if (answer !== null) break
      }
      acknowledged += 1
      if (acknowledged !== KILL_AFTER[kills]) continue
      kills += 1
      isUp = daemon.kill().then(async () => {
        daemon = await temp.start()
      })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, send))
  await isUp
  expect(kills).toBe(KILL_AFTER.length)
  await withClient(temp, (reeve) =>
    until('all occurrences have ended', async () => {
      const { running, queued } = await reeve.trigger({ trigger: 'deploy' })
      return running.length === 0 && queued === 0
    }),
  )
  const lines = readFileSync(effects, 'utf8').trim().split('\n')
  const ran = lines.map((line) => JSON.parse(line).body.n as number).sort((a, b) => a - b)
  expect(ran).toEqual(Array.from({ length: DELIVERIES }, (_, n) => n))
}, 60_000)

test('files that change while no daemon runs start their trigger when one runs again', async () => {
  const temp = new TempReeve()
  const daemon = await temp.start()
  const inbox = temp.folder
  writeFileSync(join(inbox, 'old.csv'), '1')
  const process = { kind: 'command', spec: { run: 'printf "%s" "$REEVE_TRIGGER"' } } as const
  await withClient(temp, (reeve) =>
    reeve.addTrigger({
      ...{ trigger: 'import', process },
      source: { type: 'files', folder: inbox, glob: '*.csv', debounceMs: 50 },
    }),
  )
  await daemon.kill()
  writeFileSync(join(inbox, 'new.csv'), '1')
  await temp.start()
  await withClient(temp, async (reeve) => {
    const first = await delivered(reeve, 1)
    expect(first).toMatchObject({
      type: 'files',
      folder: inbox,
      added: ['new.csv'],
      modified: [],
      removed: [],
    })
    // The watch of the folder notices this one.
    writeFileSync(join(inbox, 'old.csv'), '22')
    const second = await delivered(reeve, 2)
    expect(second).toMatchObject({ added: [], modified: ['old.csv'], removed: [] })
  })
}, 60_000)

async function withClient<Answer>(temp: TempReeve, act: (reeve: Reeve) => Promise<Answer>): Promise<Answer> {
  const reeve = await connect({ socket: temp.home.socket })
  try {
    return await act(reeve)
  } finally {
    await reeve.close()
  }
}

/** What the occurrence of this delivery was told. */
async function delivered(reeve: Reeve, number: number): Promise<unknown> {
  let pid = ''
  await until(`delivery ${number}`, async () => {
    const { deliveries } = await reeve.deliveries({ trigger: 'import' })
    pid = deliveries.find((one) => one.number === number && one.verdict === 'started')?.pid ?? ''
    return pid !== ''
  })
  await reeve.wait({ pid })
  return JSON.parse((await reeve.log({ pid, from: 'start' })).lines.map(({ text }) => text).join(''))
}

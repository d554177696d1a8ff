import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ended, TempReeve } from '../command/commands.ts'
import { startDaemon } from '../command/daemon-program.ts'
import { until } from '../keeper/client.ts'
import { Random } from '../simulation/random.ts'

const SCOPE = 'session:s1'
const IN_S1 = { kind: 'command', owner: { session: 's1' }, lifetime: 'detached' } as const
/** Limits that hold back no match: held-back matches have their own tests. */
const FLOOD = { flood: { everyMs: 0, burst: 1_000 } }

test('a daemon that is killed again and again between a line and its notice tells of each line once', async () => {
  const seed = 20_260_815
  const random = new Random(seed)
  await using temp = new TempReeve()
  const go = join(temp.folder, 'go')
  const run = `n=0; while [ ! -e ${go} ]; do n=$((n+1)); echo "MATCH $n"; sleep 0.005; done; printf "MATCH last"`
  let daemon = await startDaemon(temp, {}, FLOOD)
  await daemon.call('openSession', { session: 's1' })
  const { record } = await daemon.call('spawn', { ...IN_S1, spec: { run, watch: [{ text: 'MATCH' }] } })
  for (let round = 0; round < 8; round++) {
    const told = random.between(1, 30)
    const before = (await daemon.call('notices', { scope: SCOPE, newest: true, limit: 1 })).next
    await until('some have been told since', async () => {
      const { next } = await daemon.call('notices', { scope: SCOPE, newest: true, limit: 1 })
      return next >= before + told
    })
    await daemon.kill()
    daemon = await startDaemon(temp, {}, FLOOD)
  }
  writeFileSync(go, '')
  await daemon.kill()
  const reeve = await temp.embed({}, FLOOD)
  await ended(reeve, record.pid)
  const lines: string[] = []
  let counted = 0
  let ends = 0
  for (let after = 0; ; ) {
    const { notices, next, more } = await reeve.notices({ scope: SCOPE, after, limit: 1_000 })
    for (const { kind, payload } of notices) {
      if (kind === 'completion') ends += 1
      else lines.push(...(Object(payload).lines as string[]))
      counted += Number(Object(payload).more ?? 0)
    }
    after = next
    if (!more) break
  }
  const wanted = (await reeve.log({ pid: record.pid, from: 'start', limit: 10_000 })).lines.map(
    ({ text }) => text,
  )
  // Some lines that were printed while no daemon ran are only counted.
  expect(lines.length + counted, `seed ${seed}`).toBe(wanted.length)
  expect(lines).toEqual(wanted.filter((line) => lines.includes(line)))
  expect(lines.at(-1)).toBe('MATCH last')
  expect(ends).toBe(1)
})

test('an end whose daemon was killed before its notice was read is reported once', async () => {
  await using temp = new TempReeve()
  for (let round = 0; round < 5; round++) {
    const daemon = await startDaemon(temp)
    await daemon.call('openSession', { session: 's1' })
    daemon.tell(
      JSON.stringify({ id: 0, verb: 'spawn', input: { ...IN_S1, spec: { run: 'echo x; exit 3' } } }),
    )
    await daemon.says('id', (said) => said['id'] === 0)
    await daemon.kill()
  }
  const reeve = await temp.embed()
  const { processes } = await reeve.list({ filter: { status: 'any' } })
  for (const { record } of processes) await ended(reeve, record.pid)
  const { notices } = await reeve.notices({ scope: SCOPE })
  expect(notices.map(({ pid }) => pid).sort()).toEqual(processes.map(({ record }) => record.pid).sort())
})

test('a notice taken from a daemon that died is given again before its acknowledgement, and never after it', async () => {
  await using temp = new TempReeve()
  let daemon = await startDaemon(temp)
  await daemon.call('openSession', { session: 's1' })
  const { record } = await daemon.call('spawn', { ...IN_S1, spec: { run: 'true' } })
  await daemon.call('wait', { pid: record.pid })
  const take = { scope: SCOPE, consumer: 'one', visibilityMs: 1 }
  const first = await daemon.call('takeNotices', take)
  expect(first.notices.map(({ pid }) => pid)).toEqual([record.pid])
  await daemon.kill()
  daemon = await startDaemon(temp)
  const again = await daemon.call('takeNotices', { ...take, waitMs: 10_000 })
  expect(again.notices.map(({ position }) => position)).toEqual(first.notices.map(({ position }) => position))
  const positions = again.notices.map(({ position }) => position)
  await daemon.call('acknowledge', { scope: SCOPE, consumer: 'one', positions })
  await daemon.kill()
  const reeve = await temp.embed()
  expect((await reeve.takeNotices(take)).notices).toEqual([])
  expect((await reeve.takeNotices({ ...take, consumer: 'two' })).notices).toEqual([])
  expect((await reeve.notices({ scope: SCOPE })).notices).toEqual([])
})

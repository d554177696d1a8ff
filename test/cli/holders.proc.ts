import { expect, test } from 'vitest'
import { CommandLine } from './command-line.ts'

interface Listed {
  readonly id: string
  readonly role: string
  readonly state: string
  readonly osPid: number
  readonly renewedAt: number
  readonly holds: readonly string[]
}

test('holders are listed with their processes, and a live one is removed only with --force', async () => {
  const reeve = new CommandLine()
  const pid = (await reeve.run(['run', '-d', '--', 'sleep', '60'])).stdout.trim()
  const { daemon, keeper } = await reeve.json<{
    daemon: { id: string; osPid: number }
    keeper: { id: string; osPid: number }
  }>('status')
  const found = await reeve.json<Listed[]>('holders')
  expect(found.find(({ id }) => id === daemon.id)).toMatchObject({
    role: 'kernel',
    state: 'live',
    osPid: daemon.osPid,
    holds: [],
  })
  expect(found.find(({ id }) => id === keeper.id)).toMatchObject({ role: 'keeper', holds: [pid] })
  const table = (await reeve.run(['holders'])).stdout
  expect(table).toMatch(/^ID +ROLE +STATE +PID +HOST +AGE +RENEWED +HOLDS/)
  expect(table).toMatch(new RegExp(`${keeper.id} +keeper +live +${keeper.osPid} .*${pid}`))

  const refused = await reeve.run(['holders', 'remove', daemon.id])
  expect(refused).toMatchObject({ code: 5, stdout: '' })
  expect(refused.stderr).toContain(`PID ${daemon.osPid}`)
  expect((await reeve.run(['holders', 'remove', 'k_none'])).code).toBe(3)
  expect((await reeve.run(['holders', 'remove'])).code).toBe(2)
  expect((await reeve.run(['holders', '--as', 'session:s1'])).code).toBe(4)

  // The daemon loses nothing of its own here, and goes on: commands are the keeper's.
  expect(await reeve.run(['holders', 'remove', daemon.id, '--force'])).toMatchObject({
    code: 0,
    stdout: `${daemon.id} removed; it held nothing\n`,
  })
  await expect
    .poll(async () => (await reeve.json<typeof found>('holders')).map(({ role }) => role), {
      timeout: 60_000,
      interval: 500,
    })
    .toContain('kernel')
  const after = await reeve.json<{ daemon: { id: string; osPid: number } }>('status')
  expect(after.daemon.osPid).toBe(daemon.osPid)
  expect(after.daemon.id).not.toBe(daemon.id)
  expect((await reeve.run(['kill', pid])).code).toBe(0)
})

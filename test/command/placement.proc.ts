import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ended, start, TempReeve } from './commands.ts'
import { startDaemon } from './daemon-program.ts'

/** How many commands are started in each of two data folders, and how often each is started again. */
const COMMANDS = 8
const RESTARTS = 2

test('two programs on one file: every command and every restart of it runs in the data folder where it was asked for', async () => {
  await using one = new TempReeve()
  await using two = new TempReeve()
  const reeve = await one.embed()
  const other = await startDaemon(two, {}, { store: one.store })
  const restart = { on: 'failure', delayMs: 1, limit: RESTARTS } as const
  const spec = { run: 'exit 3', restart }
  const names = (label: string) => Array.from({ length: COMMANDS }, (_, index) => `${label}-${index}`)
  await Promise.all([
    ...names('one').map((name) => start(reeve, spec, { name })),
    ...names('two').map((name) => other.call('spawn', { kind: 'command', spec, name })),
  ])

  const runs = async (name: string) => {
    const { processes } = await reeve.list({ filter: { name: [name], status: 'any' } })
    return processes.map(({ record }) => record)
  }
  for (const [label, home] of [
    ['one', one],
    ['two', two],
  ] as const) {
    const keeper = home.keeper().id
    for (const name of names(label)) {
      await expect
        .poll(async () => (await runs(name)).filter(({ outcome }) => outcome !== null).length, {
          timeout: 60_000,
        })
        .toBe(1 + RESTARTS)
      for (const { pid, placement, firstStarted, outcome } of await runs(name)) {
        expect([placement, firstStarted?.holder, outcome?.exitCode]).toEqual([`folder:${home.id}`, keeper, 3])
        expect(readdirSync(home.keeperHome.output)).toContain(pid)
      }
    }
  }
  await other.close()
})

test('a command that another program restarts, or places elsewhere, runs in the data folder that is named', async () => {
  await using one = new TempReeve()
  await using two = new TempReeve()
  const reeve = await one.embed()
  const other = await startDaemon(two, {}, { store: one.store })
  const { pid } = await start(reeve, 'exit 0')
  await ended(reeve, pid)
  const { record: again } = await other.call('restart', { pid })
  const there = await start(reeve, 'exit 0', { placement: `folder:${two.id}` })
  expect((await ended(reeve, again.pid)).firstStarted?.holder).toBe(one.keeper().id)
  expect((await ended(reeve, there.pid)).firstStarted?.holder).toBe(two.keeper().id)
  await other.close()
})

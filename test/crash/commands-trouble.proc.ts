import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Store, StoreError } from 'reeve'
import { openSqlite } from 'reeve/sqlite'
import { expect, test } from 'vitest'
import { codeOf, ended, printed, start, TempReeve, textOf } from '../command/commands.ts'
import { startDaemon } from '../command/daemon-program.ts'
import { isAlive } from '../command/os-processes.ts'
import { startTimeOf, until } from '../keeper/client.ts'

/** A store whose writes can be made to fail, or to wait. */
async function troubled(temp: TempReeve) {
  const inner = await openSqlite(temp.store)
  let before = (_nth: number): Promise<void> => Promise.resolve()
  let writes = 0
  const store = new Proxy<Store>(inner, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (name !== 'write') return value.bind(target)
      return async (...given: unknown[]) => {
        writes += 1
        await before(writes)
        return value.apply(target, given)
      }
    },
  })
  return {
    store,
    /** Counts from now on. */
    beforeWrites(act: (nth: number) => Promise<void>) {
      writes = 0
      before = act
    },
    close: () => inner.close(),
  }
}

const away = () => new StoreError('store_unavailable', 'The store is away.', 'Wait.')

test('a store that is away while a command begins makes no outcome up, and the command goes on', async () => {
  await using temp = new TempReeve()
  const { store, beforeWrites, close } = await troubled(temp)
  const reeve = await temp.embed({}, { store })
  // The first registers it, the second would say that its program is there.
  beforeWrites(async (nth) => {
    if (nth === 2) throw away()
  })
  const { pid } = await start(reeve, 'echo here; exec sleep 1000')
  await printed(reeve, pid, 'here')
  await until('its program is on record', async () => (await reeve.show({ pid })).program !== null)
  expect(await reeve.show({ pid })).toMatchObject({ status: 'running', outcome: null })
  expect(temp.programs(pid)).toHaveLength(1)
  expect((await reeve.kill({ pid })).record.outcome).toMatchObject({ signal: 'SIGTERM' })
  expect(temp.troubles.length).toBeGreaterThan(0)
  await reeve.close()
  await close()
})

test('a command that is registered while its keeper is replaced is begun by the next', async () => {
  await using temp = new TempReeve()
  const { store, beforeWrites, close } = await troubled(temp)
  const reeve = await temp.embed({}, { store })
  const replaced = Promise.withResolvers<void>()
  const former = temp.keeper()
  beforeWrites(async (nth) => {
    if (nth === 1) await replaced.promise
  })
  const spawning = reeve.spawn({ kind: 'command', spec: { run: 'echo late; exit 4' } })
  await temp.killKeeper()
  await until('there is another keeper', () => temp.keeper().osPid !== former.osPid)
  await until('it has a row in the store', async () => (await reeve.status()).keeper !== null)
  replaced.resolve()
  const { record } = await spawning
  expect((await ended(reeve, record.pid)).outcome).toMatchObject({ exitCode: 4 })
  expect(await textOf(reeve, record.pid)).toBe('late\n')
  await reeve.close()
  await close()
})

test('a change of keeper that the store could not take is tried again', async () => {
  await using temp = new TempReeve()
  const { store, beforeWrites, close } = await troubled(temp)
  const reeve = await temp.embed({}, { store })
  const { pid } = await start(reeve, 'echo here; exec sleep 1000')
  await printed(reeve, pid, 'here')
  let refused = 0
  beforeWrites(async () => {
    refused += 1
    if (refused <= 3) throw away()
  })
  await temp.killKeeper()
  await until('the lease is its successor’s', async () => {
    const { events } = await reeve.events({ pid })
    return events.some(({ type }) => type === 'taken_over')
  })
  expect(await reeve.interrupt({ scope: { pid } })).toMatchObject({ matched: 1, stale: [] })
  expect((await ended(reeve, pid)).outcome).toMatchObject({ status: 'abandoned', evidence: 'keeper_lost' })
  await reeve.close()
  await close()
})

test('a command that is killed before its program was begun is never begun', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const mark = join(temp.folder, 'mark')
  // It hears of the spawn, and dies before it can do anything about it.
  process.kill(temp.keeper().osPid, 'SIGSTOP')
  const spawning = reeve.spawn({ kind: 'command', name: 'x', spec: { run: `echo ran > ${mark}` } })
  await until('it is registered', async () => (await reeve.list()).processes.length > 0)
  const killing = reeve.kill({ pid: 'x' })
  await until('it is to stop', async () => (await reeve.show({ pid: 'x' })).stopRequest !== null)
  await temp.killKeeper()
  const { record } = await killing
  expect(record).toMatchObject({
    program: null,
    outcome: { status: 'cancelled', reason: 'killed', exitCode: null },
  })
  await spawning
  expect(existsSync(mark)).toBe(false)
  expect(await textOf(reeve, record.pid)).toBe('')
})

test('a daemon that is closed while its keeper is replaced leaves none behind', async () => {
  await using temp = new TempReeve()
  const daemon = await startDaemon(temp)
  await temp.killKeeper()
  await daemon.close()
  // `TempReeve` checks that no keeper is left; `close` has waited until the daemon ended by itself.
  expect(startTimeOf(daemon.osPid)).toBe('')
  // The next keeper removes the files of a killed one.
  await temp.embed()
})

test('a data folder that is opened with another store is refused, and its commands go on', async () => {
  await using temp = new TempReeve()
  const first = await temp.embed()
  const { record } = await first.spawn({
    kind: 'command',
    lifetime: 'detached',
    spec: { run: 'echo here; exec sleep 1000' },
  })
  const { osPid, startTime } = record.program ?? { osPid: 0, startTime: '' }
  await first.close()
  expect(await codeOf(temp.embed({}, { store: join(temp.folder, 'other.db') }))).toBe('wrong_store')
  expect(isAlive({ osPid, startTime: startTime ?? '' })).toBe(true)
  const again = await temp.embed()
  expect(await again.show({ pid: record.pid })).toMatchObject({ status: 'running' })
  await again.kill({ pid: record.pid })
})

test('a daemon that is stopped keeps its folder, also when its keeper is dead', async () => {
  await using temp = new TempReeve()
  const daemon = await startDaemon(temp)
  process.kill(daemon.osPid, 'SIGSTOP')
  await temp.killKeeper()
  expect(await codeOf(temp.embed())).toBe('daemon_already_running')
  process.kill(daemon.osPid, 'SIGCONT')
  const { record } = await daemon.call('spawn', { kind: 'command', spec: { run: 'echo fine' } })
  expect((await daemon.call('wait', { pid: record.pid })).type).toBe('ended')
  await daemon.close()
})

test('a command that ended without a daemon has ended for the first caller of the next one', async () => {
  await using temp = new TempReeve()
  const daemon = await startDaemon(temp)
  const { record } = await daemon.call('spawn', {
    kind: 'command',
    lifetime: 'detached',
    spec: { run: 'exit 4' },
  })
  const { record: slow } = await daemon.call('spawn', {
    kind: 'command',
    lifetime: 'detached',
    spec: { run: `while [ ! -e ${temp.folder}/go ]; do sleep 0.01; done; exit 5` },
  })
  await daemon.kill()
  writeFileSync(join(temp.folder, 'go'), '')
  const program = slow.program
  await until('it is gone', () => startTimeOf(program?.osPid ?? 0) !== program?.startTime)
  const reeve = await temp.embed()
  const shown = await reeve.show({ pid: slow.pid })
  expect(shown.outcome).toMatchObject({ status: 'failed', exitCode: 5 })
  expect((await reeve.show({ pid: record.pid })).outcome).toMatchObject({ exitCode: 4 })
})

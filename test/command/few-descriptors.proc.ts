import { expect, test } from 'vitest'
import { connect } from '../../src/client/connect.ts'
import { ReeveError } from '../../src/core/errors.ts'
import { until } from '../keeper/client.ts'
import { TempReeve } from '../temp-reeve.ts'

const OPEN_FILES = 256
const SPAWNS = 150
/** One descriptor for each, 48 in reserve, and the own ones of daemon and keeper. */
const MIN_RUNNING = 75

type Client = Awaited<ReturnType<typeof connect>>

async function spawnSome(
  reeve: Client,
  spec: object,
  count: number,
): Promise<{ pids: string[]; refused: string[] }> {
  const pids: string[] = []
  const refused: string[] = []
  const next = Array.from({ length: count }).values()
  const spawnInTurn = async () => {
    for (const _ of next) {
      try {
        const { record } = await reeve.spawn({
          kind: 'command',
          lifetime: 'detached',
          spec: spec as { argv: [string] },
        })
        expect(record).toMatchObject({ status: 'running', outcome: null })
        pids.push(record.pid)
      } catch (error) {
        if (!(error instanceof ReeveError)) throw error
        refused.push(error.code)
      }
    }
  }
  await Promise.all(Array.from({ length: 8 }, spawnInTurn))
  return { pids, refused }
}

test.each([
  ['default', { argv: ['sleep', '1000'] }, MIN_RUNNING],
  ['printing', { run: 'echo one; sleep 5; echo two; exec sleep 1000' }, MIN_RUNNING],
  ['tagged', { argv: ['sleep', '1000'], output: 'tagged' }, MIN_RUNNING / 3],
  ['terminal', { argv: ['sleep', '1000'], pty: true }, MIN_RUNNING / 4],
] as const)(
  'with few descriptors, %s commands are refused before none is left for ending those that run',
  { timeout: 300_000 },
  async (_, spec, least) => {
    const temp = new TempReeve()
    await temp.start(['--listen', 'off'], {}, { openFiles: OPEN_FILES })
    const reeve = await connect({ socket: temp.home.socket })
    const { pids, refused } = await spawnSome(reeve, spec, SPAWNS)
    expect(pids.length).toBeGreaterThanOrEqual(least)
    expect(new Set(refused)).toEqual(new Set(refused.length === 0 ? [] : ['too_many_commands']))
    expect(pids.length + refused.length).toBe(SPAWNS)

    // They can be looked at and ended, one and all.
    const [first = ''] = pids
    await reeve.kill({ pid: first, graceMs: 1_000 })
    expect((await reeve.wait({ pid: first, timeoutMs: 60_000 })).type).toBe('ended')
    const report = await reeve.killAll({ graceMs: 1_000 })
    expect(report).toMatchObject({ failed: [], stale: [] })
    expect(report.signalled.length + report.asked.length).toBe(pids.length - 1)
    await until('all have ended', async () => (await reeve.list()).processes.length === 0)

    // And others replace them.
    const again = await spawnSome(reeve, spec, 10)
    expect([again.pids.length, again.refused]).toEqual([10, []])
    await reeve.killAll({ graceMs: 1_000 })
    await reeve.close()
  },
)

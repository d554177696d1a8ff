import type { Amounts } from '../../../src/core/allowance/amounts.ts'
import type { Random } from '../random.ts'
import type { Request } from './intent.ts'
import { someRequest } from './requests.ts'

/** A keeper outside this world: if the report of an end is lost, it still holds the command. */
export const ELSEWHERE = 'kp_elsewhere'

export const allowances: readonly Request[] = [
  {
    name: 'register with an allowance',
    weight: 3,
    ask(world, peer, track) {
      const { random } = world.stage
      const allowance = someAmounts(random, 60)
      const { kind, spec, recovery, ...rest } = someRequest(world)
      // Mostly processes that live until a client ends them, so that there is something to charge and to carve from.
      const lasting = random.chance(0.6)
      const what = lasting ? ({ kind: 'external', spec: {} } as const) : { kind, spec }
      const again = lasting || recovery === undefined ? {} : { recovery }
      const request = { ...rest, ...what, ...again, allowance }
      const said = JSON.stringify(allowance)
      const asked = peer.kernel.register([{ request, actor: 'host' }])
      track(said, asked)
    },
  },
  {
    name: 'charge',
    weight: 4,
    ask(world, peer, track) {
      const { random } = world.stage
      const pid = world.somePid(
        ({ record: { limits, outcome } }) => outcome === null && limits.allowance !== undefined,
      )
      const amounts = someAmounts(random, 12)
      const key = random.maybe(0.3, () => ({ replayKey: `call:${random.between(1, 3)}` }))
      const asked = peer.kernel.charge({ pid, amounts, done: false, actor: 'host', ...key })
      track(`${pid} ${JSON.stringify(amounts)}`, asked)
    },
  },
  {
    name: 'charge for work that was done',
    weight: 1,
    ask(world, peer, track) {
      const { random } = world.stage
      const pid = world.somePid(({ record }) => record.outcome === null && record.kind !== 'command')
      const amounts = someAmounts(random, 30)
      world.ledger.overrunning.add(pid)
      const asked = peer.kernel.charge({ pid, amounts, done: true, actor: 'host' })
      track(`${pid} ${JSON.stringify(amounts)}`, asked)
    },
  },
  {
    name: 'run a command',
    weight: 2,
    ask(world, peer, track) {
      const { random } = world.stage
      const { kind: _kind, spec: _spec, recovery: _recovery, notBefore: _time, ...rest } = someRequest(world)
      const allowance = random.maybe(0.6, () => ({
        outputBytes: random.between(0, 900),
        cpuSeconds: random.between(0, 20) / 10,
      }))
      const result = { outputBytes: random.between(0, 1_200), usage: { cpuMs: random.between(0, 2_500) } }
      const request = {
        ...rest,
        kind: 'command',
        spec: { run: 'true' },
        ...(allowance === undefined ? {} : { allowance }),
      } as const
      const pid = peer.kernel.edges.newPid()
      world.ledger.overrunning.add(pid)
      const run = async () => {
        await peer.kernel.register([{ request, actor: 'host', pid, startBy: ELSEWHERE }])
        await peer.kernel.perform({
          type: 'end',
          pid,
          ending: { status: 'completed', result },
          replayKey: 'exit',
          fence: { holder: ELSEWHERE, fence: 1 },
          actor: `process:${pid}`,
          at: peer.kernel.edges.clock.now(),
        })
      }
      track(JSON.stringify({ pid, allowance, result }), run())
    },
  },
]

function someAmounts(random: Random, most: number): Amounts {
  const { toolCalls, cost } = { toolCalls: random.between(0, most), cost: random.between(0, most) / 1_000 }
  // Includes amounts that commands use, so that commands can get a part of them.
  if (most < 50 || !random.chance(0.5)) return { toolCalls, cost }
  return { toolCalls, cost, outputBytes: random.between(500, 4_000), cpuSeconds: random.between(1, 9) }
}

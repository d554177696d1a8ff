import type { Amounts } from '../../../src/core/allowance/amounts.ts'
import type { Random } from '../random.ts'
import type { Request } from './intent.ts'
import { someRequest } from './requests.ts'

/** A keeper that is not of this world: when word of an end is lost, it still holds the command. */
export const ELSEWHERE = 'kp_elsewhere'

export const allowances: readonly Request[] = [
  {
    name: 'register with an allowance',
    weight: 3,
    ask(world, peer) {
      const { random } = world.stage
      const allowance = someAmounts(random, 60)
      const { kind, spec, recovery, ...rest } = someRequest(world)
      // Mostly such as live until somebody ends them: there is something to charge and to give away.
      const lasting = random.chance(0.6)
      const what = lasting ? ({ kind: 'external', spec: {} } as const) : { kind, spec }
      const again = lasting || recovery === undefined ? {} : { recovery }
      const request = { ...rest, ...what, ...again, allowance }
      const said = JSON.stringify(allowance)
      const asked = peer.kernel.register([{ request, actor: 'host' }])
      world.track('register with an allowance', peer, said, asked)
    },
  },
  {
    name: 'charge',
    weight: 4,
    ask(world, peer) {
      const { random } = world.stage
      const pid = world.somePid(
        ({ record: { limits, outcome } }) => outcome === null && limits.allowance !== undefined,
      )
      const amounts = someAmounts(random, 12)
      const key = random.maybe(0.3, () => ({ replayKey: `call:${random.between(1, 3)}` }))
      const asked = peer.kernel.charge({ pid, amounts, done: false, actor: 'host', ...key })
      world.track('charge', peer, `${pid} ${JSON.stringify(amounts)}`, asked)
    },
  },
  {
    name: 'charge for work that was done',
    weight: 1,
    ask(world, peer) {
      const { random } = world.stage
      const pid = world.somePid(({ record }) => record.outcome === null && record.kind !== 'command')
      const amounts = someAmounts(random, 30)
      world.ledger.overrunning.add(pid)
      const asked = peer.kernel.charge({ pid, amounts, done: true, actor: 'host' })
      world.track('charge for work that was done', peer, `${pid} ${JSON.stringify(amounts)}`, asked)
    },
  },
  {
    name: 'run a command',
    weight: 2,
    ask(world, peer) {
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
          ...{ type: 'end', pid, ending: { status: 'completed', result }, replayKey: 'exit' },
          ...{ fence: { holder: ELSEWHERE, fence: 1 }, actor: `process:${pid}` },
          at: peer.kernel.edges.clock.now(),
        })
      }
      world.track('run a command', peer, JSON.stringify({ pid, allowance, result }), run())
    },
  },
]

function someAmounts(random: Random, most: number): Amounts {
  const { toolCalls, cost } = { toolCalls: random.between(0, most), cost: random.between(0, most) / 1_000 }
  // Of what commands use some is given, too, so that they have something to be given from.
  if (most < 50 || !random.chance(0.5)) return { toolCalls, cost }
  return { toolCalls, cost, outputBytes: random.between(500, 4_000), cpuSeconds: random.between(1, 9) }
}

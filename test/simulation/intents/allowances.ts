import type { Amounts } from '../../../src/core/allowance/amounts.ts'
import type { Random } from '../random.ts'
import type { Request } from './intent.ts'
import { someRequest } from './requests.ts'

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
      const asked = peer.kernel.charge({ pid, amounts, done: false, actor: 'host' })
      world.track('charge', peer, `${pid} ${JSON.stringify(amounts)}`, asked)
    },
  },
]

function someAmounts(random: Random, most: number): Amounts {
  return { toolCalls: random.between(0, most), cost: random.between(0, most) / 1_000 }
}

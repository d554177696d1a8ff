import type { Rule } from '../../../src/core/capability/rule.ts'
import type { Actor } from '../../../src/core/process/record.ts'
import { addRule } from '../../../src/kernel/policies.ts'
import { openSession } from '../../../src/kernel/sessions.ts'
import { MACHINE_PARTS } from '../authority/machine.ts'
import type { World } from '../world.ts'
import { someCommand, textOf } from './gated.ts'
import type { Request } from './intent.ts'

/** Commands that rules let begin without a person, on machines that change before they do. */
export const changed: readonly Request[] = [
  {
    name: 'change a program before it begins',
    weight: 5,
    ask(world, peer, track) {
      const { random } = world.stage
      const actor = sessionWithoutAsks(world)
      if (actor === undefined) {
        const session = `s${world.sessions.length + 1}`
        world.sessions.push(session)
        const { edges } = peer.kernel
        track(session, openSession(edges, 'host', session, null))
        const rule = { effect: 'allow', rights: ['execute'], resource: 'shell:git' } as const
        const uses = random.chance(0.3) ? { uses: random.between(1, 3) } : {}
        track(
          `${session} may git`,
          addRule(edges, 'host', `session:${session}`, (id) => ({ ...rule, ...uses, id })),
        )
        return
      }
      const request = someCommand(random)
      track(`${actor} ${textOf(request)}`, peer.kernel.register([{ request, actor }]), () => {
        if (random.chance(0.3)) return
        const what = random.pick(MACHINE_PARTS)
        for (const machine of world.machines.values()) machine[what] += 1
        world.stage.say('world', `every machine has another ${what}`)
      })
    },
  },
]

/** A session whose rules tell commands apart, and ask about none of these. */
function sessionWithoutAsks(world: World): Actor | undefined {
  const sets = world.ledger.observer.ask({ ask: 'ruleSets', after: null, limit: 1_000 })
  const isAboutCommands = ({ resource }: Rule) => resource.startsWith('shell:')
  const isAllow = ({ effect }: Rule) => effect === 'allow'
  const fitting = sets.filter(({ subject, rules }) => {
    const about = rules.filter(isAboutCommands)
    return subject.startsWith('session:') && about.length > 0 && about.every(isAllow)
  })
  return fitting.length === 0 ? undefined : (world.stage.random.pick(fitting).subject as Actor)
}

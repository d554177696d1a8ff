import type { Approval, ApprovalGrant } from '../../../src/core/approval/approval.ts'
import type { Answer } from '../../../src/core/approval/decide-answer.ts'
import { RefusedError } from '../../../src/core/errors.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { Actor } from '../../../src/core/process/record.ts'
import { same } from '../ledger.ts'
import type { Peer } from '../peer.ts'
import type { World } from '../world.ts'
import type { Request } from './intent.ts'
import { someSession } from './requests.ts'

/** Answers to approvals, and what else settles them. */
export const approvals: readonly Request[] = [
  {
    name: 'answer an approval',
    weight: 16,
    ask(world, peer) {
      const approval = someApproval(world)
      if (approval === undefined && world.stage.random.chance(0.9)) return
      answer(world, peer, approval, someAnswerer(world, approval), someAnswer(world, approval))
    },
  },
  {
    name: 'two answers at once',
    weight: 5,
    ask(world, peer) {
      const approval = someApproval(world)
      if (approval === undefined) return
      const other = world.stage.random.pick(world.open)
      answer(world, peer, approval, 'human:ada', someAnswer(world, approval))
      answer(world, other, approval, 'human:bob', someAnswer(world, approval))
    },
  },
  {
    name: 'approve after a change of the machine',
    weight: 4,
    ask(world, peer) {
      const { random } = world.stage
      const commands = pending(world).filter(({ pid }) => world.ledger.entry(pid)?.record.kind === 'command')
      if (commands.length === 0) return
      const what = random.pick(['path', 'path', 'program', 'folder'] as const)
      for (const machine of world.machines.values()) machine[what] += 1
      world.stage.say('world', `every machine has another ${what}`)
      const approval = random.pick(commands)
      answer(world, peer, approval, 'human:ada', yesTo(approval))
    },
  },
  {
    name: 'answer too late',
    weight: 3,
    ask(world, peer) {
      const now = peer.clock.now()
      const late = pending(world).find(({ expiresAt }) => expiresAt !== null && expiresAt <= now)
      if (late !== undefined) answer(world, peer, late, 'human:ada', yesTo(late))
    },
  },
  {
    name: 'expire approvals',
    weight: 2,
    ask(_world, peer, track) {
      track('', peer.kernel.approvals.expireDue())
    },
  },
  {
    name: 'cancel what waits for a person',
    weight: 2,
    ask(world, peer, track) {
      const { random } = world.stage
      const waiting = pending(world)
      if (waiting.length === 0) return
      const { pid } = random.pick(waiting)
      const asked = { type: 'stop', pid, how: 'cancel', reason: 'not needed', cause: null } as const
      const replayKey = `withdraw:${random.between(1, 99)}`
      track(pid, peer.kernel.perform({ ...asked, replayKey, actor: 'host', at: peer.clock.now() }))
    },
  },
]

export function pending({ approvals: log }: World): readonly Approval[] {
  return [...log.approvals.values()].filter(({ state }) => state === 'pending')
}

/** Usually one that waits, sometimes a settled one, rarely an unknown id. */
export function someApproval(world: World): Approval | undefined {
  const { random } = world.stage
  if (random.chance(0.02)) return undefined
  const all = [...world.approvals.approvals.values()]
  const from = random.chance(0.9) ? pending(world) : all
  return from.length === 0 ? undefined : random.pick(from)
}

/** Mostly a person; sometimes an actor that may not answer, and would approve its own act. */
export function someAnswerer(world: World, approval: Approval | undefined): Actor {
  const { random } = world.stage
  const who = random.weighted(
    ['person', 'host', 'asker', 'session', 'relative', 'above', 'below', 'kernel'] as const,
    (one) => WHO_WEIGHTS[one],
  )
  switch (who) {
    case 'person':
      return random.pick(['human:ada', 'human:bob'])
    case 'host':
      return 'host'
    case 'asker':
      return approval?.request.subject ?? 'host'
    case 'session':
      return `session:${someSession(world)}`
    case 'relative': {
      const { sessions } = world.ledger
      const asking = approval?.request.session ?? ''
      const above = sessions.get(asking)?.sessionsAbove ?? []
      const below = [...sessions.values()].filter(({ sessionsAbove = [] }) => sessionsAbove.includes(asking))
      const related = [...above, ...below.map(({ id }) => id)]
      return `session:${related.length === 0 ? someSession(world) : random.pick(related)}`
    }
    case 'above':
      return `process:${approval?.request.ancestors[0] ?? world.somePid()}`
    case 'below': {
      const asker = approval?.request.subject ?? ''
      return `process:${world.somePid(({ record }) => record.parent === approval?.pid || `process:${record.parent}` === asker)}`
    }
    case 'kernel':
      return 'kernel:k_simulated'
  }
}

const WHO_WEIGHTS = { person: 8, host: 1, asker: 1, session: 2, relative: 2, above: 1, below: 1, kernel: 0.5 }

function someAnswer(world: World, approval: Approval | undefined): Answer {
  const { random } = world.stage
  if (random.chance(0.25)) return { type: 'deny', ...(random.chance(0.5) ? { advice: 'another way' } : {}) }
  if (random.chance(0.05)) return { type: 'reply', value: 'neither' }
  return yesTo(approval, random.chance(0.3) ? random.pick(GRANTS) : 'once')
}

const GRANTS = ['once', 'process', 'session', 'always'] as const

export function yesTo(approval: Approval | undefined, grant: ApprovalGrant = 'once'): Answer {
  if (approval?.request.type === 'question') return { type: 'reply', value: 'a' }
  const rule = grant === 'always' ? approval?.request.alwaysRule : null
  return { type: 'approve', grant, ...(rule == null ? {} : { rule }) }
}

/** Asks, and compares what the answerer is told with the log. */
export function answer(
  world: World,
  peer: Peer,
  approval: Approval | undefined,
  by: Actor,
  given: Answer,
  spec?: JsonObject,
  then: () => void = () => {},
): void {
  const id = approval?.id ?? 'a_unknown'
  const { stage, approvals: log } = world
  const asked = peer.kernel.approvals
    .answer({ id, by, answer: given, ...(spec === undefined ? {} : { edit: () => spec }) })
    .then((settlement) => {
      if (settlement.type !== 'refused') return settlement
      const isPerson = by === 'host' || by.startsWith('human:')
      const { code, details } = settlement.refusal
      // A yes to what a rule denies by now is refused to people as well; that refusal names the approval.
      const isAboutAct = details?.['approval'] !== undefined || details?.['pid'] !== undefined
      if (isPerson && code === 'denied' && !isAboutAct)
        stage.violated('people may answer', `${by} was refused for ${id}: ${settlement.refusal.message}`)
      throw new RefusedError(settlement.refusal)
    })
  const what =
    given.type === 'approve' ? `${given.type} ${spec === undefined ? given.grant : 'edited'}` : given.type
  world.track(`answer ${what}`, peer, `${id} by ${by}`, asked, (settlement) => {
    const known = log.approvals.get(id)
    // Pruned with its process.
    if (known === undefined) return
    if (!same(settlement.approval, known))
      stage.violated('every answerer is told which answer counts', `${by} was told another one of ${id}`)
    if (settlement.type === 'settled_before') return
    const winner = world.settled.get(id)
    if (winner !== undefined)
      stage.violated('one answer wins', `${by} settled ${id}, and ${winner} did before`)
    world.settled.set(id, by)
    then()
  })
}

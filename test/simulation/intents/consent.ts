import type { Approval, ApprovalGrant } from '../../../src/core/approval/approval.ts'
import type { Rule } from '../../../src/core/capability/rule.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { Actor, ProcessRecord } from '../../../src/core/process/record.ts'
import { addRule } from '../../../src/kernel/policies.ts'
import { asJson } from '../payload.ts'
import type { Peer } from '../peer.ts'
import type { Random } from '../random.ts'
import type { World } from '../world.ts'
import { answer, pending, someAnswerer, someApproval, yesTo } from './approvals.ts'
import type { Request } from './intent.ts'
import { EVENT_TYPES, someSession } from './requests.ts'

/** Answers that count for more than one time, answers with changes, and rules that are added before or after them. */
export const consent: readonly Request[] = [
  {
    name: 'approve with changes',
    weight: 6,
    ask(world, peer) {
      const { random } = world.stage
      const waiting = pending(world)
      const approval = random.chance(0.9) && waiting.length > 0 ? random.pick(waiting) : someApproval(world)
      const spec = approval === undefined ? undefined : someEdit(world, approval)
      if (approval === undefined || spec === undefined) return
      const by = random.chance(0.85) ? 'human:ada' : someAnswerer(world, approval)
      const { session } = approval.request
      const [, denied] = Array.isArray(spec['argv']) ? spec['argv'].map(String) : []
      const edit = () => answer(world, peer, approval, by, { type: 'approve', grant: 'once' }, spec)
      if (session === null || denied === undefined || random.chance(0.6)) edit()
      else add(world, peer, `session:${session}`, { effect: 'deny', ...gitRule(denied) }, edit)
    },
  },
  {
    name: 'approve, and do it again',
    weight: 6,
    ask(world, peer) {
      const { random } = world.stage
      const lasting = pending(world).flatMap((approval) =>
        lastingGrants(approval).map((grant) => ({ approval, grant })),
      )
      if (lasting.length === 0) return
      const { approval, grant } = random.pick(lasting)
      const record = world.ledger.entry(approval.pid)?.record
      const { session } = approval.request
      if (record === undefined) return
      const again = () => doAgain(world, peer, record)
      const then = () => {
        if (session === null || random.chance(0.6)) again()
        // A rule that is added later asks again.
        else add(world, peer, `session:${session}`, { effect: 'ask', ...ruleAbout(record) }, again)
      }
      answer(world, peer, approval, 'human:ada', yesTo(approval, grant), undefined, then)
    },
  },
  {
    name: 'approve always what is denied elsewhere',
    weight: 4,
    ask(world, peer) {
      const { random } = world.stage
      const waiting = pending(world)
      const pairs = waiting.flatMap((one) =>
        lastingGrants(one).includes('always')
          ? waiting.flatMap((other) => (isSameElsewhere(one, other) ? [{ one, other }] : []))
          : [],
      )
      if (pairs.length === 0) return
      const { one, other } = random.pick(pairs)
      const record = world.ledger.entry(other.pid)?.record
      if (record === undefined) return
      add(world, peer, `session:${other.request.session}`, { effect: 'deny', ...ruleAbout(record) }, () =>
        answer(world, peer, one, 'human:ada', yesTo(one, 'always')),
      )
    },
  },
  {
    name: 'a session above or below answers',
    weight: 4,
    ask(world, peer) {
      const { random } = world.stage
      const { sessions } = world.ledger
      const related = pending(world).flatMap((approval) => {
        const asking = approval.request.session ?? ''
        const above = sessions.get(asking)?.sessionsAbove ?? []
        const below = [...sessions.values()].filter(({ sessionsAbove = [] }) =>
          sessionsAbove.includes(asking),
        )
        return [...above, ...below.map(({ id }) => id)].map((id) => ({
          approval,
          by: `session:${id}` as const,
        }))
      })
      if (related.length === 0) return
      const { approval, by } = random.pick(related)
      add(world, peer, by, { effect: 'allow', rights: ['approve'], resource: 'session:**' }, () =>
        answer(world, peer, approval, by, yesTo(approval)),
      )
    },
  },
  {
    name: 'ask about a counted act',
    weight: 4,
    ask(world, peer) {
      const { random } = world.stage
      const actor: Actor = `session:${someSession(world)}`
      const rule = { rights: ['execute'], resource: 'tool:deploy' } as const
      const act = () => {
        if (!peer.awake || !peer.ready) return
        const request = {
          kind: 'tool',
          spec: { tool: 'deploy', input: [] },
          eventTypes: EVENT_TYPES,
        } as const
        world.track('ask about a counted act', peer, actor, peer.kernel.register([{ request, actor }]))
      }
      add(world, peer, actor, { effect: 'allow', uses: random.between(1, 2), ...rule }, () =>
        add(world, peer, actor, { effect: 'ask', ...rule }, act),
      )
    },
  },
]

/** Adds a rule, and goes on when it counts. */
function add(world: World, peer: Peer, subject: string, rule: Omit<Rule, 'id'>, then: () => void): void {
  if (!peer.awake || !peer.ready) return
  const asked = addRule(peer.kernel.edges, 'host', subject, (id) => ({ ...rule, id }))
  world.track('add a rule', peer, `${subject} ${rule.effect} ${rule.resource}`, asked, () => {
    if (peer.awake && peer.ready) then()
  })
}

function doAgain(world: World, peer: Peer, record: ProcessRecord): void {
  if (!peer.awake || !peer.ready) return
  const { kind, spec, cwd, eventTypes, parent, originator: actor } = record
  const request = {
    ...{ kind, spec, eventTypes },
    ...(cwd === null ? {} : { cwd }),
    ...(parent === null ? {} : { parent }),
  }
  world.track('do it again', peer, `${actor} ${kind}`, peer.kernel.register([{ request, actor }]))
}

/** A rule that is about the act. */
function ruleAbout({ kind, spec }: ProcessRecord): Pick<Rule, 'rights' | 'resource' | 'constraints'> {
  if (kind !== 'command') return { rights: ['execute'], resource: `${kind}:${String(spec[kind])}` }
  return gitRule(Array.isArray(spec['argv']) ? String(spec['argv'][1]) : 'push')
}

function gitRule(subcommand: string): Pick<Rule, 'rights' | 'resource' | 'constraints'> {
  return { rights: ['execute'], resource: 'shell:git', constraints: { args: [subcommand] } }
}

/** The grants that the request offers, besides the one for this time. */
function lastingGrants({ request }: Approval): readonly ApprovalGrant[] {
  return request.type === 'permission' ? request.grants.filter((grant) => grant !== 'once') : []
}

function isSameElsewhere({ request: one }: Approval, { request: other }: Approval): boolean {
  if (one.type !== 'permission' || other.type !== 'permission') return false
  return one.repeatHash === other.repeatHash && other.session !== null && other.session !== one.session
}

/** Another spec for the same process; rarely one that would be another process. */
function someEdit(world: World, { pid }: Approval): JsonObject | undefined {
  const { random } = world.stage
  const record = world.ledger.entry(pid)?.record
  if (record?.kind === 'command')
    return { argv: ['git', random.pick(['push', 'status', 'fetch'])], ...someEnv(random) }
  const { tool } = record?.spec ?? {}
  if (record?.kind !== 'tool' || (tool !== 'deploy' && tool !== 'script')) return undefined
  const input = asJson(Array.from({ length: random.between(0, 3) }, () => ({ do: 'turn' })))
  return { tool: random.chance(0.1) ? 'review' : tool, input }
}

function someEnv(random: Random): JsonObject {
  return random.chance(0.3) ? { env: { MODE: random.pick(['a', 'b']) } } : {}
}

import type { Rule } from '../../../src/core/capability/rule.ts'
import { RefusedError } from '../../../src/core/errors.ts'
import type { Actor } from '../../../src/core/process/record.ts'
import type { RegistrationRequest } from '../../../src/core/process/register.ts'
import { isRefusal, type Refusal } from '../../../src/core/refusal.ts'
import { delegateRule, revokeDelegated } from '../../../src/kernel/delegations.ts'
import { addRule, removeRule } from '../../../src/kernel/policies.ts'
import { DAEMON_FOLDER, FOLDERS } from '../authority/policy-folders.ts'
import { REVIEWER } from '../authority/reviews.ts'
import type { Random } from '../random.ts'
import type { World } from '../world.ts'
import type { Request } from './intent.ts'
import { EVENT_TYPES, someSession } from './requests.ts'

export const rules: readonly Request[] = [
  {
    name: 'add a rule',
    weight: 9,
    ask(world, peer, track) {
      const subject = someSubject(world)
      const rule = someRule(world, subject)
      const about = `${subject} ${rule.effect} ${rule.resource}`
      const asked = addRule(peer.kernel.edges, 'host', subject, (id) => ({ ...rule, id }))
      track(about, orThrow(asked))
    },
  },
  {
    name: 'let a session approve',
    weight: 2,
    ask(world, peer, track) {
      const { random } = world.stage
      const subject = `session:${someSession(world)}`
      const resource = random.pick(['session:**', `session:${someSession(world)}`])
      const rule = { effect: 'allow', rights: ['approve'], resource } as const
      const asked = addRule(peer.kernel.edges, 'host', subject, (id) => ({ ...rule, id }))
      track(`${subject} ${resource}`, orThrow(asked))
    },
  },
  {
    name: 'remove a rule',
    weight: 5,
    ask(world, peer, track) {
      const found = someStoredRule(world, () => true)
      const { subject, id } = found ?? { subject: 'home', id: 'r1' }
      track(`${subject} ${id}`, orThrow(removeRule(peer.kernel.edges, 'host', subject, id)))
    },
  },
  {
    name: 'delegate a rule',
    weight: 9,
    ask(world, peer, track) {
      const { random } = world.stage
      const held = someStoredRule(world, ({ delegable }) => delegable !== undefined)
      if (held === undefined) return
      const to = `session:${someSession(world)}`
      const { id: _id, delegatedFrom: _from, expiresAt: _at, ...rule } = held.rule
      const { delegable: _deep, ...flat } = rule
      const depth = (held.rule.delegable?.depth ?? 1) - 1
      const passedOn = depth > 0 && random.chance(0.5) ? { ...flat, delegable: { depth } } : flat
      const isHolder = held.subject.startsWith('session:') && random.chance(0.3)
      const asked = {
        actor: isHolder ? (held.subject as Actor) : 'host',
        from: isHolder ? null : held.subject,
        to,
        ruleOf: (id: string) => ({ ...passedOn, id }),
      } as const
      track(`${held.subject} ${held.id} to ${to}`, orThrow(delegateRule(peer.kernel.edges, asked)))
    },
  },
  {
    name: 'take a delegated rule back',
    weight: 2,
    ask(world, peer, track) {
      const delegated = someStoredRule(world, ({ delegatedFrom }) => delegatedFrom !== undefined)
      if (delegated === undefined) return
      const { subject, id } = delegated
      track(`${subject} ${id}`, orThrow(revokeDelegated(peer.kernel.edges, 'host', subject, id)))
    },
  },
  {
    name: 'act after a revocation',
    weight: 6,
    ask(world, peer, track) {
      const delegated = someStoredRule(world, ({ delegatedFrom }) => delegatedFrom !== undefined)
      const [link] = delegated?.rule.delegatedFrom ?? []
      if (delegated === undefined || link === undefined || !delegated.subject.startsWith('session:')) return
      const actor = delegated.subject as Actor
      const [kind, name] = delegated.rule.resource.split(':')
      const request: RegistrationRequest =
        kind === 'shell'
          ? { kind: 'command', spec: { argv: ['git', 'push'] }, cwd: '/work' }
          : { kind: 'tool', spec: { tool: name === '**' ? 'deploy' : (name ?? ''), input: [] } }
      const acts = async () => {
        await orThrow(removeRule(peer.kernel.edges, 'host', link.subject, link.rule))
        return peer.kernel.register([{ request: { ...request, eventTypes: EVENT_TYPES }, actor }])
      }
      track(`${link.subject} ${link.rule}, as ${actor}`, acts())
    },
  },
]

/** Refusals are thrown, as the verbs do. */
export async function orThrow<Answer extends object>(asked: Promise<Answer | Refusal>): Promise<Answer> {
  const answer = await asked
  if (isRefusal(answer)) throw new RefusedError(answer)
  return answer
}

/** A session, a process that starts others, or the home. */
function someSubject(world: World): string {
  const { random } = world.stage
  const kind = random.weighted(
    ['session', 'process', 'home', 'workspace'] as const,
    (one) => SUBJECT_WEIGHTS[one],
  )
  if (kind === 'home') return 'home'
  if (kind === 'workspace') return `workspace:${random.pick([...FOLDERS, DAEMON_FOLDER])}`
  if (kind === 'session') return `session:${someSession(world)}`
  return `process:${world.somePid(({ record }) => record.kind !== 'tool' && record.kind !== 'command')}`
}

const SUBJECT_WEIGHTS = { session: 6, process: 3, home: 1, workspace: 0.7 }

function someRule(world: World, subject: string): Omit<Rule, 'id'> {
  const { random, now } = world.stage
  // An allow closes its set: in the home it would deny almost everything to everyone.
  const effect = random.weighted(['ask', 'deny', 'allow'] as const, (one) =>
    isForAll(subject) && one === 'allow' ? 0 : EFFECT_WEIGHTS[one],
  )
  const limits =
    effect === 'allow'
      ? {
          ...(random.chance(0.5) ? { uses: random.between(1, 3) } : {}),
          ...(random.chance(0.7) ? { delegable: { depth: random.between(1, 2) } } : {}),
        }
      : effect === 'ask'
        ? {
            ...(random.chance(0.25) ? { requestable: true as const } : {}),
            ...(random.chance(0.5) ? { answerWithinMs: random.between(1, 8_000) } : {}),
            ...(random.chance(0.4) ? { reviewer: REVIEWER } : {}),
          }
        : {}
  const expiry = random.chance(0.2) ? { expiresAt: now + random.between(0, 8_000) } : {}
  return { effect, rights: ['execute'], ...someResource(random), ...limits, ...expiry }
}

function isForAll(subject: string): boolean {
  return subject === 'home' || subject.startsWith('workspace:')
}

const EFFECT_WEIGHTS = { ask: 4, deny: 0.5, allow: 3 }

export function someResource(random: Random): Pick<Rule, 'resource' | 'constraints'> {
  return random.pick([
    { resource: 'tool:deploy' },
    { resource: 'tool:deploy' },
    { resource: 'tool:**' },
    { resource: 'tool:script' },
    { resource: 'shell:git' },
    { resource: 'shell:git', constraints: { args: ['push'] } },
    { resource: 'shell:git', constraints: { args: ['push'] } },
    { resource: 'workflow:flow' },
    { resource: 'agent:**' },
  ])
}

function someStoredRule(world: World, fits: (rule: Rule) => boolean) {
  const sets = world.ledger.observer.ask({ ask: 'ruleSets', after: null, limit: 1_000 })
  const found = sets.flatMap(({ subject, rules: stored, source }) =>
    // People change a file, not the rules that were read from it.
    (source === null ? stored.filter(fits) : []).map((rule) => ({ subject, id: rule.id, rule })),
  )
  return found.length === 0 ? undefined : world.stage.random.pick(found)
}

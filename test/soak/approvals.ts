import { setTimeout as pause } from 'node:timers/promises'
import type { OutputOf } from 'reeve'
import type { Random } from '../simulation/random.ts'
import { type AskedAction, AskedActions, WISHES, type Wish } from './asked-actions.ts'
import { killInTurn, WRITES } from './kill-at.ts'
import type { KilledDaemons } from './killed-daemons.ts'
import { type KillCounts, type KilledSoak, type KillOptions, merged, soakEach } from './killed-soak.ts'
import { answerTo, yesTo } from './wished-answers.ts'

export type ApprovalSoakReport = KillCounts & {
  readonly approved: number
  readonly denied: number
  readonly expired: number
  readonly withdrawn: number
  /** Of the approved ones: run as a person edited them, and run again by a lasting answer. */
  readonly edited: number
  readonly repeated: number
  /** Uses of counted rules that were spent, with as many effects. */
  readonly counted: number
  readonly doubled: readonly string[]
  readonly lost: readonly string[]
  readonly begunWithoutYes: readonly string[]
  readonly problems: readonly string[]
}

/** Agents at work at once. */
const AGENTS = 6
const PEOPLE = 2
/** A daemon that did not come to its write in this time is killed where it is. */
const MAX_LIFE_MS = 20_000
const WAIT_MS = 20_000
/** Often over before the next daemon is there. */
const EXPIRES_MS = 300
/** How long a person looks at the list before the next look. */
const LOOK_MS = 25
/** How often an action that was approved for more than one time is repeated. */
const REPEATS = 2
/** How often a session may use the counted program; a denied request gives its use back. */
const USES = 3

/**
 * Agents start commands that need an approval, people approve and deny them or let them expire, and the daemon is killed all the
 * while: at every write between the request, the answer and the start, and at random. Then every effect is counted.
 */
export async function soakApprovals(options: KillOptions): Promise<ApprovalSoakReport> {
  const reports = await soakEach(options, (soak) => new Run(soak).whole())
  return reports.reduce(merged)
}

class Run {
  readonly #soak: KilledSoak
  readonly #actions: AskedActions
  readonly #miscounted: string[] = []
  /** Actions under way. */
  #live = 0
  #counted = 0

  constructor(soak: KilledSoak) {
    this.#soak = soak
    this.#actions = new AskedActions(soak.folder.folder)
  }

  get #daemons(): KilledDaemons {
    return this.#soak.daemons
  }

  async whole(): Promise<ApprovalSoakReport> {
    const killing = { killAt: killInTurn(WRITES, 3), maxLifeMs: MAX_LIFE_MS }
    const progress = () => `${this.#actions.all.length} actions`
    await this.#soak.run(() => this.#work(), killing, { progress })
    return this.#look()
  }

  async #work(): Promise<void> {
    const random = this.#soak.random.fork()
    const { program, expiringProgram } = this.#actions
    for (const rule of [
      { id: 'asked', effect: 'ask', resource: `shell:${program}` },
      { id: 'expiring', effect: 'ask', resource: `shell:${expiringProgram}`, answerWithinMs: EXPIRES_MS },
    ])
      await this.#daemons.call((reeve) => reeve.addRule({ rule }).catch(unlessTaken))
    const agents = Array.from({ length: AGENTS }, (_, index) => `agent-${index}`)
    for (const session of agents) await this.#daemons.call((reeve) => reeve.openSession({ session }))
    const people = Array.from({ length: PEOPLE }, (_, index) => this.#answer(index, random.fork()))
    const working = agents.map((session) => this.#act(session, random.fork()))
    await Promise.all([...working, this.#actCounted(random.fork()), ...people])
  }

  async #act(session: string, random: Random): Promise<void> {
    while (!this.#soak.isOver) {
      const action = this.#actions.add(session, random.pick(WISHES))
      this.#live += 1
      action.pid = await this.#start(session, action.request)
      if (action.wish === 'stop') {
        await pause(random.between(0, 200))
        await this.#daemons.call((reeve) => reeve.kill({ pid: action.pid }))
      }
      await this.#ended(action.pid)
      if (action.wish === 'session' || action.wish === 'always')
        for (let repeat = 1; repeat <= REPEATS; repeat++) {
          const idempotencyKey = `${action.key} ${repeat}`
          const pid = await this.#start(session, { ...action.request, idempotencyKey })
          action.repeats.push(pid)
          await this.#ended(pid)
        }
      this.#live -= 1
    }
  }

  /** Sessions that may use a program a few times, each time with a person's consent. A use that is denied is given back. */
  async #actCounted(random: Random): Promise<void> {
    for (let number = 0; !this.#soak.isOver; number++) {
      // From here on people stay: the requests that follow need their answers.
      this.#live += 1
      const session = `counted-${number}`
      const resource = `shell:${this.#actions.countedProgram}`
      await this.#daemons.call((reeve) => reeve.openSession({ session }))
      // The rules of a preset would allow it without any count.
      const to = { type: 'session', session } as const
      await this.#daemons.call((reeve) => reeve.setPreset({ to, preset: null }))
      for (const rule of [
        { id: 'counted', effect: 'allow', resource, uses: USES },
        { id: 'asked', effect: 'ask', resource },
      ])
        await this.#daemons.call((reeve) => reeve.addRule({ to, rule }).catch(unlessTaken))
      const approved = await this.#useUp(session, random)
      this.#live -= 1
      this.#counted += approved
      if (approved !== USES) this.#miscounted.push(`${session} had ${USES} uses, and used ${approved}`)
    }
  }

  /** Starts the program until the rules refuse. Answers how often it ran. */
  async #useUp(session: string, random: Random): Promise<number> {
    for (let approved = 0; ; ) {
      const wish = random.pick<Wish>(['approve', 'approve', 'deny', 'edit'])
      const action = this.#actions.add(session, wish, this.#actions.countedProgram)
      const pid = await this.#start(session, action.request).catch(unlessDenied)
      if (pid === undefined) {
        this.#actions.remove(action)
        return approved
      }
      action.pid = pid
      await this.#ended(pid)
      if (wish !== 'deny') approved += 1
    }
  }

  async #start(session: string, request: AskedAction['request']): Promise<string> {
    const { record } = await this.#daemons.call((reeve) => reeve.as(`session:${session}`).spawn(request))
    return record.pid
  }

  async #ended(pid: string): Promise<void> {
    for (;;) {
      const waited = await this.#daemons.call((reeve) => reeve.wait({ pid, timeoutMs: WAIT_MS }))
      if (waited.type === 'ended') return
    }
  }

  /** A person who looks at the list again and again, until no agent is at work. */
  async #answer(person: number, random: Random): Promise<void> {
    while (!this.#soak.isOver || this.#live > 0) {
      const { approvals } = await this.#daemons.call((reeve) => reeve.approvals({ limit: 100 }))
      for (const approval of approvals) {
        const action = this.#actions.of(approval)
        const answer = action === undefined ? null : answerTo(action, person)
        if (action === undefined || answer === null) continue
        const before = this.#actions.linesOf(action)
        const { id } = approval
        const settled = await this.#daemons.call((reeve) =>
          answer === 'deny'
            ? reeve.deny({ id, advice: 'not today' })
            : reeve.approve(yesTo(action, approval)),
        )
        if (settled.type === 'settled' && before > 0) action.begunBeforeAnswer = true
      }
      await pause(random.between(1, LOOK_MS))
    }
  }

  /** Compares each action with its effect, with a last daemon that is not killed. */
  async #look(): Promise<ApprovalSoakReport> {
    const approvals = await this.#allApprovals()
    const report = this.#actions.compare(approvals)
    const problems = [...report.problems]
    for (const action of this.#actions.all) {
      const { outcome, status } = await this.#daemons.call((reeve) => reeve.show({ pid: action.pid }))
      const state = this.#actions.stateOf(action, approvals)
      const expected = state === 'approved' ? 'completed' : 'cancelled'
      if (status !== expected)
        problems.push(`${action.key} (${action.pid}) was ${state}, and is ${status}: ${outcome?.reason}`)
    }
    const verified = await this.#daemons.call((reeve) => reeve.verifyAudit())
    if (verified.type !== 'sound') problems.push(`the audit is not sound: ${JSON.stringify(verified)}`)
    problems.push(...(await this.#soak.stop()), ...this.#miscounted)
    const named = problems.map((what) => `${this.#soak.store}: ${what}`)
    return { ...report, ...this.#soak.counts, counted: this.#counted, problems: named }
  }

  async #allApprovals(): Promise<OutputOf<'approvals'>['approvals']> {
    const found: OutputOf<'approvals'>['approvals'] = []
    for (let after: number | null = 0; after !== null; ) {
      const from: number = after
      const page = await this.#daemons.call((reeve) =>
        reeve.approvals({ state: 'any', limit: 500, ...(from === 0 ? {} : { after: from }) }),
      )
      found.push(...page.approvals)
      after = page.next
    }
    return found
  }
}

function unlessDenied(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== 'denied') throw error
}

/** A killed daemon had added the rule. */
function unlessTaken(error: unknown): void {
  if ((error as { code?: unknown }).code !== 'conflict') throw error
}

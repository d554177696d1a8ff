import { setTimeout as pause } from 'node:timers/promises'
import type { OutputOf } from 'reeve'
import { type PostgresServer, startPostgres } from '../postgres-server.ts'
import { Random } from '../simulation/random.ts'
import { type AskedAction, AskedActions, WISHES, type Wish } from './asked-actions.ts'
import { type KillAt, WRITES } from './kill-at.ts'
import { KilledDaemons } from './killed-daemons.ts'
import { SoakFolder } from './soak-folder.ts'
import { answerTo, yesTo } from './wished-answers.ts'
import { withCleanUp } from './with-clean-up.ts'

export const STORES = ['sqlite', 'postgres'] as const
export type SoakedStore = (typeof STORES)[number]

export interface ApprovalSoakOptions {
  /** How many daemons are killed with `kill -9`, on all stores together. */
  readonly kills: number
  readonly stores: readonly SoakedStore[]
  readonly seed: number
  readonly say: (line: string) => void
}

export interface ApprovalSoakReport {
  readonly kills: number
  /** Of these, between the decision and the commit of a write, or between the commit and its answer. */
  readonly killsAtWrites: number
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
const PROGRESS_MS = 5_000
/** Of a daemon that dies at a random moment. */
const LIVES_MS = { least: 20, most: 1_500 }
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
export async function soakApprovals(options: ApprovalSoakOptions): Promise<ApprovalSoakReport> {
  const { stores, kills } = options
  const reports: ApprovalSoakReport[] = []
  for (const [index, store] of stores.entries()) {
    const share =
      Math.floor(((index + 1) * kills) / stores.length) - Math.floor((index * kills) / stores.length)
    reports.push(await soakStore({ ...options, kills: share, seed: options.seed + index }, store))
  }
  return reports.reduce(added)
}

async function soakStore(options: ApprovalSoakOptions, store: SoakedStore): Promise<ApprovalSoakReport> {
  const folder = new SoakFolder('commands')
  let server: PostgresServer | null = null
  let run: Run | null = null
  return withCleanUp(
    async () => {
      server = store === 'postgres' ? await startPostgres() : null
      run = new Run(options, store, folder, server?.url ?? null)
      return run.whole()
    },
    async () => {
      await run?.abandon()
      await folder.remove()
      await server?.stop()
    },
  )
}

class Run {
  readonly #options: ApprovalSoakOptions
  readonly #store: SoakedStore
  readonly #folder: SoakFolder
  readonly #daemons: KilledDaemons
  readonly #actions: AskedActions
  readonly #random: Random
  readonly #counts = { kills: 0, killsAtWrites: 0, live: 0 }
  readonly #miscounted: string[] = []
  #counted = 0
  #isOver = false

  constructor(options: ApprovalSoakOptions, store: SoakedStore, folder: SoakFolder, url: string | null) {
    this.#options = options
    this.#store = store
    this.#folder = folder
    this.#random = new Random(options.seed)
    this.#actions = new AskedActions(folder.folder)
    this.#daemons = new KilledDaemons(folder.folder, {
      REEVE_ENVIRONMENT: 'inherit',
      REEVE_SHELL: '/bin/sh',
      ...(url === null ? {} : { REEVE_STORE: url }),
    })
  }

  async whole(): Promise<ApprovalSoakReport> {
    const begun = Date.now()
    const telling = setInterval(() => this.#options.say(this.#progress(Date.now() - begun)), PROGRESS_MS)
    try {
      const working = this.#work()
      await Promise.race([this.#killDaemons(), working])
      this.#isOver = true
      await this.#daemons.start(null)
      await working
      return await this.#look()
    } finally {
      this.#isOver = true
      clearInterval(telling)
    }
  }

  async abandon(): Promise<void> {
    this.#isOver = true
    await this.#daemons.abandon()
  }

  async #killDaemons(): Promise<void> {
    const random = this.#random.fork()
    for (let number = 0; number < this.#options.kills; number++) {
      const killAt = killAtOf(number, random)
      await this.#daemons.start(killAt)
      const { ended } = this.#daemons
      const life = killAt === null ? random.between(LIVES_MS.least, LIVES_MS.most) : MAX_LIFE_MS
      const isDead = await Promise.race([ended.then(() => true), pause(life, false)])
      if (isDead) this.#counts.killsAtWrites += 1
      else await this.#daemons.kill()
      this.#counts.kills += 1
    }
  }

  async #work(): Promise<void> {
    const random = this.#random.fork()
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
    while (!this.#isOver) {
      const action = this.#actions.add(session, random.pick(WISHES))
      this.#counts.live += 1
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
      this.#counts.live -= 1
    }
  }

  /** Sessions that may use a program a few times, each time with a person's consent. A use that is denied is given back. */
  async #actCounted(random: Random): Promise<void> {
    for (let number = 0; !this.#isOver; number++) {
      // From here on people stay: the requests that follow need their answers.
      this.#counts.live += 1
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
      this.#counts.live -= 1
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
    while (!this.#isOver || this.#counts.live > 0) {
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
    const { live } = await this.#daemons.call((reeve) => reeve.status())
    if (live > 0) problems.push(`${live} processes have not ended`)
    const keeper = this.#folder.keeper()
    await this.#daemons.stop()
    problems.push(...(await this.#folder.remains(keeper)), ...this.#folder.complaints())
    problems.push(...this.#miscounted)
    const { kills, killsAtWrites } = this.#counts
    const named = problems.map((what) => `${this.#store}: ${what}`)
    return { ...report, kills, killsAtWrites, counted: this.#counted, problems: named }
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

  #progress(ms: number): string {
    const { kills, killsAtWrites } = this.#counts
    const killed = `${kills} of ${this.#options.kills} daemons killed, ${killsAtWrites} at writes`
    return `${this.#store}, ${Math.round(ms / 1000)} s: ${killed}; ${this.#actions.all.length} actions`
  }
}

/** Two of three die at a write, each write in turn, before and after its commit; the others at random. */
function killAtOf(number: number, random: Random): KillAt | null {
  if (number % 3 === 2) return null
  const turn = number - Math.floor(number / 3)
  const write = WRITES[Math.floor(turn / 2) % WRITES.length] ?? 'ask'
  return { write, when: turn % 2 === 0 ? 'before' : 'after', nth: random.between(1, 3) }
}

function unlessDenied(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== 'denied') throw error
}

/** A killed daemon had added the rule. */
function unlessTaken(error: unknown): void {
  if ((error as { code?: unknown }).code !== 'conflict') throw error
}

function added(one: ApprovalSoakReport, other: ApprovalSoakReport): ApprovalSoakReport {
  return {
    kills: one.kills + other.kills,
    killsAtWrites: one.killsAtWrites + other.killsAtWrites,
    approved: one.approved + other.approved,
    denied: one.denied + other.denied,
    expired: one.expired + other.expired,
    withdrawn: one.withdrawn + other.withdrawn,
    edited: one.edited + other.edited,
    repeated: one.repeated + other.repeated,
    counted: one.counted + other.counted,
    doubled: [...one.doubled, ...other.doubled],
    lost: [...one.lost, ...other.lost],
    begunWithoutYes: [...one.begunWithoutYes, ...other.begunWithoutYes],
    problems: [...one.problems, ...other.problems],
  }
}

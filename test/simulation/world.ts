import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { ReeveError, RefusedError } from '../../src/core/errors.ts'
import type { StoredEvent } from '../../src/core/process/event.ts'
import type { Pid } from '../../src/core/process/pid.ts'
import type { Scope } from '../../src/core/process/record.ts'
import type { RegistrationRequest } from '../../src/core/process/register.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { AgentClients } from './agents/agent-clients.ts'
import { MemoryLaws } from './agents/memory-laws.ts'
import { SessionLaws } from './agents/session-laws.ts'
import { ActLog } from './authority/act-log.ts'
import { AllowedCommands } from './authority/allowed-commands.ts'
import { ApprovalLog } from './authority/approval-log.ts'
import { Machine } from './authority/machine.ts'
import { PolicyFolders } from './authority/policy-folders.ts'
import { RuleModel } from './authority/rule-model.ts'
import { checkAllowances } from './checks/allowances.ts'
import { checkAudit } from './checks/audit.ts'
import { checkDeliveries } from './checks/deliveries.ts'
import { checkDenials } from './checks/denials.ts'
import { checkEvents } from './checks/events.ts'
import { checkLeases } from './checks/leases.ts'
import { checkMessages } from './checks/messages.ts'
import { checkNames } from './checks/names.ts'
import { checkNotices } from './checks/notices.ts'
import { checkPlacement } from './checks/placement.ts'
import { checkPrunes } from './checks/prunes.ts'
import { checkRefold } from './checks/refold.ts'
import { checkRulings } from './checks/rulings.ts'
import { checkSessions } from './checks/sessions.ts'
import { checkSignals } from './checks/signals.ts'
import { checkSteps } from './checks/steps.ts'
import { checkTables } from './checks/tables.ts'
import { ScheduleLaws } from './definitions/schedule-laws.ts'
import { SimulatedFiles } from './definitions/simulated-files.ts'
import { TriggerLaws } from './definitions/trigger-laws.ts'
import { type Entry, Ledger } from './ledger.ts'
import { Observer } from './observer.ts'
import { isDefect, Peer, type PeerOptions, type PeerWorld } from './peer.ts'
import type { Plant } from './plant.ts'
import { ramFolder } from './ram-folder.ts'
import type { Random } from './random.ts'
import { Stage } from './stage.ts'
import { LienLaws } from './trees/lien-laws.ts'
import { ReportLaws } from './trees/report-laws.ts'
import type { WorldKind } from './world-kind.ts'

/** The hosts of kernels. */
export const HOSTS = ['h0', 'h1'] as const

export interface WorldOptions {
  readonly plant: Plant | undefined
  readonly kind: WorldKind
}

/** A client that waits for an end. */
export interface ClientWait {
  readonly peer: Peer
  readonly pid: Pid
  settled: boolean
}

/** A client that reads the change feed. */
export interface Follower {
  readonly peer: Peer
  readonly stop: AbortController
  position: number
  prunedThrough: number
  over: boolean
}

/** Several kernels over one file, their clients, and all that is known about them. */
export class World implements PeerWorld {
  readonly stage: Stage
  readonly ledger: Ledger
  readonly file: string
  readonly plant: Plant | undefined
  readonly keys: string[] = []
  /** The requests by pid or idempotency key, to repeat them. */
  readonly requests = new Map<string, RegistrationRequest>()
  readonly sessions: string[] = []
  readonly turns: { session: string; turn: string }[] = []
  readonly waits: ClientWait[] = []
  readonly followers: Follower[] = []
  readonly taken: { readonly scope: Scope; readonly consumer: string; readonly position: number }[] = []
  readonly answered = new Set<string>()
  readonly kind: WorldKind
  readonly sessionLaws: SessionLaws
  readonly agentClients: AgentClients
  readonly approvals: ApprovalLog
  readonly acts: ActLog
  readonly allowed: AllowedCommands
  readonly rules: RuleModel
  readonly policies = new PolicyFolders()
  readonly files: SimulatedFiles
  readonly scheduleLaws: ScheduleLaws
  readonly triggerLaws: TriggerLaws
  readonly lienLaws: LienLaws
  readonly memoryLaws: MemoryLaws
  readonly #sessionTree: ReturnType<typeof checkSessions>
  /** The answerer whose answer settled an approval, as it was told. */
  readonly settled = new Map<string, string>()
  readonly machines: ReadonlyMap<string, Machine> = new Map(HOSTS.map((host) => [host, new Machine(host)]))
  peers: Peer[] = []
  #booted = 0
  readonly #folder: string

  private constructor(random: Random, { plant, kind }: WorldOptions, folder: string) {
    this.stage = new Stage(random)
    this.plant = plant
    this.kind = kind
    this.#folder = folder
    this.file = join(folder, 'reeve.db')
    this.ledger = new Ledger(this.stage, new Observer(this.file))
    const { stage, ledger } = this
    this.sessionLaws = new SessionLaws(stage, ledger, kind !== 'trees' && kind !== 'long_term')
    this.agentClients = new AgentClients(stage, this.sessionLaws)
    this.acts = new ActLog(ledger)
    this.rules = new RuleModel((hash) => this.policies.versionOf(hash))
    this.approvals = new ApprovalLog(stage, ledger, this.rules, this.acts)
    this.allowed = new AllowedCommands(stage, ledger, this.rules, this.acts)
    this.#sessionTree = checkSessions(stage, ledger)
    this.files = new SimulatedFiles(stage)
    this.scheduleLaws = new ScheduleLaws(stage, ledger)
    this.triggerLaws = new TriggerLaws(stage, ledger, this.files)
    this.lienLaws = new LienLaws(stage, ledger)
    this.memoryLaws = new MemoryLaws(stage, ledger)
    ledger.checks.push(
      this.sessionLaws,
      this.scheduleLaws,
      this.triggerLaws,
      this.lienLaws,
      this.memoryLaws,
      new ReportLaws(stage, ledger),
      this.approvals,
      this.allowed,
      checkDenials(stage, ledger),
      checkRulings(stage, ledger, this.rules, this.acts),
      this.#sessionTree,
      checkAudit(stage, ledger),
      checkEvents(stage, ledger),
      checkLeases(stage, ledger),
      checkPrunes(stage, ledger),
      checkPlacement(stage),
      checkRefold(stage, ledger),
      checkNotices(stage, ledger),
      checkDeliveries(stage),
      checkNames(stage, ledger),
      checkSignals(stage, ledger),
      checkMessages(stage),
      checkSteps(stage),
      checkTables(stage, ledger),
      checkAllowances(stage, ledger),
    )
  }

  static async create(random: Random, options: WorldOptions): Promise<World> {
    const folder = ramFolder()
    // Only creates the tables, so that the observer can read from the first commit on.
    await (await openSqlite(join(folder, 'reeve.db'), { watch: () => () => {} })).close()
    return new World(random, options, folder)
  }

  destroy(): void {
    for (const peer of this.peers) peer.die('with its world')
    this.removeDead()
    this.ledger.observer.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** Faults have ended, and time has passed. */
  checkPartsAtRest(): void {
    this.sessionLaws.atRest()
    this.memoryLaws.atRest()
    this.approvals.atRest(this.stage.now)
    this.#sessionTree.atRest()
    this.scheduleLaws.atRest()
    this.triggerLaws.atRest()
  }

  /** Kernels that accept requests now. */
  get open(): Peer[] {
    return this.peers.filter((peer) => peer.awake && peer.ready)
  }

  /** Starts peers on each host in turn. */
  boot(options: Omit<PeerOptions, 'name' | 'host'>): Peer {
    this.#booted += 1
    const host = HOSTS[this.#booted % HOSTS.length] ?? HOSTS[0]
    const peer = new Peer(this, { ...options, host, name: `k${this.#booted}` })
    this.peers.push(peer)
    this.stage.say(
      peer.name,
      `boots, serving ${options.serves.join(' and ') || 'nothing'}, ${options.concurrency} at once`,
    )
    return peer
  }

  removeDead(): void {
    for (const peer of this.peers) if (!peer.alive) peer.closeFiles()
    this.peers = this.peers.filter((peer) => peer.alive)
  }

  isAlive(holder: string): boolean {
    return this.peers.some((peer) => peer.holder === holder && peer.alive)
  }

  committedBy(writer: Peer): void {
    for (const peer of this.peers) if (peer !== writer) peer.nudge()
    // Their processes are interrupted after the commit.
    if (!this.sessionLaws.takeClosedCalls() || !this.stage.faulty || !this.stage.random.chance(0.4)) return
    this.stage.counts.fault('a kernel dies after it closed tool calls')
    writer.die('after it closed tool calls')
  }

  /** Usually a live process, sometimes an ended one, rarely an unknown pid. */
  somePid(fits: (entry: Entry) => boolean = () => true): Pid {
    const { random } = this.stage
    if (random.chance(0.02)) return 'p_unknown00000'
    const wantsLive = random.chance(0.85)
    const fitting = [...this.ledger.processes.values()].filter(fits)
    const preferred = fitting.filter(({ record }) => (record.outcome === null) === wantsLive)
    const from = preferred.length > 0 ? preferred : fitting
    return from.length === 0 ? 'p_unknown00000' : random.pick(from).pid
  }

  /** Counts one request and its result, and writes both to the trace. */
  track<Answer>(
    name: string,
    peer: Peer,
    about: string,
    asked: Promise<Answer>,
    then: (answer: Answer) => void = () => {},
  ): void {
    const tally = this.stage.counts.operation(name)
    tally.asked += 1
    this.stage.say(peer.name, `${name} ${about}`)
    asked
      .then((answer) => {
        tally.done += 1
        then(answer)
      })
      .catch((error: unknown) => {
        if (error instanceof RefusedError) tally.refused += 1
        else tally.trouble += 1
        const said = error instanceof ReeveError ? error.code : String(error)
        this.stage.say(peer.name, `${name} ${about}: ${said}`)
        if (isDefect(error) || !(error instanceof Error))
          this.stage.violated('no defect', `${name} ${about}: ${error instanceof Error ? error.stack : said}`)
      })
  }

  /** A follower sees every event once and in order, and gets the position up to which events were pruned before it read them. */
  follows(follower: Follower, event: StoredEvent): void {
    const { stage, ledger } = this
    const broke = (what: string) => stage.violated('followers see every event once and in order', what)
    if (event.position <= follower.position) broke(`${event.position} after ${follower.position}`)
    const missed = ledger.log.filter(
      ({ position }) => position > follower.position && position < event.position,
    )
    // A follower that starts at the beginning gets the remaining events; a later one gets the pruned position.
    if (follower.position === 0) follower.prunedThrough = ledger.prunedThrough
    const lost = missed.filter(
      ({ pid, position }) => ledger.processes.has(pid) || position > follower.prunedThrough,
    )
    if (lost.length > 0)
      broke(`${lost.length} events between ${follower.position} and ${event.position} were skipped`)
    const known = ledger.log.find(({ position }) => position === event.position)
    if (known?.pid !== event.pid || known.seq !== event.seq) broke(`${event.position} is another event`)
    follower.position = event.position
  }
}

import { type ActingParts, acting } from '../actions/acting.ts'
import { atDoors } from '../actions/at-doors.ts'
import { ExternalStops } from '../actions/external-stops.ts'
import { AnswerMasker } from '../actions/mask-answers.ts'
import { parse } from '../actions/parse.ts'
import { NO_EFFECTS } from '../actions/read-effects.ts'
import { Retention } from '../actions/retention.ts'
import { Reveals } from '../actions/reveal.ts'
import { WAIT_TIMES } from '../actions/wait-times.ts'
import type { AgentTimes } from '../agent/agent-parts.ts'
import type { OutsideParts } from '../agent/outside/outside-parts.ts'
import type { ToolboxParts } from '../agent/toolbox/toolbox.ts'
import { NamedSecrets } from '../command/environment/named-secrets.ts'
import { openCommands } from '../command/open-commands.ts'
import type { Seat } from '../core/authority/person.ts'
import { FLOOD_LIMITS } from '../core/inbox/flood.ts'
import type { ModelDefaults } from '../core/model/default-model.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor } from '../core/process/record.ts'
import { type TroubleFacts, troublesOf } from '../core/trouble/trouble.ts'
import { ExternalProcesses } from '../external/external-processes.ts'
import { dataFolderAt } from '../keeper/protocol/data-folder-paths.ts'
import { PROTOCOL } from '../keeper/protocol/messages.ts'
import { releaseReserve } from '../keeper/protocol/reserve.ts'
import { KERNEL_DEFAULTS } from '../kernel/defaults.ts'
import { Kernel, type KernelOptions } from '../kernel/kernel.ts'
import { Workspaces } from '../kernel/workspaces.ts'
import { machineTag } from '../os/host.ts'
import { ownVersion } from '../package/own-files.ts'
import type { Redaction } from '../redaction/redaction.ts'
import type { Store } from '../store/contract.ts'
import { withMaskedAudit } from '../store/masked-audit.ts'
import { systemClock } from '../store/system-clock.ts'
import type { Reeve, ReeveVerbs, ServesTools, ServesWorkflows } from '../verbs/reeve.ts'
import { actor } from '../verbs/shapes/actor.ts'
import { AgentFileFolders } from './agent-file-folders.ts'
import { type AgentDriver, openAgents } from './agents.ts'
import { Anchoring, type AnchorLog } from './anchoring.ts'
import { auditMasking } from './audit-masking.ts'
import { Calendar, withCalendar } from './calendar.ts'
import { GlobbedFiles } from './file-sets.ts'
import { ownIdentity } from './identity.ts'
import { HASHES, nodeEdges } from './node-edges.ts'
import { openStore } from './open-store.ts'
import { type EmbedOptions, OPTIONS } from './options.ts'
import { PolicyFolder } from './policy-files.ts'
import { redactionOf } from './redaction-of.ts'
import { serveFunctions } from './served-functions.ts'
import { closeAll, startAll } from './start-and-close.ts'
import { StoreWatch } from './store-watch.ts'
import { warnOfTrouble } from './warnings.ts'

export interface Embedded extends Reeve, ServesWorkflows, ServesTools {
  /** The current position of the change feed: a follower from here misses no later event. */
  position(): number
  /** Whether this kernel can do its work now. Rejects if the store does not answer. Costs little: it counts nothing, unlike `status`. */
  readiness(): Promise<{ readonly isStoreWritable: boolean; readonly isKeeperAvailable: boolean }>
  /**
   * Acts as another actor, read-only: no notice counts as delivered, no read position moves, and every verb that needs more
   * than the role `read` is refused.
   */
  observing(actor: Actor, seat?: Seat): ReeveVerbs
  /** The webhooks of triggers, for a server that authenticates their requests. */
  readonly hooks: Pick<Kernel['triggers'], 'webhook' | 'receive' | 'reject'>
  /** Acts for a client at a door: its person answers and changes rules, and not this program. */
  calledFrom(seat: Seat, actor: Actor): ReeveVerbs
  /** The first step of `close`: ends the processes with lifetime `daemon`, and returns them. Their waiters still get answers. */
  endWithDaemon(): Promise<readonly Pid[]>
}

/**
 * Runs a kernel inside this program.
 *
 * ```ts
 * const reeve = await embed({ store: 'reeve.db', tools: { greet: ({ input }) => `hello ${input}` } })
 * const { record } = await reeve.spawn({ kind: 'tool', spec: { tool: 'greet', input: 'world' } })
 * const ended = await reeve.wait({ pid: record.pid })
 * await reeve.close()
 * ```
 */
export async function embed(options: EmbedOptions): Promise<Embedded> {
  return embedWith(options)
}

/** The parts that a daemon shares with the kernel inside it. */
export interface DaemonParts {
  /** The daemon's log masks the secrets that the kernel learns. */
  readonly redaction?: Redaction
  /** Where the ends of the audit's chain are noted. */
  readonly anchorLog?: AnchorLog
  /** The trouble of the daemon's log. */
  readonly logTrouble?: () => TroubleFacts['log']
  /** Why the daemon's file of secrets cannot be read. */
  readonly secretsTrouble?: () => TroubleFacts['secrets']
  /** The models that the environment and the secrets of the daemon are for. */
  readonly modelDefaults?: () => ModelDefaults
  /** Makes the executor of agents. */
  readonly agentDriver?: AgentDriver
  readonly agentTimes?: Partial<AgentTimes>
  /** Reeve's own MCP server for outside agents, and their times. */
  readonly outside?: Partial<Pick<OutsideParts, 'ownServer' | 'times'>>
  /** Where a daemon listens, and further tools of agents. */
  readonly toolboxParts?: Partial<Pick<ToolboxParts, 'moreTools' | 'ownAddresses' | 'times' | 'scriptLimits'>>
}

export async function embedWith(options: EmbedOptions, parts: DaemonParts = {}): Promise<Embedded> {
  parse(OPTIONS, options, 'embed')
  if (options.commands !== undefined) releaseReserve(dataFolderAt(options.commands.home, PROTOCOL).reserve)
  const store = typeof options.store === 'string' ? await openStore(options.store) : options.store
  const holder = ownIdentity()
  let unlock: (() => void) | undefined
  const successor = () => {
    const next = ownIdentity()
    const former = unlock
    unlock = store.locks?.hold(next.id)
    former?.()
    return next
  }
  const leave = async () => {
    unlock?.()
    if (typeof options.store === 'string') await store.close()
  }
  try {
    unlock = store.locks?.hold(holder.id)
    return await start(store, { holder, successor }, leave, options, parts)
  } catch (error) {
    await leave()
    throw error
  }
}

async function start(
  opened: Store,
  { holder, successor }: Pick<KernelOptions, 'holder' | 'successor'>,
  leave: () => Promise<void>,
  options: EmbedOptions,
  {
    redaction = redactionOf(options),
    anchorLog,
    logTrouble = () => null,
    secretsTrouble = () => null,
    modelDefaults,
    agentDriver,
    agentTimes = {},
    toolboxParts = {},
    outside = {},
  }: DaemonParts,
): Promise<Embedded> {
  const watch = new StoreWatch(opened, systemClock)
  const calendar = new Calendar()
  const store = withCalendar(withMaskedAudit(watch.store, auditMasking(redaction)), calendar)
  const secrets = new NamedSecrets(options.secrets, redaction)
  const masker = new AnswerMasker(() => kernel, redaction, {
    commands: () => commands?.secrets,
    named: secrets,
  })
  const reveals = new Reveals(() => kernel, options.onReveal ?? (() => undefined))
  const onTrouble = options.onTrouble ?? ((error, doing) => warnOfTrouble(error, doing, masker))
  const { osPid, startTime, id } = holder
  const commands =
    options.commands === undefined
      ? undefined
      : await openCommands(options.commands, {
          daemon: { osPid, startTime, id },
          redaction,
          named: secrets,
          onTrouble,
        })
  const served = serveFunctions(options, () => kernel, secrets)
  const modelOptions = { providers: {}, models: {}, ...options.modelOptions }
  const agents = openAgents({
    kernel: () => kernel,
    options: modelOptions,
    objects: options.models ?? {},
    secrets: options.secrets,
    environmentSecrets: secrets,
    mask: (text) => masker.text(text),
    commands: () => commands,
    hasCommands: commands !== undefined,
    spawnAs: served.spawnAs,
    registerHook: served.registerHook,
    actAs: (other) => acting(parts, other),
    times: agentTimes,
    memory: options.memory ?? {},
    onTrouble,
    driver: agentDriver,
    toolbox: toolboxParts,
    outside,
  })
  served.addBuiltIn(agents.workflows)
  const anchoring =
    anchorLog === undefined
      ? undefined
      : new Anchoring({ ...HASHES, log: anchorLog, store, clock: systemClock, onTrouble })
  const workspaces = new Workspaces(new PolicyFolder(onTrouble, () => systemClock.now()))
  const kernel = new Kernel(
    nodeEdges(store, onTrouble, {
      flood: { ...FLOOD_LIMITS, ...options.flood },
      onAudited: () => anchoring?.audited(),
      auditKey: () => anchoring?.key ?? null,
      sessionPreset: options.sessionPreset,
      workspaces,
      mask: (text) => masker.text(text),
      agentFiles: new AgentFileFolders(options.home ?? null),
      agentDefaults: options.agents,
      ...(modelDefaults === undefined ? {} : { modelDefaults }),
      calendar,
      fileSets: new GlobbedFiles(),
      // A store with lock files is a file: the programs of one machine share it.
      machine: opened.locks === undefined ? machineTag() : null,
    }),
    {
      holder,
      successor,
      executors: [...served.executors, ...agents.executors, ...(commands?.executors ?? [])],
      concurrency: options.concurrency ?? KERNEL_DEFAULTS.concurrency,
      times: { ...KERNEL_DEFAULTS.times, ...options.times },
      backoff: KERNEL_DEFAULTS.backoff,
      ...(commands === undefined
        ? {}
        : { startEndHooks: (agent, from) => agents.toolbox.startEndHooks(agent, from) }),
    },
  )
  const externals = new ExternalProcesses(kernel, { onStop: options.onStop, onTrouble })
  const retention = new Retention({ kernel, commands, limits: options.retention ?? {}, onTrouble })
  const troubles = () => {
    const backlog = commands?.backlog ?? { held: [], unrecordedEnds: 0 }
    return troublesOf({
      store: watch.failed,
      secrets: secretsTrouble(),
      log: logTrouble(),
      policies: workspaces.files.broken,
      ...backlog,
    })
  }
  const parts: ActingParts = {
    kernel,
    commands,
    waits: { ...WAIT_TIMES, ...options.waits },
    masker,
    reveals,
    retention,
    anchoring,
    troubles,
    version: ownVersion,
    agents: agents.facts,
    externals: new ExternalStops(kernel, externals),
  }
  const atDoor = atDoors(parts)
  const embedded = { kernel, commands, agents, externals, retention, anchoring }
  // Only now: an agent that goes on from an earlier program acts through `parts` at once.
  await startAll(embedded, options.times?.pruneMs)
  let closing: Promise<void> | undefined
  return {
    ...served.calls,
    ...acting(parts, 'host'),
    get kernel() {
      return kernel.id
    },
    as: (other) => acting(parts, parse(actor, other, 'as')),
    observing: (other, seat) => acting(parts, parse(actor, other, 'observing'), seat, NO_EFFECTS),
    calledFrom: (seat, other) => atDoor(seat, parse(actor, other, 'calledFrom')),
    position: () => kernel.feed.position,
    hooks: kernel.triggers,
    async readiness() {
      const keeper = commands?.keeper
      const [isKeeperAvailable = true] = await Promise.all([
        keeper?.answers(),
        kernel.edges.store.ask({ ask: 'activity', session: null, since: null }),
      ])
      const isStoreWritable = troubles().every(({ code }) => code !== 'store_unwritable')
      return { isStoreWritable, isKeeperAvailable }
    },
    endWithDaemon: () => kernel.endWithDaemon(),
    close: ({ keep = false } = {}) => {
      closing ??= closeAll(embedded, { keep, leave })
      return closing
    },
  }
}

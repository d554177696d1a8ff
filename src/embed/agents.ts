import { type AgentFacts, modelOf } from '../actions/agent-facts.ts'
import { compileSchema } from '../actions/json-schema/compile.ts'
import { spawnChild } from '../actions/spawn.ts'
import type {
  AgentParts,
  AgentServers,
  AgentTimes,
  CheckedCommand,
  GoalCommand,
} from '../agent/agent-parts.ts'
import { type LiveLogs, NO_LIVE_LOGS } from '../agent/live/live-logs.ts'
import { NativeAgents } from '../agent/native-agents.ts'
import type { Toolbox } from '../agent/toolbox/toolbox.ts'
import type { Commands } from '../command/commands.ts'
import { agentSessionOf } from '../core/agent/session.ts'
import type { Secrets } from '../core/environment/secrets.ts'
import { asJson, own } from '../core/json/json.ts'
import { factsOf } from '../core/model/facts.ts'
import { parseModelId } from '../core/model/model-id.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Work } from '../kernel/executor.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { ModelOptions } from '../model/options.ts'
import { systemClock } from '../store/system-clock.ts'
import { type ReeveVerbs, verbs } from '../verbs/reeve.ts'
import { referenceReader } from './agent-references.ts'

export interface AgentsParts {
  readonly options: ModelOptions
  /** Model objects of the embedding program, by the ids that agents name. */
  readonly objects: Readonly<Record<string, unknown>>
  readonly secrets: Secrets | undefined
  readonly mask: (text: string) => string
  readonly commands: () => Commands | undefined
  /** The verbs in the name of a process. */
  readonly as: (actor: `process:${string}`) => ReeveVerbs
  readonly toolbox: Toolbox
  readonly servers: AgentServers
  readonly times: Partial<AgentTimes>
  readonly onTrouble: (error: unknown, doing: string) => void
}

/** The executor of native agents. Models are loaded when the first agent runs. */
export function nativeAgents(parts: AgentsParts): NativeAgents {
  let loaded: Promise<AgentParts> | undefined
  return new NativeAgents((kernel) => {
    loaded ??= agentParts(parts, kernel).catch((error: unknown) => {
      // The next agent tries again.
      loaded = undefined
      throw error
    })
    return loaded
  })
}

async function agentParts(parts: AgentsParts, kernel: Kernel): Promise<AgentParts> {
  const { options, objects, secrets, toolbox, servers } = parts
  const { Models } = await import('../model/models.ts')
  const models = new Models(options, {
    clock: systemClock,
    keys: () => ({ secrets: secrets?.read() ?? {}, env: process.env }),
  })
  return {
    models: {
      overrides: models.overrides,
      open: (id, folder) => {
        const object = own(objects, id)
        return object === undefined ? models.open(id, folder) : models.openObject(object)
      },
    },
    toolbox,
    servers,
    live: await liveLogs(parts),
    runCheck: (work, check, signal) => runCheck(parts, kernel, work, { ...check, signal }),
    compileSchema,
    mask: parts.mask,
    times: parts.times,
  }
}

/** What the executor knows about agents, for those who inspect them. Loads no model. */
export function agentFacts({
  options,
  kernel,
}: Pick<AgentsParts, 'options'> & { readonly kernel: () => Kernel }): AgentFacts {
  return {
    readReference: referenceReader(kernel),
    factsOf(id) {
      const name = parseModelId(id)
      return name === undefined ? { features: {} } : factsOf(name, options.models)
    },
    settingsOf: (agent) => {
      const facts = own(options.models, modelOf(agent))
      return facts === undefined ? [] : [{ name: 'modelFacts', value: asJson(facts), source: 'settings' }]
    },
  }
}

async function liveLogs({ commands, onTrouble }: AgentsParts): Promise<LiveLogs> {
  const held = commands()
  if (held === undefined) return NO_LIVE_LOGS
  const { openLiveLogs } = await import('../agent/live/open-live-logs.ts')
  return openLiveLogs({
    ...held.liveLogs,
    onTrouble,
    now: () => systemClock.now(),
  })
}

/** The last lines say why a check failed. */
const CHECK_LINES = 40

async function runCheck(
  { as }: AgentsParts,
  kernel: Kernel,
  work: Work,
  { run, key, turn, signal }: GoalCommand & { readonly signal: AbortSignal },
): Promise<CheckedCommand | null> {
  const { pid, cwd } = work.record
  const request = {
    kind: 'command',
    spec: { run },
    parent: pid,
    owner: { session: agentSessionOf(pid) },
    label: 'check of the goal',
    ...(cwd === null ? {} : { cwd }),
    idempotencyKey: key,
  } as const
  const command = await spawnChild(kernel, work, verbs.spawn.input.parse(request))
  const ended = await kernel.waits.forEnd(command.pid, { signal, waiter: work })
  if (ended.type !== 'done') {
    await stopCheck(kernel, { agent: pid, turn, command: command.pid })
    return null
  }
  const { outcome } = ended.value.record
  const { lines } = await as(`process:${pid}`).log({ pid: command.pid, limit: CHECK_LINES })
  const output = lines.map(({ text }) => text).join('\n')
  return { pid: command.pid, succeeded: outcome?.status === 'completed', output }
}

/** A paused turn, and one that another holder goes on with, find their check again. */
async function stopCheck(
  kernel: Kernel,
  { agent, turn, command }: { readonly agent: Pid; readonly turn: number; readonly command: Pid },
): Promise<void> {
  const row = await kernel.edges.store.ask({ ask: 'process', pid: agent })
  if (row?.record.agent?.turn?.number === turn) return
  const asked = { pid: command, actor: `kernel:${kernel.id}`, at: kernel.edges.clock.now() } as const
  const reason = `turn ${turn} of ${agent} has ended`
  await kernel.perform({ type: 'stop', ...asked, how: 'cancel', reason, cause: null, replayKey: 'check' })
}

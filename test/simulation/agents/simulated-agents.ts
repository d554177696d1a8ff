import { compileSchema } from '../../../src/actions/json-schema/compile.ts'
import type { AgentParts } from '../../../src/agent/agent-parts.ts'
import { AgentRun } from '../../../src/agent/agent-run.ts'
import { NO_LIVE_LOGS } from '../../../src/agent/live/live-logs.ts'
import { SessionHistory } from '../../../src/agent/session-history.ts'
import { AgentSessions } from '../../../src/agent/toolbox/agent-sessions.ts'
import { BuiltInNames } from '../../../src/agent/toolbox/built-in-names.ts'
import { EndedAgents } from '../../../src/agent/toolbox/ended-agents.ts'
import { type FactOverrides, factsUnder } from '../../../src/core/model/facts.ts'
import type { Pid } from '../../../src/core/process/pid.ts'
import { NATIVE_AGENT } from '../../../src/core/process/record.ts'
import type { Executor, Work } from '../../../src/kernel/executor.ts'
import type { OpenedModel } from '../../../src/model/models.ts'
import type { ExecutorHost } from '../executors.ts'
import type { SessionLaws } from './session-laws.ts'
import { MEMORY_MODEL, memoryJobs, SimulatedToolbox } from './simulated-memory.ts'
import { simulatedModel } from './simulated-model.ts'
import { simulatedTools, TOOLS } from './simulated-tools.ts'

/** The models of these worlds. `other` has no price, so that agents with a limit of cost do not use it. */
export const MODELS = ['simulated/first', 'simulated/other', 'simulated/none'] as const
const OVERRIDES: FactOverrides = {
  'simulated/first': { price: { asOf: '2026-11-17', input: 100, output: 100 } },
  [MEMORY_MODEL]: { price: { asOf: '2026-11-17', input: 100, output: 100 } },
}
/** Short, so that silence occurs. */
const SILENT_MS = 8_000
/** Short, so that some jobs take longer. */
const MEMORY_MS = 5_000

/**
 * The executor of native agents in one simulated kernel. The executor and its toolbox are the real ones; the model, the tools and the
 * checks of goals are simulated. Nothing is loaded on demand: that takes real time.
 */
export class SimulatedAgents {
  readonly executors: readonly Executor[]
  readonly #host: ExecutorHost
  readonly #laws: SessionLaws
  readonly #sessions: AgentSessions
  readonly #toolbox: SimulatedToolbox
  readonly #histories = new Map<Pid, SessionHistory>()
  #ended: EndedAgents | undefined

  constructor(host: ExecutorHost, laws: SessionLaws, hasMemory: boolean) {
    this.#host = host
    this.#laws = laws
    const kernel = () => host.kernel
    this.#sessions = new AgentSessions(kernel)
    const names = new BuiltInNames()
    names.learn(TOOLS)
    const tools = simulatedTools(host, laws)
    this.#toolbox = new SimulatedToolbox(
      host,
      {
        kernel,
        spawnAs: () => Promise.reject(new Error('These agents start no processes')),
        registerHook: () => Promise.reject(new Error('a simulation has no hooks')),
        actAs: () => {
          throw new Error('These agents call no verbs')
        },
        mask: (text) => text,
        hasCommands: false,
        ownAddresses: () => [],
        compileSchema,
        moreTools: async () => tools,
      },
      this.#sessions,
      names,
    )
    const { builtIn } = this.#toolbox
    this.executors = [
      { serves: [{ kind: 'agent', targets: [NATIVE_AGENT] }], run: (work) => this.#run(work) },
      { serves: names.serves, run: (work, own) => builtIn.run(work, own) },
      ...(hasMemory ? [memoryJobs(host, (id, name) => factsUnder(id, name, OVERRIDES))] : []),
    ]
  }

  /** The kernel runs. */
  start(): void {
    this.#ended = new EndedAgents(
      this.#host.kernel,
      (pid) => this.#sessions.isOpen(pid),
      (pid) => this.#sessions.end(pid),
    )
  }

  close(): void {
    this.#ended?.close()
  }

  #run(work: Work): ReturnType<Executor['run']> {
    const { kernel } = this.#host
    const { pid } = work.record
    const history = this.#histories.get(pid) ?? new SessionHistory(kernel.edges.store, pid)
    this.#histories.set(pid, history)
    return new AgentRun(work, kernel, this.#partsFor(work), history).run()
  }

  #partsFor(work: Work): AgentParts {
    const host = this.#host
    return {
      models: {
        factsOf: (id, name) => factsUnder(id, name, OVERRIDES),
        open: async (id) => this.#open(id, work),
      },
      toolbox: this.#toolbox,
      servers: { takeAlerts: () => [], release: () => undefined },
      live: NO_LIVE_LOGS,
      outside: NO_PROGRAMS,
      runCheck: async () => {
        await host.turn()
        const succeeded = !host.stage.faulty || host.stage.random.chance(0.4)
        return {
          pid: work.record.pid,
          succeeded,
          output: succeeded ? 'ok' : `${host.stage.random.between(1, 2)}`,
        }
      },
      compileSchema: () => (value) => (typeof value === 'object' ? undefined : 'It is no object.'),
      mask: (text) => text,
      times: { silentMs: SILENT_MS, memoryMs: MEMORY_MS },
    }
  }

  #open(id: string, work: Work): OpenedModel {
    const [, name = ''] = id.split('/')
    if (name === 'none')
      return { type: 'refused', code: 'model_unknown', message: `There is no ${id}.`, remedy: 'Use another.' }
    const { pid } = work.record
    const asked = (request: Parameters<SessionLaws['asked']>[2]) =>
      this.#laws.asked(pid, work.fence().fence, request)
    return {
      type: 'opened',
      model: simulatedModel(name, { host: this.#host, asked, newCallId: () => this.#laws.newCallId() }),
    }
  }
}

/** No agent of a simulation is a program of its own. */
const NO_PROGRAMS: AgentParts['outside'] = {
  verbsOf: none,
  openSession: none,
  secrets: none,
  ownServer: none,
  version: '0',
}

function none(): never {
  throw new Error('A simulated agent has a model.')
}

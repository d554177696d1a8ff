import type { AgentParts } from '../../../src/agent/agent-parts.ts'
import { runMemoryJob } from '../../../src/agent/memory/memory-workflow.ts'
import type { MemoryStore } from '../../../src/agent/toolbox/memory-store.ts'
import { ToolboxCore } from '../../../src/agent/toolbox/toolbox-core.ts'
import { MemoryConflict } from '../../../src/agent/tools/memory/change-memory.ts'
import { EXTRACT_SYSTEM } from '../../../src/core/memory/memory-prompts.ts'
import { MEMORY_WORKFLOW, memoryOf } from '../../../src/core/memory/memory-spec.ts'
import type { CallAnswer } from '../../../src/core/model/answer.ts'
import type { ModelRequest } from '../../../src/core/model/prompt.ts'
import type { ProcessRecord } from '../../../src/core/process/record.ts'
import type { Executor } from '../../../src/kernel/executor.ts'
import type { Model } from '../../../src/model/model.ts'
import { Workflows } from '../../../src/workflow/in-kernel.ts'
import type { ExecutorHost } from '../executors.ts'
import { abortedOr } from './aborted-or.ts'

/** The model of the jobs. It has a price. */
export const MEMORY_MODEL = 'simulated/memory'

const TIMEOUT_MS = 3_600_000
/** Short, so that jobs are parked while they wait. */
const PARK_AFTER_MS = 300

const ANSWERS = [
  ['answer', 8],
  ['nonsense', 0.5],
  ['busy', 1],
  ['overflow', 0.3],
  ['die', 0.7],
] as const

/** The toolbox with a long-term memory that is no folder: its reads and writes take turns of the simulator. */
export class SimulatedToolbox extends ToolboxCore {
  readonly #host: ExecutorHost

  constructor(host: ExecutorHost, ...given: ConstructorParameters<typeof ToolboxCore>) {
    super(...given)
    this.#host = host
  }

  override async memory(agent: ProcessRecord): Promise<MemoryStore | null> {
    return memoryOf(agent) === null ? null : simulatedStore(this.#host)
  }
}

/** The real workflow of the real jobs, with a simulated model and simulated files. */
export function memoryJobs(host: ExecutorHost, factsOf: AgentParts['models']['factsOf']): Executor {
  const workflows = new Workflows(
    () => Promise.reject(new Error('A job starts no processes')),
    async () => ({}),
  )
  const models = {
    factsOf,
    open: async () => ({ type: 'opened' as const, model: memoryModel(host) }),
  }
  const toolbox = { memory: async () => simulatedStore(host) }
  const times = { timeoutMs: TIMEOUT_MS }
  workflows.add(
    MEMORY_WORKFLOW,
    (context) => runMemoryJob(context, { kernel: host.kernel, models, toolbox, mask: (text) => text, times }),
    { parkAfterMs: PARK_AFTER_MS },
  )
  return workflows
}

function simulatedStore({ stage, turn }: ExecutorHost): MemoryStore {
  return {
    // It depends on nothing: prompts are compared across restarts.
    index: async () => 'Long-term memory is empty.',
    refusesWrites: async () => null,
    texts: async () => {
      await turn()
      return []
    },
    change: async (_job, changes) => {
      await turn()
      if (stage.faulty && stage.random.chance(0.2)) throw new MemoryConflict('A file has changed.')
      return changes.map(({ path }) => path)
    },
  }
}

function memoryModel(host: ExecutorHost): Model {
  return {
    provider: 'simulated',
    model: 'memory',
    async call(request, { abortSignal = new AbortController().signal } = {}) {
      try {
        return await answer(host, request, abortSignal)
      } catch (error) {
        if (!abortSignal.aborted) throw error
        return { type: 'aborted', parts: [] }
      }
    },
  }
}

async function answer(
  host: ExecutorHost,
  { system }: ModelRequest,
  signal: AbortSignal,
): Promise<CallAnswer> {
  const { random, faulty, counts } = host.stage
  for (let turns = random.between(0, 4); turns > 0; turns--) await abortedOr(signal, host.turn())
  const [what] = faulty ? random.weighted(ANSWERS, ([, weight]) => weight) : ANSWERS[0]
  if (what === 'busy')
    return {
      type: 'failed',
      failure: { kind: 'rate_limited', message: 'simulated busy.', remedy: 'Try again.' },
    }
  if (what === 'overflow') return { type: 'overflow', message: 'too long' }
  if (what === 'die') {
    counts.fault('a memory job dies with its kernel')
    host.die('in a call of a memory job')
    return new Promise(() => {})
  }
  const useful =
    system === EXTRACT_SYSTEM ? '["A fact."]' : '{"changes":[{"path":"memory/a.md","content":"A fact."}]}'
  return {
    type: 'answered',
    parts: [{ type: 'text', text: what === 'nonsense' ? 'Well.' : useful }],
    finish: 'stop',
    usage: {
      inputTokens: random.between(1, 20),
      cachedInputTokens: 0,
      cacheWriteTokens: 0,
      outputTokens: random.between(1, 10),
      reasoningTokens: 0,
      isEstimate: false,
    },
    warnings: [],
  }
}

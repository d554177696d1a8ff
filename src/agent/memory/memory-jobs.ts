import { agentSessionOf } from '../../core/agent/session.ts'
import type { Amounts } from '../../core/allowance/amounts.ts'
import { RefusedError } from '../../core/errors.ts'
import { jobToBegin, MAX_LIVE_JOBS } from '../../core/memory/memory-job.ts'
import { MEMORY_WORKFLOW } from '../../core/memory/memory-spec.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import type { Work } from '../../kernel/executor.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { placementOfFiles } from '../placement-of-files.ts'

interface Joining {
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** The attempt that waits: others may have its slot meanwhile. */
  readonly waiter?: Pick<Work, 'lendSlot'>
}

/** The jobs that keep the memory of an agent: `workflow` processes below it, which no rule of the agent has to allow. */
export class MemoryJobs {
  readonly #kernel: Kernel

  constructor(kernel: Kernel) {
    this.#kernel = kernel
  }

  /** Begins the job for what the session has now, unless a job that waits covers it. A refusal is an alert, and ends nothing. */
  async begin(agent: ProcessRecord): Promise<void> {
    if (agent.agent === null) return
    const live = await this.#live(agent.pid)
    const next = jobToBegin(agent.agent, live)
    if (next.type === 'none') return
    try {
      await this.#register(agent, next)
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error
      // The agent is about to end, or the job of this key runs already.
      if (OF_END.has(error.code)) return
      const note = { type: 'failed', job: agent.pid, message: `${error.message} ${error.remedy}` } as const
      await this.#kernel.agents.noteMemory(agent.pid, `begin:${next.key}`, note)
    }
  }

  /** Waits until no job of the agent is at work, for so long at most. A job that needs longer goes on. */
  async join(agent: Pid, { timeoutMs, signal, waiter }: Joining): Promise<void> {
    const { clock } = this.#kernel.edges
    const until = clock.now() + timeoutMs
    for (;;) {
      const [first] = await this.#live(agent)
      const left = until - clock.now()
      if (first === undefined || left <= 0 || signal?.aborted === true) return
      const waiting = {
        timeoutMs: left,
        ...(signal === undefined ? {} : { signal }),
        ...(waiter === undefined ? {} : { waiter }),
      }
      await this.#kernel.waits.forEnd(first, waiting)
    }
  }

  /** The oldest first. */
  async #live(agent: Pid): Promise<readonly Pid[]> {
    const { items } = await this.#kernel.edges.store.ask({
      ask: 'processes',
      filter: { parent: [agent], kind: ['workflow'], label: [MEMORY_WORKFLOW] },
      after: null,
      limit: MAX_LIVE_JOBS,
    })
    return items.map(({ record }) => record.pid)
  }

  async #register(
    agent: ProcessRecord,
    { key, after }: { readonly key: string; readonly after: Pid | null },
  ): Promise<void> {
    const kernel = this.#kernel
    const { pid, cwd, envRef, limits } = agent
    const actor = `kernel:${kernel.id}` as const
    await kernel.register([
      {
        actor,
        // Every kernel gives the job of this key the same pid.
        pid: await kernel.edges.pidForKey(`process:${pid}`, key),
        request: {
          kind: 'workflow',
          spec: { workflow: MEMORY_WORKFLOW, input: after === null ? {} : { after } },
          parent: pid,
          owner: { session: agentSessionOf(pid) },
          lifetime: 'parent',
          placement: placementOfFiles(agent, kernel),
          label: MEMORY_WORKFLOW,
          causedBy: { source: 'memory' },
          // Its calls are charged to the agent itself, so it needs no share of what the agent may use.
          ...(limits.allowance === undefined ? {} : { allowance: noneOf(limits.allowance) }),
          ...(cwd === null ? {} : { cwd }),
          ...(envRef === null ? {} : { envRef }),
        },
      },
    ])
  }
}

function noneOf(allowance: Amounts): Amounts {
  return Object.fromEntries(Object.keys(allowance).map((name) => [name, 0]))
}

const OF_END: ReadonlySet<string> = new Set([
  'already_ended',
  'stopping',
  'session_ended',
  'unknown_pid',
  'conflict',
])

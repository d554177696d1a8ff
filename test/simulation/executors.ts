import type { Clock } from '../../src/core/clock.ts'
import type { ProcessRecord } from '../../src/core/process/record.ts'
import type { RegistrationRequest } from '../../src/core/process/register.ts'
import type { Executor, Work } from '../../src/kernel/executor.ts'
import type { Kernel } from '../../src/kernel/kernel.ts'
import type { Registering } from '../../src/kernel/register.ts'
import { Tools } from '../../src/tool/in-process.ts'
import { Workflows } from '../../src/workflow/in-kernel.ts'
import { runOccurrence } from './definitions/run-occurrence.ts'
import { runFlow } from './flow.ts'
import { runReview } from './review.ts'
import { runScript, type ScriptHost } from './script.ts'

/** The services of the peer that its executors use. */
export interface ExecutorHost extends ScriptHost {
  readonly kernel: Kernel
  readonly clock: Clock
}

/** Short, so that functions are parked in the middle of their work. */
const PARK_AFTER_MS = 300

/** The executors of a simulated kernel, for the kinds that it serves. */
export function executorsFor(host: ExecutorHost, serves: readonly string[]): Executor[] {
  return [
    ...(serves.includes('tool') ? [tools(host)] : []),
    ...(serves.includes('workflow') ? [workflows(host)] : []),
    ...(serves.includes('agent') ? [agents(host)] : []),
  ]
}

function tools(host: ExecutorHost): Executor {
  const executor = new Tools(
    (work, { idempotencyKey, pid: _pid, ...request }) =>
      registerChild(host, work, {
        request: request as RegistrationRequest,
        ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      }),
    async () => ({}),
  )
  for (const name of ['script', 'deploy']) executor.add(name, (context) => runScript(context, host))
  executor.add('occur', (context) => runOccurrence(context, host))
  executor.add('review', (context) => runReview(context, host))
  return executor
}

function workflows(host: ExecutorHost): Executor {
  const executor = new Workflows(
    (work, request, stepIndex) =>
      registerChild(host, work, {
        request: { ...request, parent: work.record.pid } as RegistrationRequest,
        idempotencyKey: `step:${stepIndex}`,
        stepIndex,
      }),
    async () => ({}),
  )
  executor.add('flow', (context) => runFlow(context, host), { parkAfterMs: PARK_AFTER_MS })
  return executor
}

/** Like embed(), without parsing: the requests of scripts always parse. */
async function registerChild(
  { kernel }: ExecutorHost,
  work: Work,
  registering: Omit<Registering, 'actor' | 'fence'>,
): Promise<ProcessRecord> {
  const [child] = await kernel.register([
    { ...registering, actor: `process:${work.record.pid}`, fence: work.fence() },
  ])
  if (child === undefined || child.type === 'refused') throw new Error('A registration without an answer')
  return child.row.record
}

/** Appends with its fence, and ends with an outcome of its own. */
function agents(host: ExecutorHost): Executor {
  return {
    serves: [{ kind: 'agent', targets: null }],
    run: async (work, kernel) => {
      const { pid, spec } = work.record
      for (let turn = 0; turn < Number(spec['turns']); turn++) {
        await host.turn()
        if (work.signal.aborted && spec['ignoresStop'] !== true) throw work.signal.reason
        await kernel.perform({
          type: 'append',
          pid,
          actor: `process:${pid}`,
          at: host.clock.now(),
          event: 'progress',
          payload: turn,
          replayKey: `turn:${turn}`,
          fence: work.fence(),
        })
      }
      if (spec['fails'] === true) return { status: 'failed', exitCode: 3, reason: 'It gave up' }
      return { status: 'completed', exitCode: 0, result: { turns: Number(spec['turns']) } }
    },
  }
}
